"""Long builds of indexes run in processes of their own, and leave what a build in the server would have left."""

import asyncio
import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import orjson
import pytest

from deploy.local.minicouch.building import build_process, declared, warming
from deploy.local.minicouch.building.build_process import BuildProcesses
from deploy.local.minicouch.building.build_worker import BATCH_OF_MANY, Commands, Files, build
from deploy.local.minicouch.building.warming import Warmer
from deploy.local.minicouch.documents.database import Database
from deploy.local.minicouch.documents.edits import Edit
from deploy.local.minicouch.errors import CouchError
from deploy.local.minicouch.indexes import indexing, searching
from deploy.local.minicouch.indexes.indexing import IndexSpec
from deploy.local.minicouch.runtime.config import Config
from deploy.local.minicouch.store import Store, StoredDoc
from deploy.local.minicouch.store.indexes import Range, ViewSpec
from tests.waiting import eventually

COUNT = 3000
DESIGNS = {
    "_design/sums": {
        "views": {
            "by_colour": {"map": "doc => emit([doc.colour, doc.n], doc.n)", "reduce": "_sum"},
            "all": {"map": "doc => emit(doc.n)"},
        }
    },
    "_design/colours": {"views": {"only": {"map": "doc => emit(doc.colour)", "reduce": "_count"}}},
    "_design/mango": {
        "language": "query",
        "views": {
            "by_n": {
                "map": {"fields": {"n": "asc"}, "partial_filter_selector": {}},
                "reduce": "_count",
                "options": {"def": {"fields": ["n"]}},
            }
        },
    },
    "_design/words": {
        "indexes": {
            "words": {"index": "doc => { index('text', doc.text, {store: true}); index('n', doc.n) }"}
        }
    },
}


def document(n: int) -> dict[str, object]:
    return {"n": n, "colour": ("red", "green", "blue")[n % 3], "text": f"mug number{n}"}


def write(db: Database, start: int, end: int, name: str = "d") -> None:
    asyncio.run(db.update_docs([Edit(f"{name}{n:05}", document(n)) for n in range(start, end)]))


def goods(store: Store, count: int = COUNT) -> Database:
    db = store.create("goods")
    assert isinstance(db, Database)
    asyncio.run(db.update_docs([Edit(docid, body) for docid, body in DESIGNS.items()]))
    write(db, 0, count)
    return db


def views_of(db: Database) -> list[IndexSpec]:
    """The indexes of functions."""
    return [spec for spec in declared.specs(db, db.design_docs()) if spec.design]


@pytest.fixture
def builder(monkeypatch: pytest.MonkeyPatch) -> Iterator[BuildProcesses]:
    """Its processes stay, however long a busy machine takes between two builds; fewer changes than in a shop are worth one."""
    monkeypatch.setattr(build_process, "IDLE", 300.0)
    monkeypatch.setattr(build_process, "MANY", 1000)
    builder = BuildProcesses()
    yield builder
    builder.stop()


@pytest.fixture
def store(tmp_path: Path, builder: BuildProcesses) -> Iterator[Store]:
    store = Store(tmp_path / "apart", partial(Database, builder=builder))
    yield store
    store.close()


def built(db: Database) -> dict[str, object]:
    """All rows, summaries and hits of all indexes, brought up to date."""
    found: dict[str, object] = {}
    for spec in declared.specs(db, db.design_docs()):
        index = indexing.catch_up(db, spec)
        assert index.seq == db.update_seq
        assert not index.stale
        for view, declaration in enumerate(spec.views):
            key = f"{spec.design or 'mango'} {view}"
            found[key] = index.rows(view, Range())
            if declaration.reducer is not None:
                with index.reading() as connection:
                    found[f"{key} reduced"] = index.reduce(connection, view, [Range()])
    for search in declared.search_specs(db, db.design_docs()):
        index = searching.catch_up(db, search)
        assert index.seq == db.update_seq
        for query in ("text:mug", "text:number7", "n:[5 TO 9]"):
            page = searching.ask(db, search, searching.Question(query, 5)).page
            found[query] = (
                (page.total, sorted(hit.docid for hit in page.hits)) if page.total < 6 else page.total
            )
    return found


def processes_of(parent: int) -> list[int]:
    """The build processes that a process has started."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                command = (entry / "cmdline").read_bytes()
                ours = (entry / "stat").read_text().rpartition(")")[2].split()[1] == str(parent)
            except OSError:
                continue
            if ours and b"build_worker" in command:
                found.append(int(entry.name))
    return found


def test_what_it_builds_is_what_the_server_builds(
    store: Store, builder: BuildProcesses, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """First builds, more documents than the pages hold, changes and deletions, a few changes in between."""
    monkeypatch.setattr(build_process, "IDLE", 600.0)
    alone = Store(tmp_path / "alone", Database)
    databases = goods(store), goods(alone)
    for step in (
        lambda db: None,
        lambda db: write(db, COUNT, COUNT + 10),
        lambda db: write(db, 0, COUNT, "more"),
        lambda db: delete(db, [f"d{n:05}" for n in range(0, COUNT, 2)]),
    ):
        for db in databases:
            step(db)
        assert built(databases[0]) == built(databases[1])
    assert len(processes_of(os.getpid())) == 2, "rows and search"
    alone.close()


def delete(db: Database, docids: list[str]) -> None:
    docs = db.get_many(docids)
    asyncio.run(db.update_docs([Edit(docid, {}, [docs[docid].rev], True) for docid in docids]))


def test_the_server_does_next_to_nothing_of_a_long_build_itself(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Requests waited for the interpreter that the builder had."""
    db, here = goods(store), []
    rows, hits = indexing._apply, searching._entries

    def apply(spec: Any, index: Any, target: int, docs: list[StoredDoc], *more: Any) -> None:
        here.append(len(docs))
        rows(spec, index, target, docs, *more)

    def entries(db: Database, spec: Any, docs: list[StoredDoc]) -> Any:
        here.append(len(docs))
        return hits(db, spec, docs)

    monkeypatch.setattr(indexing, "_apply", apply)
    monkeypatch.setattr(searching, "_entries", entries)
    Warmer(store, Config(tmp_path / "config.json"), lambda: 0)._warm(db)
    assert all(count < build_process.FEW for count in here), "the few that a slice of time left over"
    built(db)


def test_a_few_changes_start_no_process(store: Store) -> None:
    built(goods(store, 200))
    assert processes_of(os.getpid()) == []


def test_a_slice_ends_after_its_batch_when_somebody_waits(store: Store) -> None:
    """A reader of one index waited for a third of a second, and more, of the builds of all others."""
    db = goods(store)
    specs = views_of(db)
    for spec in specs:
        indexing.get_index(db, spec)
    reader, writer = os.pipe()
    commands = Commands(reader)
    os.write(writer, b'{"a": 1}\n\n')
    assert next(iter(commands)) == b'{"a": 1}'
    assert commands.are_waiting(), "the empty line"
    with contextlib.closing(Files(db.name, db.directory)) as files:
        assert build(
            files, "rows", {spec.signature: None for spec in specs}, db.update_seq, commands.are_waiting
        )
        assert [indexing.get_index(files, spec).seq for spec in specs] == [BATCH_OF_MANY] * 2
    os.write(writer, b"later\n")
    assert next(iter(commands)) == b"later"
    assert not commands.are_waiting()
    os.close(writer)
    assert list(commands) == []
    os.close(reader)


def test_a_reader_preempts_what_is_built_before_him(
    store: Store, builder: BuildProcesses, monkeypatch: pytest.MonkeyPatch
) -> None:
    db, asked = goods(store), []
    spec = next(declared.specs(db, db.design_docs()))
    index = indexing.get_index(db, spec)

    def preempt(work: str) -> None:
        asked.append(work)
        if len(asked) == 1:
            index.building.release()

    monkeypatch.setattr(builder, "preempt", preempt)
    index.building.acquire()
    indexing.catch_up(db, spec)
    assert asked[0] == "rows"
    assert index.seq == db.update_seq


def test_to_preempt_a_process_changes_nothing_that_it_builds(
    store: Store, builder: BuildProcesses, tmp_path: Path
) -> None:
    alone = Store(tmp_path / "alone", Database)
    db, other = goods(store), goods(alone)
    ended = threading.Event()

    def preempt() -> None:
        while not ended.wait(0.002):
            builder.preempt("rows")

    busy = threading.Thread(target=preempt)
    busy.start()
    try:
        found = built(db)
    finally:
        ended.set()
        busy.join()
    assert found == built(other)
    alone.close()


def test_one_whose_server_was_killed_while_it_started_builds_nothing(store: Store) -> None:
    """It took the next parent for its own, and wrote rows beside the next server, which could not add to that index again."""
    db = goods(store)
    for spec in views_of(db):
        indexing.get_index(db, spec)
    gone = subprocess.Popen(["true"])
    gone.wait()
    indexes = {spec.signature: None for spec in views_of(db)}
    command = {"name": db.name, "directory": str(db.directory), "work": "rows", "indexes": indexes}
    found = subprocess.run(
        [sys.executable, "-m", build_process.WORKER, "0", str(gone.pid)],
        input=orjson.dumps(command | {"target": db.update_seq}) + b"\n",
        stdout=subprocess.PIPE,
        timeout=60,
        cwd=build_process.ROOT,
    )
    assert (found.returncode, found.stdout) == (0, b"")


def test_it_ends_when_it_is_not_needed(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(build_process, "IDLE", 0.3)
    built(goods(store))
    eventually(lambda: not processes_of(os.getpid()))


def test_one_that_dies_fails_the_build_and_the_next_build_goes_on(
    store: Store, builder: BuildProcesses
) -> None:
    db = goods(store)
    spec = next(declared.specs(db, db.design_docs()))
    index = indexing.get_index(db, spec)
    indexing.advance(db, spec, index, 1100)
    before = index.seq
    (process,) = processes_of(os.getpid())
    os.kill(process, signal.SIGKILL)
    eventually(lambda: ") Z " in Path(f"/proc/{process}/stat").read_text())
    with pytest.raises(CouchError, match="exit_status"):
        indexing.advance(db, spec, index, db.update_seq)
    assert index.seq == before
    built(db)


def test_an_index_that_no_design_document_declares_is_built_in_the_server(store: Store) -> None:
    """As where the design document changed while its index was built."""
    db = goods(store)
    spec = IndexSpec("undeclared", (ViewSpec(),), lambda docs: [[[(doc.dict()["n"], None)]] for doc in docs])
    index = indexing.catch_up(db, spec)
    assert index.count(0) == COUNT


def test_a_map_function_that_fails_says_so(store: Store) -> None:
    db = goods(store)
    bad = {"views": {"bad": {"map": "this is no function"}}}
    asyncio.run(db.update_docs([Edit("_design/aaa", bad)]))
    spec = next(declared.specs(db, db.design_docs()))
    assert spec.design == "_design/aaa"
    with pytest.raises(CouchError) as raised:
        indexing.catch_up(db, spec)
    assert raised.value.error == "compilation_error"


def test_who_builds_several_indexes_waits_for_none_with_the_lock_of_another(store: Store) -> None:
    """A function that never ends held the lock of its own index, and the background's build of all of them those of the others."""
    db = goods(store)
    specs = views_of(db)
    assert len(specs) == 2
    for running_away in specs:
        other = next(spec for spec in specs if spec is not running_away)
        with indexing.get_index(db, running_away).building:
            background = threading.Thread(
                target=indexing.advance_together, args=(db, specs, db.update_seq, indexing.BATCH)
            )
            background.start()
            reader = threading.Thread(target=indexing.catch_up, args=(db, other))
            reader.start()
            reader.join(60)
            assert not reader.is_alive()
        background.join(60)
        assert not background.is_alive()
        write(db, 0, COUNT, "again")


def test_an_index_that_readers_keep_up_to_date_is_not_locked_while_others_are_built(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each checkout looks products up, and waited for a slice of the builds of all other indexes."""
    db = goods(store)
    read, *others = views_of(db)
    indexing.catch_up(db, read)
    write(db, 0, 20, "sold")
    asked: list[set[str]] = []
    run = BuildProcesses.run

    def noted(builder: BuildProcesses, *what: Any) -> bool:
        asked.append(set(what[3]))
        assert not indexing.get_index(db, read).building.locked()
        return run(builder, *what)

    monkeypatch.setattr(BuildProcesses, "run", noted)
    while indexing.advance_together(db, [read, *others], db.update_seq, indexing.BATCH):
        pass
    assert {signature for each in asked for signature in each} == {spec.signature for spec in others}
    assert {indexing.get_index(db, spec).seq for spec in (read, *others)} == {db.update_seq}


def sharing(db: Database) -> list[IndexSpec]:
    """The indexes whose functions can run beside each other, all of them open."""
    specs = views_of(db)
    for spec in specs:
        indexing.get_index(db, spec)
    return specs


def test_who_waits_for_an_index_has_those_that_are_as_far_built_with_it(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An import that asked one report after the other had every document read and parsed for each of them."""
    db, asked = goods(store), []
    run = BuildProcesses.run

    def noted(builder: BuildProcesses, *what: Any) -> bool:
        asked.append(set(what[3]))
        return run(builder, *what)

    monkeypatch.setattr(BuildProcesses, "run", noted)
    one, other = sharing(db)
    indexing.catch_up(db, one, reduced=False)
    assert asked[0] == {one.signature, other.signature}
    assert indexing.get_index(db, other).seq > COUNT - build_process.FEW
    write(db, 0, COUNT, "more")
    asked.clear()
    with indexing.get_index(db, one).building:
        indexing.catch_up(db, other)
    write(db, 0, COUNT, "others")
    indexing.catch_up(db, other)
    assert {signature for each in asked for signature in each} == {other.signature}, (
        "it does not wait for what the one lacked before"
    )


def test_indexes_that_are_waited_for_are_built_before_the_others(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An import that asked three reports waited until all indexes of its database were built."""
    extra = {"views": {"third": {"map": "function (doc) { emit(doc.n, 1); }"}}}
    db, asked = goods(store), []
    asyncio.run(db.update_docs([Edit("_design/third", extra)]))
    one, other, left = sharing(db)
    run = BuildProcesses.run

    def noted(builder: BuildProcesses, *what: Any) -> bool:
        asked.append(set(what[3]))
        return run(builder, *what)

    monkeypatch.setattr(BuildProcesses, "run", noted)

    async def both() -> None:
        with db.long_builds:
            waiting = [indexing.start_building(db, spec, reduced=False) for spec in (one, other)]
        await asyncio.gather(*waiting)

    asyncio.run(both())
    assert {indexing.get_index(db, spec).seq for spec in (one, other)} == {db.update_seq}
    assert asked[0] == {one.signature, other.signature}, "what was written is read once for both"
    assert indexing.get_index(db, left).seq == 0


def test_an_import_has_the_build_process_follow_it(
    store: Store, builder: BuildProcesses, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first pieces of it were built in the server, beside its writes; and what was too little for the process, over and over."""
    monkeypatch.setattr(build_process, "MANY", 100_000)
    db, here = goods(store, 0), []
    warmer = Warmer(store, Config(tmp_path / "config.json"), lambda: 0)
    rows = indexing._apply

    def apply(*what: Any) -> None:
        here.append(what)
        rows(*what)

    monkeypatch.setattr(indexing, "_apply", apply)

    async def pass_of_the_background() -> None:
        warmer._tick()
        work = warmer._watched[db].work
        assert work is not None
        await work

    warmer._tick()
    warmer._watched[db].warmed = db.update_seq
    write(db, 0, COUNT)
    asyncio.run(pass_of_the_background())
    assert here == []
    assert processes_of(os.getpid())
    reached = [indexing.get_index(db, spec).seq for spec in views_of(db)]
    assert min(reached) > COUNT - build_process.FEW
    write(db, 0, 10, "last")
    warmer._watched[db].note(db.update_seq)
    warmer._watched[db].grew_at -= warming.CALM
    asyncio.run(pass_of_the_background())
    assert {indexing.get_index(db, spec).seq for spec in views_of(db)} == {db.update_seq}, (
        "the pause after it"
    )


def test_a_function_that_fails_is_in_the_way_of_no_other_that_somebody_waits_for(store: Store) -> None:
    db = goods(store)
    bad = {"views": {"bad": {"map": "this is no function"}}}
    asyncio.run(db.update_docs([Edit("_design/aaa", bad)]))
    failing, *others = sharing(db)
    for spec in others:
        assert indexing.catch_up(db, spec).seq == db.update_seq
    with pytest.raises(CouchError, match="this is no function"):
        indexing.catch_up(db, failing)


def test_a_database_is_dropped_under_its_build(store: Store, tmp_path: Path) -> None:
    db = goods(store)
    specs = list(declared.specs(db, db.design_docs()))

    def build() -> None:
        with contextlib.suppress(Exception):  # whatever a file that is gone makes of it
            for spec in specs:
                indexing.catch_up(db, spec)

    building = threading.Thread(target=build)
    building.start()
    while not processes_of(os.getpid()):
        time.sleep(0.02)
    time.sleep(0.3)
    store.delete("goods")
    building.join()
    assert list((tmp_path / "apart" / "databases").iterdir()) == []
    assert goods(store).doc_count == COUNT + len(DESIGNS)
