"""Views of partitioned databases: within one partition, over all of them, and the errors of mixing the two."""

from typing import Any

import pytest

from .conftest import Couch
from .views import fill

pytestmark = pytest.mark.conformance
BY_K = "function (doc) { emit(doc.k, doc.n); }"
PARTITIONS = ("Home#Kitchen & Co", "b", "Äpfel/rot")


@pytest.fixture
def shop(couch: Couch, pdb: str) -> str:
    """Three partitions of four documents; one partitioned and one global design document."""
    fill(couch, pdb, [{"_id": f"{p}:{n}", "k": [n % 2, n], "n": n} for p in PARTITIONS for n in range(4)])
    views = {"v": {"map": BY_K}, "r": {"map": BY_K, "reduce": "_sum"}}
    assert couch.put(f"{pdb}/_design/part", {"views": views}).status_code == 201
    whole = {"options": {"partitioned": False}, "views": views}
    assert couch.put(f"{pdb}/_design/all", whole).status_code == 201
    return pdb


ENCODED = "Home%23Kitchen%20%26%20Co"


def ask(couch: Couch, db: str, parameters: str, view: str = "v", partition: str = ENCODED) -> Any:
    answer = couch.get(f"{db}/_partition/{partition}/_design/part/_view/{view}?{parameters}")
    assert answer.status_code == 200, answer.text
    return answer.json()


@pytest.mark.parametrize(
    ("parameters", "wanted"),
    [
        ("", [0, 2, 1, 3]),
        ("descending=true", [3, 1, 2, 0]),
        ("limit=2&skip=1", [2, 1]),
        ("startkey=[1]", [1, 3]),
        ("endkey=[1]", [0, 2]),
        ("startkey=[0,1]&endkey=[1,1]", [2, 1]),
        ("descending=true&startkey=[1,2]", [1, 2, 0]),
        ("key=[1,3]", [3]),
        ("keys=[[1,3],[0,0]]", [3, 0]),
        ("startkey=null&endkey={}", [0, 2, 1, 3]),
    ],
)
def test_ranges_stay_in_the_partition(couch: Couch, shop: str, parameters: str, wanted: list[int]) -> None:
    for partition in (ENCODED, "b", "%C3%84pfel%2Frot"):
        assert [row["value"] for row in ask(couch, shop, parameters, partition=partition)["rows"]] == wanted


def test_totals_and_documents_of_a_partition(couch: Couch, shop: str) -> None:
    """CouchDB counts the shard that holds the partition, minicouch the partition."""
    answer = ask(couch, shop, "include_docs=true&limit=1&skip=1")
    assert couch.is_minicouch is False or (answer["total_rows"], answer["offset"]) == (4, 1)
    assert answer["rows"][0]["doc"]["_id"] == "Home#Kitchen & Co:2"
    assert ask(couch, shop, "", partition="nobody")["rows"] == []
    assert ask(couch, shop, "", "r", "nobody") == {"rows": []}


@pytest.mark.parametrize(
    ("parameters", "wanted"),
    [
        ("", [(None, 6)]),
        ("group_level=1", [([0], 2), ([1], 4)]),
        ("group=true&limit=2", [([0, 0], 0), ([0, 2], 2)]),
        ("group_level=1&descending=true", [([1], 4), ([0], 2)]),
        ("startkey=[0,1]&endkey=[1,2]", [(None, 3)]),
        ("startkey=[0,1]&group_level=1", [([0], 2), ([1], 4)]),
    ],
)
def test_reductions_stay_in_the_partition(
    couch: Couch, shop: str, parameters: str, wanted: list[Any]
) -> None:
    found = ask(couch, shop, parameters, "r")["rows"]
    assert [(row["key"], row["value"]) for row in found] == wanted


def test_a_global_view_goes_over_all_partitions(couch: Couch, shop: str) -> None:
    assert couch.get(f"{shop}/_design/all/_view/r").json()["rows"] == [{"key": None, "value": 18}]
    rows = couch.get(f"{shop}/_design/all/_view/v?key=[0,0]").json()["rows"]
    assert [row["id"] for row in rows] == [f"{p}:0" for p in PARTITIONS]


@pytest.mark.parametrize(
    ("path", "error", "reason"),
    [
        (
            "_design/part/_view/v",
            "query_parse_error",
            "`partition` parameter is mandatory for queries to this view.",
        ),
        (
            "_partition/b/_design/all/_view/v",
            "query_parse_error",
            "`partition` parameter is not supported in this design doc",
        ),
        (
            "_design/all/_view/v?partition=b",
            "query_parse_error",
            "`partition` parameter is not supported in this design doc",
        ),
        (
            "_partition/b/_design/part/_view/v?partition=c",
            "bad_request",
            "Conflicting value for `partition` in query string",
        ),
        (
            "_partition/_b/_design/part/_view/v",
            "illegal_partition",
            "Partition must not start with an underscore",
        ),
        ("_partition/a%3Ab/_design/part/_view/v", "illegal_partition", "Partition must not contain a colon"),
    ],
)
def test_mixing_the_two_is_refused(couch: Couch, shop: str, path: str, error: str, reason: str) -> None:
    answer = couch.get(f"{shop}/{path}")
    assert (answer.status_code, answer.json()["error"], answer.json()["reason"]) == (400, error, reason)


def test_the_partition_may_be_a_parameter(couch: Couch, shop: str) -> None:
    rows = couch.get(f"{shop}/_design/part/_view/v?partition=b&limit=1").json()["rows"]
    assert [row["id"] for row in rows] == ["b:0"]


def test_several_queries_in_a_partition(couch: Couch, shop: str) -> None:
    path = f"{shop}/_partition/b/_design/part/_view/v/queries"
    results = couch.post(path, {"queries": [{"limit": 1}, {"keys": [[1, 3], [0, 0]]}]}).json()["results"]
    assert [[row["id"] for row in result["rows"]] for result in results] == [["b:0"], ["b:3", "b:0"]]


def test_no_partitions_no_partition_queries(couch: Couch, db: str) -> None:
    couch.put(f"{db}/_design/d", {"views": {"v": {"map": BY_K}}})
    answer = couch.get(f"{db}/_partition/b/_design/d/_view/v")
    assert (answer.status_code, answer.json()["reason"]) == (400, "database is not partitioned")
    answer = couch.put(f"{db}/_design/e", {"options": {"partitioned": True}, "views": {}})
    assert answer.json()["reason"] == "partitioned option cannot be true in a non-partitioned database."
