"""What design functions find around them, which design documents are refused, and that runaway functions harm only themselves."""

import time
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import pytest
import requests

from .conftest import Couch
from .views import design, fill

pytestmark = pytest.mark.conformance


@pytest.mark.parametrize(
    ("source", "rows"),
    [
        ("function (doc) { if (doc.n == 1) throw 'x'; emit(doc.n, 1); }", [(2, 1)]),
        ("function (doc) { doc.n = 5; emit(doc.n, 1); }", [(1, 1), (2, 1)]),
        ("function (doc) { emit(); }", [(None, None), (None, None)]),
        (
            "function (doc) { emit(doc.n, [isArray([]), sum([1, 2]), toJSON({a: 1})]); log('x'); }",
            [(1, [True, 3, '{"a":1}']), (2, [True, 3, '{"a":1}'])],
        ),
        ("(doc) => { emit(doc.n, `n${doc.n}`) }", [(1, "n1"), (2, "n2")]),
        (
            "function (doc) { emit(doc.n, new Date(0)); }",
            [(1, "1970-01-01T00:00:00.000Z"), (2, "1970-01-01T00:00:00.000Z")],
        ),
        ("function (doc) { emit(NaN, Infinity); }", [(None, None), (None, None)]),
        ("function (doc) { emit(doc.n, 'é€😀'); }", [(1, "é€😀"), (2, "é€😀")]),
        ("function (doc) { return 5; }", []),
    ],
)
def test_map_functions(couch: Couch, db: str, source: str, rows: list[Any]) -> None:
    fill(couch, db, [{"_id": "a", "n": 1}, {"_id": "b", "n": 2}])
    found = couch.get(design(couch, db, "m", v=source) + "/v").json()["rows"]
    assert [(row["key"], row["value"]) for row in found] == rows


def test_the_library_of_a_design_document(couch: Couch, db: str) -> None:
    fill(couch, db, [{"_id": "a", "n": 1}])
    lib = {"x": "exports.f = function (n) { return require('./y').k * n; }", "y": "exports.k = 7"}
    views = {"lib": lib, "v": {"map": "function (doc) { emit(require('views/lib/x').f(doc.n)); }"}}
    assert couch.put(f"{db}/_design/l", {"views": views}).status_code == 201
    assert couch.get(f"{db}/_design/l/_view/v").json()["rows"][0]["key"] == 7


def test_design_documents_are_mapped_only_when_asked(couch: Couch, db: str) -> None:
    fill(couch, db, [{"_id": "a"}])
    source = "function (doc) { emit(doc._id, null); }"
    assert [row["id"] for row in couch.get(design(couch, db, "m", v=source) + "/v").json()["rows"]] == ["a"]
    body = {"options": {"include_design": True}, "views": {"v": {"map": source}}}
    couch.put(f"{db}/_design/with", body)
    ids = [row["id"] for row in couch.get(f"{db}/_design/with/_view/v").json()["rows"]]
    assert ids == ["_design/m", "_design/with", "a"]


def failure(answer: requests.Response) -> tuple[int, str, str]:
    """CouchDB may add a `ref` to its log."""
    return answer.status_code, answer.json()["error"], answer.json()["reason"]


MAP = "function (doc) { }"


@pytest.mark.parametrize(
    ("body", "error", "reason"),
    [
        ({"views": 5}, "invalid_design_doc", "`views` field must have object type"),
        ({"views": {"v": 5}}, "invalid_design_doc", "`views.v` field must have object type"),
        ({"views": {"v": {}}}, "invalid_design_doc", "View `v` must contain map function"),
        ({"views": {"v": {"map": 5}}}, "invalid_design_doc", "`views.v.map` field must have string type"),
        (
            {"views": {"v": {"map": MAP, "reduce": 5}}},
            "invalid_design_doc",
            "`views.v.reduce` field must have string type",
        ),
        (
            {"views": {"v": {"map": MAP, "reduce": "_nope"}}},
            "invalid_design_doc",
            "`_nope` is not a supported reduce function.",
        ),
        (
            {"views": {"v": {"map": MAP, "reduce": "_top_0"}}},
            "invalid_design_doc",
            "rank value must be between 1 and 100",
        ),
        ({"views": {"lib": 5}}, "invalid_design_doc", "`views.lib` field must have object type"),
        ({"options": 5}, "invalid_design_doc", "`options` field must have object type"),
        (
            {"options": {"partitioned": 1}},
            "invalid_design_doc",
            "`options.partitioned` field must have boolean type",
        ),
        ({"filters": 5}, "invalid_design_doc", "`filters` field must have object type"),
        ({"filters": {"a": 5}}, "invalid_design_doc", "`filters.a` field must have string or object type"),
        (
            {"validate_doc_update": 5},
            "invalid_design_doc",
            "`validate_doc_update` field must have string type",
        ),
        ({"rewrites": 5}, "invalid_design_doc", "`rewrites` field must have array or string type"),
        (
            {"views": {"v": {"map": "1 + 1"}}},
            "compilation_error",
            "Compilation of the map function in the 'v' view failed: Expression does not eval to a function. (1 + 1)",
        ),
        (
            {"views": {"v": {"map": MAP, "reduce": "5"}}},
            "compilation_error",
            "Compilation of the reduce function in the 'v' view failed: Expression does not eval to a function. (5)",
        ),
    ],
)
def test_design_documents_that_are_refused(couch: Couch, db: str, body: Any, error: str, reason: str) -> None:
    answer = couch.put(f"{db}/_design/bad", body)
    assert (answer.status_code, answer.json()) == (400, {"error": error, "reason": reason})


def test_a_function_that_does_not_parse_is_refused(couch: Couch, db: str) -> None:
    answer = couch.put(f"{db}/_design/bad", {"views": {"v": {"map": "function (doc) {"}}})
    assert (answer.status_code, answer.json()["error"]) == (400, "compilation_error")


RUNAWAYS = {
    "loop": "function (doc) { while (true); }",
    "memory": "function (doc) { var a = []; while (true) a.push(new Array(10000).fill(a.length)); }",
}


@pytest.mark.parametrize("name", RUNAWAYS)
def test_a_runaway_fails_its_own_request_and_nothing_else(couch: Couch, db: str, name: str) -> None:
    fill(couch, db, [{"_id": "a", "n": 1}])
    fine = design(couch, db, "fine", v="function (doc) { emit(doc.n, 1); }") + "/v"
    bad = design(couch, db, "bad", v=RUNAWAYS[name]) + "/v"
    with ThreadPoolExecutor(1) as beside:

        def run_away() -> "Future[requests.Response]":
            return beside.submit(Couch(couch.url, couch.auth).get, bad, timeout=240)

        failed, running, meanwhile, served = 0, run_away(), 0, 0
        while failed < 1 or meanwhile < 3:
            couch.put(f"{db}/during{served}", {"n": served})
            answer = couch.get(f"{fine}?key=1", timeout=240)
            assert answer.status_code == 200, answer.text
            served, meanwhile = served + 1, meanwhile + (not running.done())
            if running.done():
                answer = running.result()
                assert (answer.status_code, answer.json()["error"]) == (500, "os_process_error")
                failed, running = failed + 1, run_away() if meanwhile < 3 else running
            time.sleep(0.3)
    assert len(couch.get(fine).json()["rows"]) == served + 1


def test_a_function_may_stop_its_build(couch: Couch, db: str) -> None:
    fill(couch, db, [{"_id": "a"}])
    answer = couch.get(design(couch, db, "m", v="function (doc) { throw 'fatal_error'; }") + "/v")
    assert failure(answer) == (500, "map_runtime_error", "function raised 'fatal_error'")


def test_a_language_nobody_speaks(couch: Couch, db: str) -> None:
    fill(couch, db, [{"_id": "a"}])
    assert couch.put(f"{db}/_design/f", {"language": "foo", "views": {"v": {"map": "?"}}}).status_code == 201
    answer = couch.get(f"{db}/_design/f/_view/v")
    assert failure(answer) == (500, "unknown_query_language", "foo")
