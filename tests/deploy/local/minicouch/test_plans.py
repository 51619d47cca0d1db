"""Cloudant's limits, kept by minicouch with --plan: what a second lets through, and how large things may be."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import requests

from deploy.local.minicouch.errors import CouchError
from deploy.local.minicouch.server.limits import time_limit
from deploy.local.minicouch.server.plans import Plan, Throttle, parse_plan, request_class
from shared.couch import DatabaseDesign, Server
from tests.processes import running_minicouch

VIEW = {"views": {"v": {"map": "function (doc) { emit(doc._id, 1); }"}}}


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with running_minicouch(tmp_path_factory.mktemp("plan") / "data", "--plan", "1000,1000,2") as url:
        requests.put(f"{url}/shop?partitioned=true", timeout=30)
        yield url


@pytest.mark.parametrize(
    ("method", "path", "name"),
    [
        ("GET", "/shop/a:1", "read"),
        ("HEAD", "/shop/a:1", "read"),
        ("GET", "/shop/a:1/picture.png", "read"),
        ("POST", "/shop/_partition/a/_find", "read"),
        ("GET", "/shop/_partition/a/_design/d/_view/v", "read"),
        ("GET", "/shop/_design/d", "read"),
        ("PUT", "/shop/a:1", "write"),
        ("DELETE", "/shop/a:1", "write"),
        ("POST", "/shop", "write"),
        ("POST", "/shop/_bulk_docs", "write"),
        ("PUT", "/shop/_design/d", "write"),
        ("GET", "/shop/_all_docs", "query"),
        ("POST", "/shop/_find", "query"),
        ("POST", "/shop/_bulk_get", "read"),
        ("GET", "/shop/_design/d/_view/v", "query"),
        ("POST", "/shop/_design/d/_search/s", "query"),
        ("GET", "/shop/_design/d/_info", None),
        ("GET", "/shop/_changes", None),
        ("GET", "/shop", None),
        ("PUT", "/shop", None),
        ("GET", "/_up", None),
        ("POST", "/_session", None),
    ],
)
def test_a_request_has_the_class_that_cloudant_gives_it(method: str, path: str, name: str | None) -> None:
    assert request_class(method, path) == name


def test_a_plan_is_named_or_given_in_numbers() -> None:
    assert parse_plan("lite") == Plan(20, 10, 5, databases=20, storage=1_000_000_000)
    assert parse_plan("standard") == Plan(100, 50, 5, databases=200, storage=None)
    assert parse_plan("200,100,10") == Plan(200, 100, 10)
    assert parse_plan("200,100,10,5000") == Plan(200, 100, 10, storage=5000)
    for wrong in ("large", "1,2", "0,1,1", "1,2,3,0", "1,2,3,4,5"):
        with pytest.raises(ValueError, match=r"."):
            parse_plan(wrong)


def test_a_second_lets_through_what_the_plan_sells_and_a_bulk_write_counts_each_document() -> None:
    now = [100.0]
    throttle = Throttle(Plan(read=2, write=3, query=1), lambda: now[0])

    def refused(method: str, path: str, body: bytes = b"") -> bool:
        try:
            throttle.admit(method, path, body)
        except CouchError as error:
            return error.status == 429
        return False

    assert [refused("GET", "/shop/a:1") for _ in range(3)] == [False, False, True]
    assert [refused("GET", "/shop/_all_docs") for _ in range(2)] == [False, True]
    docs = b'{"docs":[{"_id":"a:1"},{"_id":"a:2"},{"_id":"a:3"},{"_id":"a:4"}]}'
    assert not refused("POST", "/shop/_bulk_docs", docs)
    assert refused("PUT", "/shop/a:5")
    now[0] += 0.99
    assert refused("GET", "/shop/a:1")
    assert refused("PUT", "/shop/a:5")
    now[0] += 0.02
    assert not refused("GET", "/shop/a:1")
    assert not refused("PUT", "/shop/a:5")
    assert throttle.refused == {"read": 2, "write": 2, "query": 1}


@pytest.fixture(scope="module")
def metered(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A partition `a` of 250 documents, of which every tenth is `rare`, with an index of each kind."""
    with running_minicouch(tmp_path_factory.mktemp("metered") / "data", "--plan", "9000,9000,9000") as url:
        requests.put(f"{url}/shop?partitioned=true", timeout=30)
        docs = [{"_id": f"a:{number:03}", "n": number, "rare": number % 10 == 0} for number in range(250)]
        design = {**VIEW, "indexes": {"s": {"index": "function (doc) { index('n', doc.n); }"}}}
        for path, body in (
            ("_bulk_docs", {"docs": docs}),
            ("_bulk_docs", {"docs": [{"_id": "_design/d", **design}]}),
            ("_index", {"index": {"fields": ["n"]}, "name": "by-n"}),
        ):
            requests.post(f"{url}/shop/{path}", json=body, timeout=30).raise_for_status()
        yield url


def used(url: str) -> dict[str, int]:
    plan = requests.get(f"{url}/_node/_local/_stats", timeout=30).json()["plan"]
    return {name: counted["value"] for name, counted in plan.items()}


FEW = {"selector": {"n": {"$gte": 0}, "rare": True}, "use_index": "by-n", "limit": 1000}


@pytest.mark.parametrize(
    ("method", "path", "body", "reads"),
    [
        ("GET", "/_all_docs?limit=25", None, 1),
        ("GET", "/_all_docs?limit=25&include_docs=true", None, 26),
        ("POST", "/_all_docs", {"limit": 25, "include_docs": True}, 26),
        ("GET", "/_all_docs?limit=150", None, 2),
        ("GET", "/_all_docs?limit=150&include_docs=true", None, 152),
        ("GET", "/_design/d/_view/v?limit=101", None, 2),
        ("GET", "/_design/d/_view/v?startkey=%22none%22", None, 1),
        ("GET", "/_design/d/_search/s?q=n:[1+TO+5]", None, 1),
        ("GET", "/_design/d/_search/s?q=n:[1+TO+5]&include_docs=true", None, 6),
        ("POST", "/_find", FEW, 253),
        ("POST", "/_find", {**FEW, "selector": {"n": {"$lt": 5}}}, 6),
    ],
)
def test_a_partition_query_costs_a_read_for_a_hundred_rows_and_one_for_each_document_that_is_read(
    metered: str, method: str, path: str, body: dict | None, reads: int
) -> None:
    """As in the examples of Cloudant's page "Usage and charges"."""
    before = used(metered)
    answer = requests.request(method, f"{metered}/shop/_partition/a{path}", json=body, timeout=30)
    assert (answer.status_code, answer.headers["X-Cloudant-Request-Class"]) == (200, "read"), answer.text
    assert used(metered) == {**before, "read": before["read"] + reads}


@pytest.mark.parametrize(
    ("method", "path", "body", "name", "units"),
    [
        ("POST", "/shop/_bulk_get", {"docs": [{"id": "a:001"}, {"id": "a:002"}]}, "read", 2),
        ("POST", "/shop/_all_docs", {"keys": ["a:001", "a:002"]}, "query", 1),
        ("GET", "/shop/a:001", None, "read", 1),
        ("GET", "/shop/_changes?limit=1", None, "unlimited", 0),
    ],
)
def test_an_answer_names_its_class(
    metered: str, method: str, path: str, body: dict | None, name: str, units: int
) -> None:
    before = used(metered)
    answer = requests.request(method, metered + path, json=body, timeout=30)
    assert (answer.status_code, answer.headers["X-Cloudant-Request-Class"]) == (200, name)
    assert used(metered) == before | ({name: before[name] + units} if units else {})


def test_an_account_that_is_full_reads_and_deletes_and_writes_nothing(tmp_path: Path) -> None:
    with running_minicouch(tmp_path / "data", "--plan", "1000,1000,1000,5000") as url:
        requests.put(f"{url}/shop?partitioned=true", timeout=30)
        first = requests.put(f"{url}/shop/a:1", json={"text": "x" * 6000}, timeout=30).json()
        docs = {"docs": [{"_id": "a:2"}]}
        gone = {"_id": "a:1", "_rev": first["rev"], "_deleted": True}
        for refused in (
            requests.put(f"{url}/shop/a:2", json={}, timeout=30),
            requests.post(f"{url}/shop", json={"_id": "a:2"}, timeout=30),
            requests.post(f"{url}/shop/_bulk_docs", json=docs, timeout=30),
            requests.post(f"{url}/shop/_bulk_docs", json={"docs": [*docs["docs"], gone]}, timeout=30),
        ):
            assert (refused.status_code, refused.json()["reason"]) == (
                402,
                "Account exceeded its data usage quota. An upgrade to a paid plan is required.",
            )
        assert requests.get(f"{url}/shop/a:1", timeout=30).status_code == 200
        ended = requests.post(f"{url}/shop/_bulk_docs", json={"docs": [gone]}, timeout=30)
        assert (ended.status_code, ended.json()[0].get("ok")) == (201, True)
        assert requests.put(f"{url}/shop/a:2", json={}, timeout=30).status_code == 201
        setting = f"{url}/_node/_local/_config/cloudant/storage"
        requests.put(setting, json="1", timeout=30).raise_for_status()
        assert requests.put(f"{url}/shop/a:3", json={}, timeout=30).status_code == 402
        assert requests.delete(f"{url}/shop/a:2", params={"rev": "1-x"}, timeout=30).status_code != 402


def test_a_lite_account_has_twenty_databases(tmp_path: Path) -> None:
    with running_minicouch(tmp_path / "data", "--plan", "lite") as url:
        made = [requests.put(f"{url}/shop{number}", timeout=30).status_code for number in range(21)]
        assert made == [201] * 20 + [403]
        requests.delete(f"{url}/shop0", timeout=30).raise_for_status()
        assert requests.put(f"{url}/shop20", timeout=30).status_code == 201


def test_the_refusal_says_class_and_rate_as_cloudant_does(url: str) -> None:
    answers = [requests.get(f"{url}/shop/_all_docs", timeout=30) for _ in range(3)]
    assert [each.status_code for each in answers] == [200, 200, 429]
    assert answers[-1].json() == {
        "error": "too_many_requests",
        "reason": "You've exceeded your current limit of 2 requests per second for query class. Please try later.",
        "class": "query",
        "rate": 2,
    }
    assert requests.get(f"{url}/shop/_partition/a/_all_docs", timeout=30).status_code == 200


def test_large_documents_and_long_partition_queries_are_refused(url: str) -> None:
    for path, body in (("/shop/a:1", {"text": "x" * 1_000_001}), ("/shop/a:1", {"text": "x"})):
        answer = requests.put(url + path, json=body, timeout=30)
        assert answer.status_code == (413 if len(body["text"]) > 1 else 201)
    long = requests.get(f"{url}/shop/_partition/a/_all_docs?limit=2001", timeout=30)
    assert (long.status_code, long.json()["reason"]) == (400, "Limit is too large, must not exceed 2000")


def test_an_eleventh_partition_index_is_refused(url: str) -> None:
    requests.put(f"{url}/many?partitioned=true", timeout=30)
    for number in range(10):
        answer = requests.put(f"{url}/many/_design/d{number}", json=VIEW, timeout=30)
        assert answer.status_code == 201
    assert requests.put(f"{url}/many/_design/d10", json=VIEW, timeout=30).status_code == 400
    everywhere = {**VIEW, "options": {"partitioned": False}}
    assert requests.put(f"{url}/many/_design/d10", json=everywhere, timeout=30).status_code == 201
    first = requests.get(f"{url}/many/_design/d0", timeout=30).json()
    assert requests.put(f"{url}/many/_design/d0", json=first, timeout=30).status_code == 201


@pytest.mark.parametrize("way", ["index", "bulk", "post"])
def test_an_eleventh_partition_index_is_refused_however_it_is_written(url: str, way: str) -> None:
    requests.put(f"{url}/many-{way}?partitioned=true", timeout=30)
    designs = [{"_id": f"_design/d{number}", **VIEW} for number in range(10)]
    stored = requests.post(f"{url}/many-{way}/_bulk_docs", json={"docs": designs}, timeout=30)
    assert (stored.status_code, [row for row in stored.json() if "error" in row]) == (201, [])
    body = {"index": {"index": {"fields": ["name"]}}, "bulk": {"docs": [{"_id": "_design/d10", **VIEW}]}}
    path = {"index": "/_index", "bulk": "/_bulk_docs"}.get(way, "")
    post = body.get(way, {"_id": "_design/d10", **VIEW})
    refused = requests.post(f"{url}/many-{way}{path}", json=post, timeout=30)
    assert (refused.status_code, "at most 10 partition indexes" in refused.text) == (400, True)
    everywhere = {"index": {"fields": ["name"]}, "partitioned": False}
    assert requests.post(f"{url}/many-{way}/_index", json=everywhere, timeout=30).status_code == 200


def test_compaction_is_the_service_s_own_affair_and_large_attachments_are_refused(url: str) -> None:
    refused = requests.post(f"{url}/shop/_compact", json={}, timeout=30)
    assert (refused.status_code, refused.json()["error"]) == (403, "forbidden")
    assert Server(url).open(DatabaseDesign("shop", ())).compact() is False
    headers = {"Content-Type": "image/png"}
    for size, status in ((10_000_001, 413), (10, 201)):
        answer = requests.put(f"{url}/shop/a:{size}/x.png", b"x" * size, headers=headers, timeout=30)
        assert answer.status_code == status


def test_a_request_has_its_time() -> None:
    assert time_limit("/shop/_partition/a/_find") == 5
    assert time_limit("/shop/_design/d/_view/v") == 60
    assert [time_limit(path) for path in ("/shop/_changes", "/_up", "/_replicate")] == [None] * 3


def test_a_partition_query_that_takes_longer_is_ended(tmp_path: Path) -> None:
    with running_minicouch(tmp_path / "data", "--plan", "standard", "--faults") as url:
        requests.put(f"{url}/shop?partitioned=true", timeout=30)
        rules = [{"path": "/_partition/", "latency": 30}, {"path": "/_find", "latency": 6}]
        requests.put(f"{url}/_faults", json=rules, timeout=30).raise_for_status()
        with ThreadPoolExecutor(2) as pool:
            slow = pool.submit(requests.get, f"{url}/shop/_partition/a/_all_docs", timeout=60)
            whole = pool.submit(requests.post, f"{url}/shop/_find", json={"selector": {}}, timeout=60)
        assert slow.result().status_code == 500
        assert slow.result().json() == {
            "error": "timeout",
            "reason": "The request could not be processed in a reasonable amount of time.",
        }
        assert whole.result().status_code == 200
