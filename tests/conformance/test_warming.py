"""Indexes are brought up to date in the background after writes, as CouchDB's ken does it."""

import time
from collections.abc import Callable
from typing import Any

import pytest

from .conftest import Couch
from .views import design, fill

pytestmark = pytest.mark.conformance


def eventually(check: Callable[[], Any], within: float = 30) -> None:
    deadline = time.monotonic() + within
    while not check():
        assert time.monotonic() < deadline
        time.sleep(0.1)


def test_a_view_nobody_asked_for_is_built(couch: Couch, db: str) -> None:
    if not couch.is_minicouch:
        pytest.skip("ken takes its own time, longer than a test should wait")
    path = design(couch, db, "w", v={"map": "function (doc) { emit(doc.n, 1); }", "reduce": "_sum"})
    for start in range(0, 3000, 500):
        fill(couch, db, [{"_id": f"{n:05}", "n": n % 7} for n in range(start, start + 500)])
    eventually(lambda: couch.get(f"{path}/v?update=false").json()["rows"] == [{"key": None, "value": 3000}])
    info = couch.get(f"{db}/_design/w/_info").json()["view_index"]
    assert info["updates_pending"]["total"] == 0


def test_a_runaway_design_does_not_keep_others_from_being_warm(couch: Couch, db: str) -> None:
    if not couch.is_minicouch:
        pytest.skip("ken takes its own time, longer than a test should wait")
    design(couch, db, "a_bad", v="function (doc) { while (true); }")
    path = design(couch, db, "b_fine", v="function (doc) { emit(doc.n, 1); }")
    fill(couch, db, [{"_id": "a", "n": 1}])
    eventually(lambda: len(couch.get(f"{path}/v?update=false").json()["rows"]) == 1, 60)


def test_designs_are_built_side_by_side_however_far_each_is(couch: Couch, db: str) -> None:
    """One that was there first, one that fails for some documents and one that emits twice; documents change and go."""
    if not couch.is_minicouch:
        pytest.skip("ken takes its own time, longer than a test should wait")

    def rows(path: str, query: str = "update=false") -> list[tuple[Any, str]]:
        return [(row["key"], row["id"]) for row in couch.get(f"{path}/v?{query}").json()["rows"]]

    first = design(couch, db, "first", v="function (doc) { emit(doc.n, 1); }")
    docs = [{"_id": f"{n:04}", "n": n} for n in range(600)]
    revs = [row["rev"] for row in couch.post(f"{db}/_bulk_docs", {"docs": docs}).json()]
    eventually(lambda: len(rows(first)) == 600)
    fails = design(
        couch, db, "fails", v="function (doc) { if (doc.n % 2) throw {odd: true}; emit(doc.n, 1); }"
    )
    twice = design(couch, db, "twice", v="function (doc) { emit(-doc.n, 1); emit([doc.n], 1); }")
    changed = [doc | {"_rev": rev, "n": doc["n"] + 1000} for doc, rev in zip(docs[:200], revs, strict=False)]
    gone = [{"_id": doc["_id"], "_rev": rev, "_deleted": True} for doc, rev in zip(docs, revs, strict=True)][
        500:
    ]
    fill(couch, db, [*changed, *gone, *({"_id": f"new{n}", "n": n} for n in range(2000, 2300))])
    numbers = {**{doc["_id"]: doc["n"] for doc in docs[:500]}, **{doc["_id"]: doc["n"] for doc in changed}}
    numbers |= {f"new{n}": n for n in range(2000, 2300)}
    by_number = sorted((n, docid) for docid, n in numbers.items())
    eventually(lambda: rows(first) == by_number)
    eventually(lambda: rows(fails) == [row for row in by_number if row[0] % 2 == 0])
    wanted = sorted((-n, docid) for n, docid in by_number) + [([n], docid) for n, docid in by_number]
    eventually(lambda: rows(twice) == wanted)
    assert [rows(path, "update=true") for path in (first, twice)] == [by_number, wanted]


def test_deleting_a_database_that_is_being_indexed(couch: Couch) -> None:
    for _ in range(3):
        path = couch.make("gone")
        design(couch, path, "w", v="function (doc) { emit(doc.n, 1); }")
        fill(couch, path, [{"n": n} for n in range(1000)])
        assert couch.delete(path).status_code == 200
        gone = couch.get(f"{path}/_design/w/_view/v").status_code
        assert gone == 404 or (
            gone == 500 and not couch.is_minicouch
        )  # CouchDB's index dies while it is asked
    assert couch.get("/_up").status_code == 200


def test_builds_under_way_are_shown(couch: Couch, db: str) -> None:
    slow = "function (doc) { var end = Date.now() + 2; while (Date.now() < end); emit(doc.n, 1); }"
    fill(couch, db, [{"n": n} for n in range(1500)])
    path = design(couch, db, "slow", v=slow)
    seen: list[Any] = []

    def look() -> bool:
        tasks = couch.get("/_active_tasks").json()
        seen.extend(task for task in tasks if task["type"] == "indexer" and db[1:] in task["database"])
        return bool(seen) or len(couch.get(f"{path}/v?update=false").json()["rows"]) == 1500

    couch.get(f"{path}/v?update=lazy")
    eventually(look)
    assert seen
    assert seen[0]["design_document"] == "_design/slow"
    assert 0 <= seen[0]["progress"] <= 100
    eventually(lambda: len(couch.get(f"{path}/v?update=false").json()["rows"]) == 1500)
