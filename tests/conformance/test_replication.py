"""_replicate and _replicator, between two databases of one server and, when COUCH_URL is given, with another one."""

import base64
import os
import secrets
import time

import pytest

from .conftest import Couch

pytestmark = pytest.mark.conformance


def endpoint(couch: Couch, path: str) -> dict:
    auth = {"basic": {"username": couch.auth[0], "password": couch.auth[1]}} if couch.auth else {}
    return {"url": couch.url + path, "auth": auth}


@pytest.fixture
def pair(couch: Couch):
    source, target = couch.make("from"), couch.make("to")
    docs = [{"_id": f"d{n}", "n": n} for n in range(20)]
    couch.post(f"{source}/_bulk_docs", {"docs": docs})
    couch.put(
        f"{source}/_design/f",
        {"filters": {"even": "function (doc, req) { return doc.n % 2 == (req.query.rest || 0) }"}},
    )
    yield source, target
    couch.delete(source)
    couch.delete(target)


def replicate(couch: Couch, source: str, target: str, **options) -> dict:
    body = {"source": endpoint(couch, source), "target": endpoint(couch, target), **options}
    answer = couch.post("/_replicate", body, timeout=120)
    assert answer.status_code in (200, 202), answer.text
    return answer.json()


def ids(couch: Couch, path: str) -> set[str]:
    return {row["id"] for row in couch.get(f"{path}/_all_docs").json()["rows"]}


def test_everything_once_then_nothing_new(couch: Couch, pair):
    source, target = pair
    couch.put(f"{source}/att/a.txt", data=b"some text", headers={"Content-Type": "text/plain"})
    couch.post(
        f"{source}/_bulk_docs",
        {
            "new_edits": False,
            "docs": [{"_id": "d1", "_rev": "1-zz"}, {"_id": "gone", "_rev": "2-b", "_deleted": True}],
        },
    )
    first = replicate(couch, source, target)
    assert first["ok"] is True
    assert first["history"][0]["docs_written"] == first["history"][0]["docs_read"] == 24
    assert ids(couch, target) == ids(couch, source)
    for docid in ("d1", "att"):
        query = "?conflicts=true&revs=true"
        assert couch.get(f"{target}/{docid}{query}").json() == couch.get(f"{source}/{docid}{query}").json()
    assert couch.get(f"{target}/att/a.txt").content == b"some text"
    assert couch.get(f"{target}/gone").json()["reason"] == "deleted"
    again = replicate(couch, source, target)
    assert again["no_changes"] is True
    couch.put(f"{source}/new", {})
    third = replicate(couch, source, target)
    assert couch.get(f"{target}/new").status_code == 200
    assert third["history"][0]["start_last_seq"] == first["source_last_seq"]


def test_both_ways_meet_in_a_conflict(couch: Couch, pair):
    source, target = pair
    replicate(couch, source, target)
    for path, value in ((source, "here"), (target, "there")):
        rev = couch.get(f"{path}/d1").json()["_rev"]
        couch.put(f"{path}/d1", {"_rev": rev, "v": value})
    replicate(couch, source, target)
    replicate(couch, target, source)
    here, there = (couch.get(f"{path}/d1?conflicts=true").json() for path in (source, target))
    assert here == there
    assert len(here["_conflicts"]) == 1


def test_chosen_documents(couch: Couch, pair):
    source, target = pair
    replicate(couch, source, target, doc_ids=["d3", "d4"])
    assert ids(couch, target) == {"d3", "d4"}
    replicate(couch, source, target, selector={"n": {"$lt": 2}})
    assert ids(couch, target) == {"d0", "d1", "d3", "d4"}
    replicate(couch, source, target, filter="f/even", query_params={"rest": "1"})
    assert {"d5", "d7", "d19"} < ids(couch, target)
    assert "d6" not in ids(couch, target)


def test_the_target_can_be_made(couch: Couch, pair):
    source, _ = pair
    target = f"/made{secrets.token_hex(5)}"
    replicate(couch, source, target, create_target=True)
    assert ids(couch, target) == ids(couch, source)
    couch.delete(target)


def test_refusals(couch: Couch, pair):
    source, target = pair
    missing = couch.post(
        "/_replicate", {"source": endpoint(couch, "/never"), "target": endpoint(couch, target)}, timeout=120
    )
    assert missing.status_code in (404, 500)
    assert missing.json()["error"] == "db_not_found"
    both = {
        "source": endpoint(couch, source),
        "target": endpoint(couch, target),
        "filter": "a/b",
        "selector": {},
    }
    assert (
        couch.post("/_replicate", both).json()["reason"]
        == "`doc_ids`,`filter`,`selector` are mutually exclusive"
    )
    wrong = {"source": endpoint(couch, source), "target": endpoint(couch, target), "doc_ids": 3}
    assert couch.post("/_replicate", wrong).json()["reason"] == "parameter `doc_ids` must be an array"


def wait_for(check, seconds: float = 30):
    deadline = time.monotonic() + seconds
    while not (found := check()):
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(0.1)
    return found


def test_continuous_until_cancelled(couch: Couch, pair):
    source, target = pair
    started = replicate(couch, source, target, continuous=True)
    assert started["_local_id"].endswith("+continuous")
    wait_for(lambda: "d19" in ids(couch, target))
    couch.put(f"{source}/later", {})
    wait_for(lambda: "later" in ids(couch, target))
    cancelled = replicate(couch, source, target, continuous=True, cancel=True)
    assert cancelled["ok"] is True
    body = {
        "source": endpoint(couch, source),
        "target": endpoint(couch, target),
        "continuous": True,
        "cancel": True,
    }
    assert couch.post("/_replicate", body).status_code == 404


def test_a_document_of_replicator(couch: Couch, pair):
    source, target = pair
    if couch.get("/_replicator").status_code == 404:
        couch.put("/_replicator")
    path = f"/_replicator/r{secrets.token_hex(5)}"
    couch.put(path, {"source": endpoint(couch, source), "target": endpoint(couch, target)})
    doc = wait_for(lambda: (d := couch.get(path).json()).get("_replication_state") and d)
    assert doc["_replication_state"] == "completed"
    assert doc["_replication_stats"]["docs_written"] == 21
    assert doc["owner"] == "admin"
    shown = couch.get(f"/_scheduler/docs{path}").json()
    assert (shown["state"], shown["info"]["docs_written"]) == ("completed", 21)
    assert ids(couch, target) == ids(couch, source)
    couch.delete(f"{path}?rev={doc['_rev']}")


@pytest.mark.skipif("COUCH_URL" not in os.environ, reason="COUCH_URL names the server to exchange with")
def test_with_the_other_server(couch: Couch, minicouch):
    """There and back again: what a real CouchDB sends and takes."""
    mine = minicouch().couch
    source, there, back = mine.make("src"), couch.make("there"), mine.make("back")
    mine.post(f"{source}/_bulk_docs", {"docs": [{"_id": f"d{n}", "n": n, "f": n / 7} for n in range(300)]})
    mine.put(
        f"{source}/att",
        {
            "_attachments": {
                "a.txt": {"content_type": "text/plain", "data": base64.b64encode(b"x" * 900).decode()}
            }
        },
    )
    for driver in (mine, couch):
        first = {"source": endpoint(mine, source), "target": endpoint(couch, there)}
        assert driver.post("/_replicate", first, timeout=120).json()["ok"] is True
        second = {"source": endpoint(couch, there), "target": endpoint(mine, back)}
        assert driver.post("/_replicate", second, timeout=120).json()["ok"] is True
        ours = mine.get(f"{source}/_all_docs?include_docs=true").json()["rows"]
        assert mine.get(f"{back}/_all_docs?include_docs=true").json()["rows"] == ours
        assert couch.get(f"{there}/_all_docs?include_docs=true").json()["rows"] == ours
        mine.put(f"{source}/after", {})
    couch.delete(there)


def test_what_came_after_a_cancellation_comes_with_the_next_run(couch: Couch, pair):
    """The cancelled one still waits for changes: it must not note what it no longer carries."""
    source, target = pair
    replicate(couch, source, target, continuous=True)
    wait_for(lambda: "d19" in ids(couch, target))
    couch.put(f"{source}/before", {})
    wait_for(lambda: "before" in ids(couch, target))
    replicate(couch, source, target, continuous=True, cancel=True)
    couch.put(f"{source}/later", {})
    time.sleep(1)
    assert "later" not in ids(couch, target)
    replicate(couch, source, target, continuous=True)
    wait_for(lambda: "later" in ids(couch, target))
    replicate(couch, source, target, continuous=True, cancel=True)


def test_once_and_for_good_at_the_same_time(couch: Couch, pair):
    """They are two jobs: who asks for one run waits for it and gets its numbers."""
    source, target = pair
    started = replicate(couch, source, target, continuous=True)
    once = replicate(couch, source, target)
    assert "source_last_seq" in once
    assert couch.get(f"/_scheduler/jobs/{started['_local_id']}").status_code == 200
    cancel = {"cancel": True, "replication_id": started["_local_id"]}
    assert couch.post("/_replicate", cancel).json()["ok"] is True


@pytest.mark.parametrize(
    "end",
    [
        {"headers": ["a"]},
        {"headers": {"X": "a\r\nY: b"}},
        {"auth": "x"},
        {"auth": {"basic": "x"}},
        {"url": "http://[bad/x"},
        {"url": "http://127.0.0.1:99999/x"},
    ],
)
def test_malformed_ends_are_refused(couch: Couch, pair, end):
    if not couch.is_minicouch:
        pytest.skip("CouchDB answers some of these with 500, others never")
    source, target = pair
    body = {"source": endpoint(couch, source) | end, "target": endpoint(couch, target)}
    assert couch.post("/_replicate", body).status_code == 400


def test_what_is_no_database_is_none(couch: Couch, pair):
    for path in ("/", "/_all_dbs", "/_up"):
        body = {"source": endpoint(couch, path), "target": endpoint(couch, pair[1])}
        assert couch.post("/_replicate", body).json()["error"] == "db_not_found"


def test_attachments_whatever_their_names_and_positions(couch: Couch, pair):
    source, target = pair
    data = {"content_type": "text/plain", "data": base64.b64encode(b"hello" * 99).decode()}
    named = {"_attachments": dict.fromkeys(("ü /+%?#.txt", 'quo"te', "plain"), data)}
    couch.put(f"{source}/named", named)
    without_position = {"_id": "came", "_rev": "2-b", "_attachments": {"a": data | {"revpos": 0}}}
    couch.post(f"{source}/_bulk_docs", {"new_edits": False, "docs": [without_position]})
    for _ in range(2):
        replicate(couch, source, target)
        for docid in ("named", "came"):
            here, there = (
                couch.get(f"{path}/{docid}?attachments=true", headers={"Accept": "application/json"}).json()
                for path in (source, target)
            )
            assert here == there
            assert all("data" in entry for entry in there["_attachments"].values())
        source, target = target, source


def test_a_completed_document_runs_again_when_written_anew(couch: Couch, pair):
    source, target = pair
    couch.put("/_replicator")
    path = f"/_replicator/r{secrets.token_hex(5)}"
    body = {"source": endpoint(couch, source), "target": endpoint(couch, target)}
    couch.put(path, body)
    done = wait_for(lambda: (d := couch.get(path).json()).get("_replication_state") and d)
    couch.put(f"{source}/later", {})
    couch.put(path, body | {"_rev": done["_rev"]})
    wait_for(lambda: "later" in ids(couch, target))
    done = wait_for(lambda: (d := couch.get(path).json()).get("_replication_state") and d)
    couch.delete(f"{path}?rev={done['_rev']}")


def test_an_interrupted_run_is_not_complete(minicouch):
    """A stop in the middle leaves the document as it was; the next start goes on."""
    server = minicouch()
    couch = server.couch
    couch.put("/_replicator")
    source, target = couch.make("from"), couch.make("to")
    for first in range(0, 3000, 1000):
        couch.post(f"{source}/_bulk_docs", {"docs": [{"n": first + n, "x": "y" * 500} for n in range(1000)]})
    path = "/_replicator/r"
    couch.put(path, {"source": endpoint(couch, source), "target": endpoint(couch, target)})
    wait_for(lambda: couch.get(target).json()["doc_count"])
    server.stop()
    server.start()
    wait_for(lambda: couch.get(path).json().get("_replication_state") == "completed")
    assert couch.get(target).json()["doc_count"] == 3000
