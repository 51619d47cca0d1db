"""Map views over raw HTTP: ranges, keys, order, linked documents, refusals. Runs on minicouch and on COUCH_URL alike."""

import json
from typing import Any

import pytest

from .conftest import Couch
from .views import BY_N, Query, design, fill

pytestmark = pytest.mark.conformance


@pytest.mark.parametrize(
    ("parameters", "wanted"),
    [
        ("", range(10)),
        ("key=3", [3]),
        ("key=33", []),
        ("startkey=7", [7, 8, 9]),
        ("start_key=7&limit=2", [7, 8]),
        ("endkey=2", [0, 1, 2]),
        ("end_key=2&inclusive_end=false", [0, 1]),
        ("startkey=3&endkey=5", [3, 4, 5]),
        ("startkey=3&endkey=3&inclusive_end=false", []),
        ("descending=true&limit=3", [9, 8, 7]),
        ("descending=true&startkey=3", [3, 2, 1, 0]),
        ("descending=true&startkey=5&endkey=3&inclusive_end=false", [5, 4]),
        ("skip=8", [8, 9]),
        ("skip=2&limit=2&descending=true", [7, 6]),
        ("limit=0", []),
        ("skip=50", []),
        ("keys=[4,2,8]", [4, 2, 8]),
        ("keys=[4,99,2]", [4, 2]),
        ("keys=[4,4]", [4, 4]),
        ("keys=[4,2,8]&descending=true", [8, 2, 4]),
        ("keys=[4,2,8]&skip=1&limit=1", [2]),
        ("keys=[]", []),
        ("startkey=null&endkey=1", [0, 1]),
        ("startkey=8&endkey={}", [8, 9]),
    ],
)
def test_ranges(numbers: Query, parameters: str, wanted: list[int]) -> None:
    assert numbers(parameters) == [f"d{n}" for n in wanted]


@pytest.mark.parametrize(
    ("parameters", "wanted"),
    [
        ("startkey=true&startkey_docid=d4", ["d4", "d6", "d8"]),
        ("startkey=true&start_key_doc_id=d5", ["d6", "d8"]),
        ("startkey=false&endkey=true&endkey_docid=d2", ["d1", "d3", "d5", "d7", "d9", "d0", "d2"]),
        ("startkey=true&endkey=true&endkey_docid=d4&inclusive_end=false", ["d0", "d2"]),
        ("descending=true&startkey=true&startkey_docid=d4&endkey=true", ["d4", "d2", "d0"]),
        ("descending=true&startkey=true&endkey=true&end_key_doc_id=d6", ["d8", "d6"]),
    ],
)
def test_document_ids_bound_ranges_within_a_key(numbers: Query, parameters: str, wanted: list[str]) -> None:
    assert numbers(parameters, "by_even") == wanted


def test_total_and_offset(numbers: Query) -> None:
    for parameters, offset in [
        ("", 0),
        ("startkey=4", 4),
        ("startkey=4&skip=2", 6),
        ("skip=99", 10),
        ("startkey=99", 10),
    ]:
        answer = numbers(parameters, ids=False)
        assert (answer["total_rows"], answer["offset"]) == (10, offset), parameters


def test_unsorted_answers_have_no_totals(numbers: Query) -> None:
    answer = numbers("sorted=false", ids=False)
    assert "total_rows" not in answer
    assert sorted(row["id"] for row in answer["rows"]) == [f"d{n}" for n in range(10)]


def test_post_takes_the_parameters_of_get(couch: Couch, db: str, numbers: Query) -> None:
    def post(body: Any, parameters: str = "") -> Any:
        return couch.post(f"{db}/_design/n/_view/by_n?{parameters}", body)

    assert [row["key"] for row in post({"keys": [3, 1]}).json()["rows"]] == [3, 1]
    assert [row["key"] for row in post({"limit": 2, "descending": True}).json()["rows"]] == [9, 8]
    assert [row["key"] for row in post({"startkey": 2, "limit": 9}, "limit=1").json()["rows"]] == [2]
    assert len(post({}).json()["rows"]) == 10
    for body, error in [
        ({"keys": 3}, "bad_request"),
        ({"queries": []}, "bad_request"),
        ({"limit": "x"}, "query_parse_error"),
    ]:
        answer = post(body)
        assert (answer.status_code, answer.json()["error"]) == (400, error), body


def test_several_queries_in_one_request(couch: Couch, db: str, numbers: Query) -> None:
    path = f"{db}/_design/n/_view/by_n/queries"
    results = couch.post(path, {"queries": [{"keys": [2, 1]}, {"limit": 1, "skip": 3}, {"key": 77}]}).json()[
        "results"
    ]
    assert [[row["key"] for row in result["rows"]] for result in results] == [[2, 1], [3], []]
    assert couch.post(path, {"queries": []}).json() == {"results": []}
    assert couch.post(path, {}).json()["reason"] == "POST body must include `queries` parameter."
    refused = couch.post(path, {"queries": [{"limit": 1}, {"group": True}]})
    assert refused.json()["reason"] == "Invalid use of grouping on a map view."
    assert couch.get(path).status_code == 405


REFUSALS = [
    ("limit=abc", 'Invalid value for integer: "abc"'),
    ("limit=-1", 'Invalid value for positive integer: "-1"'),
    ("skip=2.5", 'Invalid value for integer: "2.5"'),
    ("descending=foo", 'Invalid boolean parameter: "foo"'),
    ("reduce=true", "Reduce is invalid for map-only views."),
    ("group=true", "Invalid use of grouping on a map view."),
    ("group_level=2", "Invalid use of grouping on a map view."),
    ("update=x", "Invalid value for `update`."),
    ("stale=x", "Invalid value for `stale`."),
    ("stable=x", "Invalid value for `stable`."),
    ("keys=[1,2]&key=1", "`keys` is incompatible with `key`, `start_key` and `end_key`"),
    ("partition=p", "`partition` parameter is not supported in this design doc"),
    (
        "startkey=3&endkey=1",
        "No rows can match your key range, reverse your start_key and end_key or set descending=true",
    ),
    (
        "startkey=1&endkey=3&descending=true",
        "No rows can match your key range, reverse your start_key and end_key or set descending=false",
    ),
]


@pytest.mark.parametrize(("parameters", "reason"), REFUSALS)
def test_refusals(couch: Couch, db: str, numbers: Query, parameters: str, reason: str) -> None:
    answer = couch.get(f"{db}/_design/n/_view/by_n?{parameters}")
    assert answer.status_code == 400
    assert (answer.json()["error"], answer.json()["reason"]) == ("query_parse_error", reason)


def test_what_is_not_there(couch: Couch, db: str, numbers: Query) -> None:
    for path, reason in [
        ("_design/n/_view/nope", "missing_named_view"),
        ("_design/nope/_view/by_n", "missing"),
        ("_design/nope/_info", "missing"),
    ]:
        answer = couch.get(f"{db}/{path}")
        assert (answer.status_code, answer.json()) == (404, {"error": "not_found", "reason": reason})
    assert couch.get(f"{db}/_design/n/_view/by_n?startkey=%7Bbad").status_code == 400


def test_the_bytes_of_an_answer(couch: Couch, db: str, numbers: Query) -> None:
    answer = couch.get(f"{db}/_design/n/_view/by_n?limit=2")
    assert answer.text == (
        '{"total_rows":10,"offset":0,"rows":[\r\n{"id":"d0","key":0,"value":null},\r\n{"id":"d1","key":1,"value":null}\r\n]}\n'
    )
    assert (
        couch.get(f"{db}/_design/n/_view/by_n?key=44").text
        == '{"total_rows":10,"offset":10,"rows":[\r\n\r\n]}\n'
    )
    assert couch.request("HEAD", f"{db}/_design/n/_view/by_n").status_code == 200


COLLATION: list[Any] = [
    None,
    False,
    True,
    -10,
    1,
    2,
    3.5,
    10,
    "",
    "!",
    "1",
    "a",
    "A",
    "aa",
    "b",
    "B",
    "ba",
    "bb",
    [],
    ["a"],
    ["b"],
    ["b", "c"],
    ["b", "c", "a"],
    ["b", "d"],
    [[1], 2],
    {},
    {"a": 1},
    {"a": 2},
    {"b": 1},
    {"b": 2, "a": 1},
]


def test_keys_sort_by_type_then_value(couch: Couch, db: str) -> None:
    fill(couch, db, [{"_id": f"{n:02}", "k": key} for n, key in enumerate(reversed(COLLATION))])
    path = design(couch, db, "c", k="function (doc) { emit(doc.k, null); }")
    rows = couch.get(f"{path}/k").json()["rows"]
    assert [row["key"] for row in rows] == COLLATION
    backwards = couch.get(f"{path}/k?descending=true").json()["rows"]
    assert [row["key"] for row in backwards] == COLLATION[::-1]
    for key in COLLATION:
        found = couch.get(f"{path}/k", params={"key": json.dumps(key)}).json()["rows"]
        assert [row["key"] for row in found] == [key]


RAW: list[Any] = [
    1,
    2.5,
    10,
    False,
    None,
    True,
    {"a": 1},
    {"a": 2},
    {"b": 1},
    {"b": 2, "a": 1},
    {"b": 2, "c": 2},
    [],
    ["a"],
    ["b"],
    ["b", "c"],
    ["b", "c", "a"],
    "",
    "A",
    "B",
    "a",
    "aa",
    "b",
    "ba",
]


def test_raw_collation_compares_terms(couch: Couch, db: str) -> None:
    fill(couch, db, [{"_id": f"{n:02}", "k": key} for n, key in enumerate(reversed(RAW))])
    definition = {
        "map": "function (doc) { emit(doc.k, 1); }",
        "reduce": "_sum",
        "options": {"collation": "raw"},
    }
    path = design(couch, db, "c", k=definition)
    rows = couch.get(f"{path}/k?reduce=false").json()["rows"]
    assert [row["key"] for row in rows] == RAW
    rows = couch.get(f'{path}/k?reduce=false&startkey="Z"&endkey="a"').json()["rows"]
    assert [row["key"] for row in rows] == ["a"]
    groups = couch.get(f'{path}/k?group_level=1&startkey=[]&endkey=["z"]').json()["rows"]
    assert [(row["key"], row["value"]) for row in groups] == [([], 1), (["a"], 1), (["b"], 3)]


def test_included_documents(couch: Couch, db: str) -> None:
    fill(
        couch,
        db,
        [{"_id": "a", "link": "b"}, {"_id": "b", "link": "gone"}, {"_id": "c", "link": None}, {"_id": "d"}],
    )
    path = design(
        couch,
        db,
        "l",
        own="function (doc) { emit(doc._id, 1); }",
        linked="function (doc) { if (doc.link !== undefined) emit(doc._id, {_id: doc.link}); }",
        revision="function (doc) { emit(doc._id, {_id: doc._id, _rev: doc._rev}); }",
    )
    rows = couch.get(f"{path}/own?include_docs=true&limit=1").json()["rows"]
    assert rows[0]["doc"]["link"] == "b"
    rows = couch.get(f"{path}/linked?include_docs=true").json()["rows"]
    assert [row["doc"] and row["doc"]["_id"] for row in rows] == ["b", None, None]
    rows = couch.get(f"{path}/revision?include_docs=true").json()["rows"]
    assert all(row["doc"]["_rev"] == row["value"]["_rev"] for row in rows)


def test_conflicts_show_when_asked(couch: Couch, db: str) -> None:
    for rev in ("1-a", "1-b"):
        body = {"_id": "x", "_rev": rev, "n": 1}
        assert couch.post(f"{db}/_bulk_docs", {"docs": [body], "new_edits": False}).status_code == 201
    path = design(
        couch, db, "k", by_n=BY_N, seen="function (doc) { if (doc._conflicts) emit(doc._conflicts, null); }"
    )
    (row,) = couch.get(f"{path}/by_n?include_docs=true&conflicts=true").json()["rows"]
    assert row["doc"]["_conflicts"] == ["1-a"]
    (row,) = couch.get(f"{path}/by_n?include_docs=true").json()["rows"]
    assert "_conflicts" not in row["doc"]
    assert couch.get(f"{path}/seen").json()["rows"][0]["key"] == ["1-a"]


def test_views_follow_updates_and_deletes(couch: Couch, db: str, numbers: Query) -> None:
    doc = couch.get(f"{db}/d3").json()
    couch.put(f"{db}/d3", doc | {"n": 100})
    gone = couch.get(f"{db}/d4").json()
    couch.delete(f"{db}/d4?rev={gone['_rev']}")
    couch.put(f"{db}/new", {"n": 3.5})
    assert numbers() == ["d0", "d1", "d2", "new", "d5", "d6", "d7", "d8", "d9", "d3"]
