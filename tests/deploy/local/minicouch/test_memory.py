"""What a server keeps of databases that are gone, and of requests that are answered: nothing that grows."""

import asyncio
import sqlite3
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from deploy.local.minicouch.building import declared, warming
from deploy.local.minicouch.building.warming import Warmer
from deploy.local.minicouch.documents import updates
from deploy.local.minicouch.documents.database import Database
from deploy.local.minicouch.documents.edits import Edit
from deploy.local.minicouch.documents.updates import Updates
from deploy.local.minicouch.indexes.indexing import IndexSpec, catch_up
from deploy.local.minicouch.runtime.config import Config
from deploy.local.minicouch.runtime.memory import CALM_LOOKS, CALM_SHARE, WORTH_IT, FreeMemory
from deploy.local.minicouch.store import Store
from deploy.local.minicouch.store.indexes import Range, ViewSpec
from tests.conformance.conftest import Couch, Process
from tests.processes import free_port

FIRST, MORE = 100, 500
MAX_GROWTH_MIB = 8
"""16 KiB a database; a day of suites creates some 25,000, which was said to have taken 443 MB: 18 KiB each."""
MOST_LEFT_MIB = 15
TURNS = 4
"""Where processors are short it may seem to pause in the middle of the work."""
DESIGN = {
    "views": {"v": {"map": "function (doc) { emit(doc.n, doc.n); }", "reduce": "_stats"}},
    "indexes": {"s": {"index": "function (doc) { index('name', doc.name); }"}},
}
ALL = IndexSpec("all", (ViewSpec(),), lambda docs: [[[(doc.id, None)]] for doc in docs])
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


class Looks:
    """A server that is looked at once a second."""

    def __init__(self) -> None:
        self._free_memory = FreeMemory()
        self._now = self._used = 0.0

    def given_back(self, *used: float) -> int:
        """How often memory was to be given back in so many seconds, in which it used so much processor time each."""
        return sum(self._look(seconds) for seconds in used)

    def _look(self, used: float) -> bool:
        self._now, self._used = self._now + 1, self._used + used
        return self._free_memory.is_due(self._now, self._used)


def test_memory_is_given_back_once_in_a_pause_after_work() -> None:
    server, little = Looks(), CALM_SHARE / 50
    assert server.given_back(*CALM_LOOKS * [little]) == 0, "little was done yet"
    assert server.given_back(2 * WORTH_IT, *(CALM_LOOKS - 1) * [little]) == 0
    assert server.given_back(little) == 1
    assert server.given_back(*5 * CALM_LOOKS * [little]) == 0
    assert server.given_back(*30 * [0.5]) == 0, "no pause"
    assert server.given_back(*CALM_LOOKS * [little]) == 1


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux counts shared memory by process")
def test_memory_is_given_back_while_somebody_asks_now_and_then(tmp_path: Path) -> None:
    """A shop that nobody visits asks its database every other second."""
    server = Process(tmp_path / "data", free_port()).start()
    try:
        db = server.couch.make("goods")
        before = settled_mib(server, seconds=1)
        least = float("inf")
        for turn in range(TURNS):
            least = min(least, pause_after_work(server, db, turn, below=before + MOST_LEFT_MIB))
            if least < before + MOST_LEFT_MIB:
                break
    finally:
        server.stop()
    assert least < before + MOST_LEFT_MIB, f"{before:.1f} MiB became {least:.1f}"


def test_a_pause_closes_the_spare_readers_of_indexes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(FreeMemory, "is_due", lambda *_: True)
    store = Store(tmp_path, Database)
    db = store.create("goods")
    assert isinstance(db, Database)
    warmer = Warmer(store, Config(tmp_path / "config.json"), lambda: 0)

    async def pause() -> None:
        await db.put_edit("a", {}, None)
        index = catch_up(db, ALL)
        with index.reading() as one, index.reading() as other:
            pass
        warmer._give_memory_back()
        assert db.visitors == 1, "who is at it is not closed under it"
        while db.visitors:
            await asyncio.sleep(0.01)
        for closed in (one, other):
            with pytest.raises(sqlite3.ProgrammingError):
                closed.execute("SELECT 1")
        assert len(index.rows(0, Range())) == 1

    asyncio.run(pause())
    warmer.close()
    store.close()


def pause_after_work(server: Process, db: str, turn: int, below: float) -> float:
    """What it takes at least in a pause in which it is asked twice a second, until that is `below`."""
    for number in range(4):
        docs = [{"_id": f"{turn}-{number}-{n}", "texts": 200 * [f"mug {n}"]} for n in range(4000)]
        assert server.couch.post(f"{db}/_bulk_docs", {"docs": docs}).ok
    least, ends = float("inf"), time.monotonic() + 10
    while least >= below and time.monotonic() < ends:
        assert server.couch.get("/").ok
        least = min(least, settled_mib(server, seconds=0.5))
    return least


def test_shrinking_disturbs_no_reader(tmp_path: Path) -> None:
    store = Store(tmp_path, Database)
    db = store.create("goods")
    assert isinstance(db, Database)
    asyncio.run(db.update_docs([Edit(f"d{n}", {"n": n}) for n in range(500)]))
    index = catch_up(db, ALL)

    def read(_: int) -> tuple[int, int]:
        return len(index.rows(0, Range())), sum(1 for _ in db.range())

    with ThreadPoolExecutor(4) as readers:
        found = readers.map(read, range(200))
        for _ in range(200):
            db.shrink()
            index.shrink()
        assert set(found) == {(500, 500)}
    store.close()
    db.shrink()
    index.shrink()


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
        time.sleep(min(1, seconds))
        (pss,) = (line for line in rollup.read_text().splitlines() if line.startswith("Pss:"))
        least = min(least, int(pss.split()[1]) / 1024)
        if least < below:
            break
    return least
