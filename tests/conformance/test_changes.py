"""_changes: the four feeds, what they are asked for, and their filters."""

import json
import threading
import time

import pytest
import requests

from .conftest import Couch

pytestmark = pytest.mark.conformance


@pytest.fixture
def four(couch: Couch) -> str:
    path = couch.make("changes", "?q=1")
    for docid in "abcd":
        couch.put(f"{path}/{docid}", {"v": docid})
    yield path
    couch.delete(path)


def ids(body: dict) -> list[str]:
    return [row["id"] for row in body["results"]]


def later(action, after: float = 0.5) -> threading.Thread:
    def run() -> None:
        time.sleep(after)
        action()

    thread = threading.Thread(target=run)
    thread.start()
    return thread


def test_normal(couch: Couch, four: str):
    body = couch.get(f"{four}/_changes").json()
    assert ids(body) == list("abcd")
    assert body["pending"] == 0
    assert body["last_seq"] == body["results"][-1]["seq"]
    assert body["results"][0]["changes"] == [{"rev": couch.get(f"{four}/a").json()["_rev"]}]


def test_since_and_limit_walk_the_whole_feed(couch: Couch, four: str):
    seen, since = [], "0"
    while True:
        body = couch.get(f"{four}/_changes", params={"since": since, "limit": 3}).json()
        seen += ids(body)
        since = body["last_seq"]
        if not body["pending"]:
            break
    assert seen == list("abcd")
    assert ids(couch.get(f"{four}/_changes", params={"since": since}).json()) == []
    assert ids(couch.get(f"{four}/_changes?since=now").json()) == []
    assert ids(couch.get(f"{four}/_changes?limit=0").json()) == []


def test_each_document_shows_once_with_its_last_change(couch: Couch, four: str):
    rev = couch.get(f"{four}/a").json()["_rev"]
    gone = couch.delete(f"{four}/a?rev={rev}").json()["rev"]
    body = couch.get(f"{four}/_changes?include_docs=true").json()
    assert ids(body) == list("bcda")
    last = body["results"][-1]
    assert (last["deleted"], last["changes"]) == (True, [{"rev": gone}])
    assert last["doc"] == {"_id": "a", "_rev": gone, "_deleted": True}


def test_descending(couch: Couch, four: str):
    assert ids(couch.get(f"{four}/_changes?descending=true").json()) == list("dcba")
    assert ids(couch.get(f"{four}/_changes?descending=true&limit=2").json()) == list("dc")


def test_all_leaves(couch: Couch, four: str):
    couch.post(
        f"{four}/_bulk_docs",
        {"new_edits": False, "docs": [{"_id": "a", "_rev": "1-zz"}, {"_id": "a", "_rev": "1-yy"}]},
    )
    rows = couch.get(f"{four}/_changes?style=all_docs").json()["results"]
    assert len(next(row for row in rows if row["id"] == "a")["changes"]) == 3
    main = couch.get(f"{four}/_changes").json()["results"]
    assert len(next(row for row in main if row["id"] == "a")["changes"]) == 1


@pytest.mark.parametrize("order", ["", "&descending=true"])
def test_a_filter_judges_each_leaf(couch: Couch, db: str, order: str):
    leaves = [
        ("x", "1-c", 1),
        ("x", "1-b", 2),
        ("x", "1-a", 3),
        ("y", "1-b", 2),
        ("y", "1-a", 1),
        ("z", "1-a", 2),
    ]
    docs = [{"_id": docid, "_rev": rev, "n": n} for docid, rev, n in leaves]
    couch.post(f"{db}/_bulk_docs", {"new_edits": False, "docs": docs})
    asked = {"selector": {"n": {"$in": [1, 3]}}}
    answer = couch.post(f"{db}/_changes?filter=_selector&style=all_docs{order}", asked).json()
    found = {row["id"]: [change["rev"] for change in row["changes"]] for row in answer["results"]}
    assert found == {"x": ["1-c", "1-a"], "y": ["1-a"]}


def test_longpoll(couch: Couch, four: str):
    at_once = couch.get(f"{four}/_changes?feed=longpoll").json()
    assert ids(at_once) == list("abcd")
    since = at_once["last_seq"]
    quiet = couch.get(f"{four}/_changes", params={"feed": "longpoll", "since": since, "timeout": 300}).json()
    assert (ids(quiet), quiet["last_seq"].split("-")[0]) == ([], since.split("-")[0])
    writer = later(lambda: Couch(couch.url, couch.auth).put(f"{four}/new", {}))
    waited = couch.get(
        f"{four}/_changes", params={"feed": "longpoll", "since": since, "timeout": 20000}
    ).json()
    writer.join()
    assert ids(waited) == ["new"]


def test_longpoll_waits_for_what_its_filter_wants(couch: Couch, four: str):
    def write() -> None:
        other = Couch(couch.url, couch.auth)
        other.put(f"{four}/unwanted", {})
        other.put(f"{four}/wanted", {})

    writer = later(write)
    query = "feed=longpoll&since=now&timeout=20000&filter=_doc_ids"
    body = couch.post(f"{four}/_changes?{query}", {"doc_ids": ["wanted"]}).json()
    writer.join()
    assert ids(body) == ["wanted"]


def test_continuous(couch: Couch, four: str):
    writer = later(lambda: Couch(couch.url, couch.auth).put(f"{four}/new", {}))
    answer = couch.get(f"{four}/_changes?feed=continuous&limit=5&timeout=20000", stream=True)
    lines = [json.loads(line) for line in answer.iter_lines() if line]
    writer.join()
    assert [line.get("id") for line in lines[:5]] == ["a", "b", "c", "d", "new"]
    assert lines[5]["last_seq"] == lines[4]["seq"]


def test_continuous_ends_at_its_timeout(couch: Couch, four: str):
    answer = couch.get(f"{four}/_changes?feed=continuous&since=now&timeout=300")
    lines = [json.loads(line) for line in answer.text.splitlines() if line]
    assert [set(line) for line in lines] == [{"last_seq", "pending"}]


def test_heartbeats(couch: Couch, four: str):
    answer = couch.get(f"{four}/_changes?feed=continuous&since=now&heartbeat=100", stream=True)
    seen = b""
    for piece in answer.iter_content(1):
        seen += piece
        if seen == b"\n\n\n":
            break
    answer.close()
    assert couch.put(f"{four}/after", {}).status_code == 201


def test_eventsource(couch: Couch, four: str):
    answer = couch.get(f"{four}/_changes?feed=eventsource&limit=2&timeout=2000")
    assert answer.headers["Content-Type"] == "text/event-stream"
    blocks = [block for block in answer.text.split("\n\n") if block.strip()]
    assert [json.loads(block.splitlines()[0].removeprefix("data: "))["id"] for block in blocks] == ["a", "b"]
    last = json.loads(blocks[0].splitlines()[1].removeprefix("id: "))
    again = couch.get(
        f"{four}/_changes?feed=eventsource&limit=1&timeout=2000", headers={"Last-Event-ID": last}
    )
    assert '"id":"b"' in again.text


def test_filters(couch: Couch, four: str):
    couch.put(
        f"{four}/_design/f",
        {
            "filters": {"v": "function (doc, req) { return doc.v == req.query.v }"},
            "views": {"ab": {"map": "function (doc) { if (doc.v < 'c') emit(doc.v) }"}},
        },
    )
    get, post = couch.get, couch.post
    assert ids(get(f"{four}/_changes?filter=f/v&v=c").json()) == ["c"]
    assert ids(get(f"{four}/_changes?filter=_view&view=f/ab").json()) == ["a", "b"]
    assert ids(get(f"{four}/_changes?filter=_design").json()) == ["_design/f"]
    assert ids(get(f'{four}/_changes?filter=_doc_ids&doc_ids=["b","never"]').json()) == ["b"]
    assert ids(post(f"{four}/_changes?filter=_doc_ids", {"doc_ids": ["b", "c"]}).json()) == ["b", "c"]
    assert ids(post(f"{four}/_changes?filter=_selector", {"selector": {"v": {"$gt": "b"}}}).json()) == [
        "c",
        "d",
    ]


@pytest.mark.parametrize("feed", ["normal", "longpoll", "continuous", "eventsource"])
def test_a_filter_that_throws_is_an_error_not_a_torn_answer(couch: Couch, four: str, feed: str):
    couch.put(f"{four}/_design/f", {"filters": {"t": "function () { throw('no') }"}})
    answer = couch.get(f"{four}/_changes?filter=f/t&timeout=1000&feed={feed}")
    assert answer.status_code == 500
    assert "error" in answer.json()


@pytest.mark.parametrize(
    ("query", "status", "reason"),
    [
        ("feed=foo", 400, "Supported `feed` types: normal, continuous, live, longpoll, eventsource"),
        ("since=xx", 400, "Malformed sequence supplied in 'since' parameter."),
        ("filter=foo", 400, "`filter` must be of the form `designname/filtername`"),
        ("filter=foo/bar", 404, "missing"),
        ("filter=_doc_ids", 400, "`doc_ids` filter parameter is not a list of doc ids."),
        ("filter=_view", 400, "`view` filter parameter is not provided."),
        (
            "heartbeat=x",
            400,
            "Invalid heartbeat value. Expecting a positive integer value (in milliseconds).",
        ),
        ("heartbeat=0", 400, "The heartbeat value should be a positive integer (in milliseconds)."),
    ],
)
def test_refusals(couch: Couch, four: str, query: str, status: int, reason: str):
    answer = couch.get(f"{four}/_changes?{query}")
    assert (answer.status_code, answer.json()["reason"]) == (status, reason)


def test_sequences_of_a_recreated_database_start_over(couch: Couch):
    path = couch.make("again")
    couch.put(f"{path}/a", {})
    since = couch.get(f"{path}/_changes").json()["last_seq"]
    couch.delete(path)
    couch.put(path)
    couch.put(f"{path}/b", {})
    assert ids(couch.get(f"{path}/_changes", params={"since": since}).json()) == ["b"]
    couch.delete(path)


@pytest.mark.parametrize("feed", ["continuous", "longpoll", "eventsource"])
def test_a_stop_does_not_wait_for_an_open_feed(minicouch, feed: str):
    server = minicouch()
    path = server.couch.make("stop")
    answer = server.couch.get(f"{path}/_changes?feed={feed}&since=now", stream=True)
    assert answer.status_code == 200
    server.process.terminate()
    with pytest.raises(requests.exceptions.ChunkedEncodingError):
        list(answer.iter_content())
    server.process.wait(30)
    assert "Cancel" not in server.data.with_suffix(".log").read_text()


def test_a_long_poll_that_finds_nothing_says_how_far_it_looked(couch: Couch):
    """So that whoever asks with a filter comes to the end of it, however much lies before what they want."""
    if not couch.is_minicouch:
        pytest.skip("CouchDB looks at all of it first")
    path = couch.make("changes", "?q=1")
    for start in range(0, 6000, 2000):
        couch.post(f"{path}/_bulk_docs", {"docs": [{"_id": f"d{n:05}"} for n in range(start, start + 2000)]})
    couch.put(f"{path}/wanted", {"type": "wanted"})
    since, asked = "0", {"filter": "_selector", "feed": "longpoll", "timeout": "0"}
    nothing_found = 0
    while nothing_found < 9:
        body = couch.post(
            f"{path}/_changes", {"selector": {"type": "wanted"}}, params={**asked, "since": since}
        ).json()
        if body["results"]:
            break
        assert body["last_seq"] != since
        since, nothing_found = body["last_seq"], nothing_found + 1
    assert nothing_found > 0
    assert ids(body) == ["wanted"]
    couch.delete(path)
