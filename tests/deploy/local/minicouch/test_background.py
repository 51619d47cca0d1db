"""Background work meets what may happen beside it: a database that is deleted, an index that cannot be built."""

import asyncio
import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import pytest

from deploy.local.minicouch.building import declared, warming
from deploy.local.minicouch.building.warming import Warmer
from deploy.local.minicouch.documents.database import Database
from deploy.local.minicouch.documents.edits import Edit
from deploy.local.minicouch.errors import CouchError
from deploy.local.minicouch.indexes import indexing, searching
from deploy.local.minicouch.indexes.indexing import IndexSpec, advance, catch_up, get_index, ready
from deploy.local.minicouch.runtime.config import Config
from deploy.local.minicouch.store import Store, StoredDoc, summaries
from deploy.local.minicouch.store.indexes import Index, ViewSpec


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    store = Store(tmp_path, Database)
    yield store
    store.close()


def filled(store: Store, name: str, count: int = 5) -> Database:
    db = store.create(name)
    assert isinstance(db, Database)
    asyncio.run(db.update_docs([Edit(f"d{n}", {"n": n}) for n in range(count)]))
    return db


def emit_number(docs: list[StoredDoc]) -> list[list[list[tuple[Any, Any]]]]:
    return [[[(doc.dict()["n"], None)]] for doc in docs]


def spec(signature: str, mapper: Any = emit_number) -> IndexSpec:
    return IndexSpec(signature, (ViewSpec(),), mapper)


def test_no_index_is_made_in_a_database_that_is_being_deleted(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A build that began beside the deletion put the folder back: the name could not be used again, and the log said
    that an index is built again for a disk I/O error."""
    db = filled(store, "goods")
    began, real = threading.Event(), Database.index_dir

    def slow(self: Database, signature: str) -> Path:
        began.set()
        time.sleep(0.3)
        return real(self, signature)

    monkeypatch.setattr(Database, "index_dir", slow)
    builder = threading.Thread(target=get_index, args=(db, spec("late")))
    builder.start()
    began.wait()
    store.delete("goods")
    builder.join()
    assert not (tmp_path / "databases" / "goods").exists()
    with pytest.raises(CouchError, match="Database does not exist"):
        get_index(db, spec("later"))
    assert filled(store, "goods").doc_count == 5


class OneEnvironment:
    """Map functions that may run beside each other."""

    environment, maps = b"same", ("emit_number",)

    def run(self, maps: Sequence[str], docs: list[StoredDoc]) -> list[list[list[tuple[Any, Any]]]]:
        return [[rows for _ in maps for rows in of_one] for of_one in emit_number(docs)]


def test_an_index_that_is_up_to_date_is_summed_up_before_the_others_are_built(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A report right after an import read every row as long as indexes of the same language were being built."""
    db = filled(store, "goods", 6000)
    ahead, behind = (
        IndexSpec(name, (ViewSpec(),), emit_number, shared=OneEnvironment()) for name in ("ahead", "behind")
    )
    monkeypatch.setattr(declared, "specs", lambda db, docs: iter([ahead, behind]))
    monkeypatch.setattr(warming, "SETTLED", 0.0)
    while advance(db, ahead, get_index(db, ahead), db.update_seq):
        assert get_index(db, ahead).stale
    _, step = next(Warmer(store, Config(tmp_path / "config.json"), lambda: 0)._steps(db))
    assert step(lambda: None), "there is more to do"
    assert not get_index(db, ahead).stale
    assert get_index(db, behind).seq < db.update_seq


def test_a_reader_that_is_quicker_than_the_background_disturbs_nothing(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The index was left out of the background's work for a minute then, for an IndexError."""
    db = filled(store, "goods")
    both = [IndexSpec(name, (ViewSpec(),), emit_number, shared=OneEnvironment()) for name in ("one", "two")]

    def read_meanwhile(*_: object) -> bool:
        for each in both:
            catch_up(db, each)
        return False

    monkeypatch.setattr(indexing, "_together_elsewhere", read_meanwhile)
    while indexing.advance_together(db, both, db.update_seq, 250):
        pass
    assert [get_index(db, each).seq for each in both] == [db.update_seq] * 2


def test_who_waits_for_an_index_gets_it_summed_up_once_no_more_is_written(store: Store) -> None:
    db = filled(store, "goods", 6000)
    get_index(db, spec("sums")).kept_warm = True
    assert not catch_up(db, spec("sums")).stale


def test_an_import_in_pieces_is_summed_up_once(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each piece was: three quarters of the processor time of an import of orders went into summaries that the next
    piece made stale."""
    rebuilt: list[int] = []
    real = summaries.rebuild

    def counted(*args: Any) -> Any:
        rebuilt.append(1)
        return real(*args)

    monkeypatch.setattr(summaries, "rebuild", counted)
    warmer = Warmer(store, Config(tmp_path / "config.json"), lambda: 0)
    db = filled(store, "goods", 0)
    monkeypatch.setattr(declared, "specs", lambda db, docs: iter([spec("sums")]))
    for piece in range(5):
        edits = [Edit(f"{piece}-{n}", {"n": n}) for n in range(1500)]
        asyncio.run(db.update_docs(edits))
        warmer._warm(db)
        assert asyncio.run(ready(db, spec("sums"), reduced=False)).seq == db.update_seq
    assert not rebuilt
    monkeypatch.setattr(warming, "SETTLED", 0.0)
    warmer._warm(db)
    assert len(rebuilt) == 1
    assert not get_index(db, spec("sums")).stale


def after_a_rush(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> tuple[Warmer, Database, Index]:
    """A database that was written just now, and its index with all rows and no summaries."""
    db = filled(store, "goods", 6000)
    monkeypatch.setattr(declared, "specs", lambda db, docs: iter([spec("sums")]))
    warmer = Warmer(store, Config(tmp_path / "config.json"), lambda: 0)
    index = catch_up(db, spec("sums"), reduced=False)
    warmer._watched[db] = warming.Watched(db.update_seq)
    return warmer, db, index


def test_an_index_is_not_summed_up_while_the_next_piece_is_written_or_somebody_waits_for_rows(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It was, once its own last rows had come a second ago: the import then waited at the end of the next piece until all was summed up."""
    warmer, db, index = after_a_rush(store, tmp_path, monkeypatch)
    index.grew_at -= 5.0
    warmer._warm(db)
    assert index.stale, "something was written just now"
    warmer._watched[db].grew_at -= 5.0
    waiting: Future[None] = Future()
    db.handles[indexing.BUILDING, "other"] = waiting
    warmer._warm(db)
    assert index.stale, "somebody waits"
    waiting.set_result(None)
    warmer._warm(db)
    assert not index.stale


def test_an_index_is_summed_up_ten_seconds_after_a_rush_though_writing_goes_on(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    warmer, db, index = after_a_rush(store, tmp_path, monkeypatch)
    index.grew_at -= warming.LATEST
    warmer._warm(db)
    assert not index.stale


def test_indexes_of_a_database_that_is_written_without_a_pause_wait_for_many_changes(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each tick was a build once many had come: a burst of orders paid for its indexes one by one, while customers waited."""
    monkeypatch.setattr(warming, "MANY", 20)
    db, built_at = filled(store, "goods"), list[int]()
    warmer = Warmer(store, Config(tmp_path / "config.json"), lambda: 0)
    monkeypatch.setattr(Warmer, "_warm", lambda self, db: built_at.append(db.update_seq))

    async def tick(*edits: Edit) -> None:
        if edits:
            await db.update_docs(list(edits))
        else:
            pause(warmer, db)
        warmer._tick()
        await asyncio.wrap_future(warmer._thread.submit(int))  # behind what the tick has begun

    async def rush() -> None:
        await tick()
        for number in range(50):
            await tick(Edit(f"more{number}", {}))
        assert built_at == [5, 25, 45], "first what was there"
        await tick()
        await tick()
        assert built_at[3:] == [55], "the rest at the first pause, once"
        warmer._watched[db].waiting_since -= warming.LONGEST_WAIT
        await tick(Edit("first", {}))
        assert built_at[4:] == [], "what is written after a pause has not waited yet"
        warmer._watched[db].waiting_since -= warming.LONGEST_WAIT
        await tick(Edit("late", {}))
        assert built_at[4:] == [57], "a few do not wait forever"
        warmer._watched[db].summed_up = False
        await tick(Edit("later", {}))
        assert built_at[5:] == []
        await tick()
        assert built_at[5:] == [58]

    asyncio.run(rush())


def pause(warmer: Warmer, db: Database) -> None:
    """Nothing was written for a while."""
    warmer._tick()  # which sees what was written before it
    seen = warmer._watched[db]
    seen.grew_at -= warming.CALM
    seen.began_at -= warming.CALM


def test_indexes_follow_a_rush_without_waiting_for_ticks(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An import waited at its end for what had been written since the last build, and a tick on top of it."""
    monkeypatch.setattr(warming, "MANY", 20)
    db, built_at, written = filled(store, "goods"), list[int](), threading.Event()
    warmer = Warmer(store, Config(tmp_path / "config.json"), lambda: 0)

    def warm(warmer: Warmer, db: Database) -> None:
        built_at.append(db.update_seq)
        written.wait(60)

    monkeypatch.setattr(Warmer, "_warm", warm)

    async def rush() -> None:
        pause(warmer, db)
        warmer._tick()
        seen = warmer._watched[db]
        first = seen.work
        assert first is not None
        await db.update_docs([Edit(f"more{number}", {}) for number in range(30)])
        written.set()
        await first
        assert seen.work is not first
        await seen.work
        assert built_at == [5, 35]
        assert seen.work.done(), "few wait for a tick"

    asyncio.run(rush())


def test_a_rush_is_much_that_came_in_a_short_time() -> None:
    """What was there before, and orders that come one by one, need no process of their own."""
    seen = warming.Watched(50_000)
    assert not seen.is_in_rush(), "it has just been opened"
    seen.warmed = 50_000
    seen.note(50_000 + warming.RUSH - 1)
    assert not seen.is_in_rush()
    seen.note(50_000 + warming.RUSH)
    assert seen.is_in_rush()
    assert seen.is_due(), "at once, though writing goes on"
    seen.waiting_since -= 2.0
    assert not seen.is_in_rush()
    assert not seen.is_due()


def test_one_bad_index_keeps_no_other_cold(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    db = filled(store, "goods")

    def fail(docs: list[StoredDoc]) -> Any:
        raise ValueError("nobody thought of this")

    monkeypatch.setattr(declared, "specs", lambda db, docs: iter([spec("bad", fail), spec("good")]))
    warmer = Warmer(store, Config(tmp_path / "config.json"), lambda: 0)
    warmer._warm(db)
    assert get_index(db, spec("good")).seq == db.update_seq
    assert "index bad of goods is not kept warm" in caplog.text
    assert "nobody thought of this" in caplog.text, "with its cause"


def test_a_search_index_is_built_in_pieces_with_pauses_between_them(store: Store) -> None:
    """A commit of thousands of documents without a pause kept requests waiting for a second and more."""
    db = filled(store, "goods", 350)
    everything = searching.SearchSpec(
        "words", "standard", lambda docs: [[["name", f"mug {doc.id}", {}]] for doc in docs], partitioned=False
    )
    pauses: list[int] = []
    more = searching.advance(db, everything, db.update_seq, lambda: pauses.append(1))
    assert not more
    assert len(pauses) == 3
    assert searching.ask(db, everything, searching.Question("name:mug", 5)).page.total == 350


def test_work_pauses_while_requests_are_answered(monkeypatch: pytest.MonkeyPatch) -> None:
    slept: list[float] = []
    monkeypatch.setattr(warming.time, "sleep", slept.append)
    answered = 0
    pause = warming.Pauses(lambda: answered)
    pause()
    assert slept == []
    answered = 1
    pause()
    assert len(slept) == 1
    pause()
    assert len(slept) == 1
