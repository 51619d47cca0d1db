"""What a server keeps of databases that are gone: nothing that grows."""

import asyncio
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from deploy.local.minicouch.building import declared, warming
from deploy.local.minicouch.building.warming import Warmer
from deploy.local.minicouch.documents import updates
from deploy.local.minicouch.documents.database import Database
from deploy.local.minicouch.documents.updates import Updates
from deploy.local.minicouch.indexes.indexing import IndexSpec
from deploy.local.minicouch.runtime.config import Config
from deploy.local.minicouch.store import Store
from deploy.local.minicouch.store.indexes import ViewSpec
from tests.conformance.conftest import Couch, Process
from tests.processes import free_port

FIRST, MORE = 100, 500
MAX_GROWTH_MIB = 8
"""16 KiB a database; a day of suites creates some 25,000, which was said to have taken 443 MB: 18 KiB each."""
DESIGN = {
    "views": {"v": {"map": "function (doc) { emit(doc.n, doc.n); }", "reduce": "_stats"}},
    "indexes": {"s": {"index": "function (doc) { index('name', doc.name); }"}},
}
DOCUMENTS = [{"_id": f"d{n}", "n": n, "name": f"mug {n}"} for n in range(5)]


def test_the_feed_of_databases_remembers_a_bounded_number(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(updates, "MAX_ROWS", 3)
    feed = Updates()
    for name in ("a", "b", "c", "a", "d", "e"):
        feed.note(name, "created")
    assert [row["db_name"] for row in feed.since(0)] == ["a", "d", "e"]
    assert [row["db_name"] for row in feed.since(5)] == ["e"]


def test_who_waited_for_changes_in_vain_is_forgotten() -> None:
    feed = Updates()

    async def scene() -> None:
        assert not await feed.wait(0, 0.01)

    asyncio.run(scene())
    assert feed._waiting == []


def test_an_index_that_failed_long_ago_is_forgotten(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each database with a broken design left its name."""

    def fail(docs: list[Any]) -> Any:
        raise ValueError("broken")

    store = Store(tmp_path, Database)
    db = store.create("goods")
    assert isinstance(db, Database)
    asyncio.run(db.put_edit("a", {}, None))
    monkeypatch.setattr(declared, "specs", lambda db, docs: iter([IndexSpec("bad", (ViewSpec(),), fail)]))
    monkeypatch.setattr(warming, "RETRY_AFTER", 0.01)
    warmer = Warmer(store, Config(tmp_path / "config.json"), lambda: 0)
    warmer._warm(db)
    assert "bad" in warmer._failed
    store.delete("goods")
    time.sleep(0.02)
    warmer._tick()
    assert warmer._failed == {}
    store.close()


@pytest.mark.load
@pytest.mark.timeout(1800)
@pytest.mark.skipif(sys.platform != "linux", reason="only Linux counts shared memory by process")
def test_hundreds_of_databases_leave_nothing_behind(tmp_path: Path) -> None:
    """Created, indexed, searched and deleted, often while they are being indexed, as suites of tests do it all day."""
    server = Process(tmp_path / "data", free_port()).start()
    try:
        use_databases(server.couch, FIRST)
        before = settled_mib(server, seconds=20)
        use_databases(server.couch, MORE)
        after = settled_mib(server, seconds=120, below=before + MAX_GROWTH_MIB)
    finally:
        server.stop()
    assert after < before + MAX_GROWTH_MIB, f"{before:.1f} MiB grew to {after:.1f}"
    assert "built again" not in server.data.with_suffix(".log").read_text(), (
        "a file was gone from under its index"
    )


def use_databases(couch: Couch, count: int) -> None:
    for number in range(count):
        db = couch.make("many")
        couch.put(f"{db}/_design/d{number}", DESIGN)
        couch.post(f"{db}/_bulk_docs", {"docs": DOCUMENTS})
        if number % 3:
            assert couch.get(f"{db}/_design/d{number}/_view/v").json()["rows"][0]["value"]["count"] == 5
            assert couch.get(f"{db}/_design/d{number}/_search/s?q=name:mug").json()["total_rows"] == 5
        assert couch.post(f"{db}/_find", {"selector": {"n": {"$gt": 2}}}).json()["docs"]
        assert couch.delete(db).ok


def settled_mib(server: Process, seconds: float, below: float = 0.0) -> float:
    """The least that it takes within a while, in which it gives back what it no longer needs; at once when `below` is met."""
    least, ends = float("inf"), time.monotonic() + seconds
    assert server.process is not None
    rollup = Path(f"/proc/{server.process.pid}/smaps_rollup")
    while time.monotonic() < ends:
        time.sleep(1)
        (pss,) = (line for line in rollup.read_text().splitlines() if line.startswith("Pss:"))
        least = min(least, int(pss.split()[1]) / 1024)
        if least < below:
            break
    return least
