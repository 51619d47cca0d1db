"""Indexes are brought up to date in the background after writes, as CouchDB's ken does it."""

import time
from collections.abc import Callable
from typing import Any

import pytest

from .conftest import Couch
from .test_views import design, fill

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
