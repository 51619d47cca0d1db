"""Brings the index files of a database up to date with its changes: one builder an index, in the caller's thread."""

import asyncio
import contextlib
import logging
import secrets
import shutil
import time
from collections.abc import Callable, Collection, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol

import orjson

from ..documents.database import Database
from ..errors import CouchError, not_found
from ..store import StoredDoc
from ..store.indexes import Change, Index, ViewSpec

log = logging.getLogger("minicouch.indexing")
Emitted = list[list[tuple[Any, Any]]]  # per view the (key, value) rows of one document
Mapper = Callable[[list[StoredDoc]], list[Emitted]]
BATCH = 1000
CHEAP_ROWS = 5000
BUILDING = "building"
"""With its signature the key of an index's build among the handles of its database."""
_builders = ThreadPoolExecutor(4, "index-builder")


class SharedMapper(Protocol):
    """Map functions that others with an equal `environment` may run beside in one go: each a source, or a definition."""

    environment: bytes
    maps: Sequence[Any]

    def run(self, maps: Sequence[Any], docs: list[StoredDoc]) -> list[Emitted]: ...


@dataclass(frozen=True)
class IndexSpec:
    """What an index is made of.

    `mapper` gets live documents and gives per document, per view, its (key, value) rows. `signature` names the index on
    disk and must change whenever the rows would.
    """

    signature: str
    views: tuple[ViewSpec, ...]
    mapper: Mapper
    partitioned: bool = False
    include_design: bool = False
    design: str = ""  # the design document's id, for whoever watches builds
    shared: "SharedMapper | None" = None  # its functions may run beside those of others


def partition_prefix(partition: str) -> bytes:
    """What the keys of a partition start with in a partitioned index; a partition cannot hold the colon."""
    return partition.encode() + b":"


def get_index(db: Database, spec: IndexSpec) -> Index:
    """The index, made when it is not there; not brought up to date."""
    index = db.handles.get(spec.signature)
    if index is None or index.closed:
        with db.opening:
            index = db.handles.get(spec.signature)
            if index is None or index.closed:
                if db.deleted:
                    raise not_found("Database does not exist.")
                index = Index.open(db.index_dir(spec.signature) / "index.sqlite", spec.views)
                index.design = spec.design
                index.environment = spec.shared.environment if spec.shared is not None else None
                db.handles[spec.signature] = index
    return index


def catch_up(db: Database, spec: IndexSpec, *, reduced: bool = True) -> Index:
    """The index, complete up to the sequence the database has now, and ready for reductions unless none is wanted.

    Blocks; errors of the mapper come through.
    """
    index = get_index(db, spec)
    target = db.update_seq
    while index.seq < target:
        _preempt_others(db, index, target)
        if not advance(db, spec, index, target):
            break
    if index.closed or not reduced:  # closed: dropped meanwhile; whoever still wants it asks again
        return index
    cheap = index.stale and max(map(index.count, range(len(spec.views)))) < CHEAP_ROWS
    if cheap or left_behind(db, index):
        summarise(db, index)
    return index


def _preempt_others(db: Database, index: Index, target: int) -> None:
    """A reader waits for a batch of what is built before him, not for a whole slice of it."""
    if db.builder is not None and (index.building.locked() or is_far_behind(db, [index], target)):
        db.builder.preempt("rows")


def left_behind(db: Database, index: Index) -> bool:
    """Whether its summaries wait for a reader: many changes came, and no more are coming or nobody works on it in the background."""
    return index.stale and (index.seq >= db.update_seq or not index.kept_warm)


def advance(db: Database, spec: IndexSpec, index: Index, target: int, limit: int = BATCH) -> bool:
    """One batch of changes nearer to `target`, by one thread at a time; False when it is reached."""
    # Who waits for its turn holds no index: whose turn it is takes those along that others wait for.
    turn = db.long_builds if is_far_behind(db, [index], target) else contextlib.nullcontext()
    with turn, index.building:
        if index.seq < target and not index.closed:
            _begin(index, target)
            if not _with_others_elsewhere(db, index, target):
                docs = db.changes_since(index.seq, limit)
                _apply(spec, index, target, docs, partial(_map, spec), never_indexed(db, docs))
            if index.seq < target:
                return True
        index.progress = None
        return False


def advance_together(db: Database, specs: Sequence[IndexSpec], target: int, limit: int) -> bool:
    """`advance` for those that are furthest behind, with mappers of one environment: a document is read, sent to the
    functions and parsed once for all of them. False when all have reached `target`."""
    indexes = {spec.signature: get_index(db, spec) for spec in specs}
    seqs = sorted({index.seq for index in indexes.values()})
    if seqs[0] >= target:
        return False
    if _together_elsewhere(db, list(indexes.values()), target):
        return True
    last = [spec for spec in specs if indexes[spec.signature].seq == seqs[0]]
    if not last:  # a reader has brought them further meanwhile
        return True
    upto = min([target, *seqs[1:2]])  # from there on with the next ones
    docs = db.changes_since(seqs[0], limit, upto=upto)
    rows = _map_together(last, [doc for doc in docs if _is_mapped(last[0], doc)])
    unknown = never_indexed(db, docs)
    for spec in last:
        index, emitted = indexes[spec.signature], rows[spec.signature]
        with index.building:
            if index.seq == seqs[0] and not index.closed:
                _begin(index, target)
                _apply(spec, index, target, docs, lambda _, found=emitted: found, unknown, upto)
                index.progress = index.progress if index.seq < target else None
    return True


def _together_elsewhere(db: Database, indexes: list[Index], target: int) -> bool:
    """A slice of the builds of those that are far behind and that nobody else is at, in the build process.

    Nobody waits for one index with the lock of another: a function that never ends would keep readers of all from theirs. One that
    readers keep up to date is left to them, who would wait for the whole slice.
    """
    behind = [index for index in indexes if is_far_behind(db, [index], target)]
    if not behind:
        return False
    with contextlib.ExitStack() as locks:
        free = [index for index in behind if _is_locked_now(index, locks)]
        for index in free:
            _begin(index, target)
        built = bool(free) and not any(index.closed for index in free) and _build_elsewhere(db, free, target)
        for index in free:
            index.progress = index.progress if index.seq < target else None
    if free:
        return built
    with behind[0].building:
        return True


def _with_others_elsewhere(db: Database, index: Index, target: int) -> bool:
    """A slice of the build of an index that is far behind, in the build process, with those that are as far and that nobody is at: what
    was written is read and parsed once for all of them. Where somebody waits for some of them, the others are left to the background. The
    index's lock is held.

    Who waits for it never waits for what the others lacked before. Where that fails each goes on alone until it was built so: a
    function that fails is in the way of no other.
    """
    if not is_far_behind(db, [index], target):
        return False
    with contextlib.ExitStack() as locks:
        others = [
            each for each in _sharing(db, index, target) if _is_locked_now(each, locks) and not each.closed
        ]
        if others:
            if not _is_built(db, [index, *others], target):
                for each in (index, *others):
                    each.is_built_alone = True
            return True
    built = _build_elsewhere(db, [index], target)
    index.is_built_alone = False
    return built


def _is_built(db: Database, indexes: list[Index], target: int) -> bool:
    """Whether the build process could go on with all of them."""
    for index in indexes:
        _begin(index, target)
    try:
        return _build_elsewhere(db, indexes, target)
    except CouchError as error:
        log.info("indexes of %s are built one by one: %s", db.name, error.reason)
        return False
    finally:
        for index in indexes:
            index.progress = index.progress if index.seq < target else None


def _sharing(db: Database, index: Index, target: int) -> list[Index]:
    """The other indexes whose functions may run beside those of this one, none of them behind it and each far behind the target: those
    that readers wait for, or else all."""
    if index.environment is None or index.is_built_alone:
        return []
    found = [
        other
        for other in list(db.handles.values())
        if isinstance(other, Index)
        and other is not index
        and other.environment == index.environment
        and not other.is_built_alone
        and other.seq >= index.seq
        and is_far_behind(db, [other], target)
    ]
    return [other for other in found if is_running(db, other.path.parent.name)] or found


def _is_locked_now(index: Index, locks: contextlib.ExitStack) -> bool:
    """Whether the index's lock was free; it is held until `locks` is closed."""
    acquired = index.building.acquire(blocking=False)
    if acquired:
        locks.callback(index.building.release)
    return acquired


def _build_elsewhere(db: Database, indexes: list[Index], target: int) -> bool:
    """A slice of a long build in the build process; the locks of the indexes are held."""
    return is_far_behind(db, indexes, target) and _elsewhere(db, "rows", indexes, target)


def is_far_behind(db: Database, indexes: list[Index], target: int) -> bool:
    """Whether they are worth the build process."""
    behind = target - min(index.seq for index in indexes)
    return db.builder is not None and db.builder.is_for("rows", behind)


def _elsewhere(db: Database, work: str, indexes: list[Index], target: int) -> bool:
    """Whether the build process did it; it knows no index that has been dropped from its design document."""
    if db.builder is None:
        return False
    fresh_to = {index.path.parent.name: index.fresh_to for index in indexes}
    try:
        return db.builder.run(db.name, db.directory, work, fresh_to, target)
    finally:
        for index in indexes:
            if not index.closed:
                index.reload()


def _begin(index: Index, target: int) -> None:
    """Note what a build, which may be one of many steps, started from; the index's lock is held."""
    index.progress = index.progress or (int(time.time()), index.seq)
    if index.seq == 0 and index.fresh_to is None:
        index.fresh_to = target


def _map(spec: IndexSpec, docs: list[StoredDoc]) -> dict[str, Emitted]:
    """What the functions of an index emit, by document."""
    live = [doc for doc in docs if _is_mapped(spec, doc)]
    return {doc.id: rows for doc, rows in zip(live, spec.mapper(live) if live else (), strict=True)}


def _map_together(specs: Sequence[IndexSpec], docs: list[StoredDoc]) -> dict[str, dict[str, Emitted]]:
    """Of each index what its functions emit, by document."""
    assert specs[0].shared is not None
    maps = [source for spec in specs for source in (spec.shared.maps if spec.shared else ())]
    emitted = specs[0].shared.run(maps, docs) if docs else []
    found: dict[str, dict[str, Emitted]] = {spec.signature: {} for spec in specs}
    places = [(spec.signature, view, len(spec.views)) for spec in specs for view in range(len(spec.views))]
    for doc, rows in zip(docs, emitted, strict=True):
        for (signature, view, views), own in zip(places, rows, strict=True):
            if own:  # of most functions there is nothing
                found[signature].setdefault(doc.id, [[] for _ in range(views)])[view] = own
    return found


def _apply(
    spec: IndexSpec,
    index: Index,
    target: int,
    docs: list[StoredDoc],
    emitted: Callable[[list[StoredDoc]], dict[str, Emitted]],
    unknown: Collection[str],
    upto: int | None = None,
) -> None:
    """The next changes of an index, whose lock is held; there are no more before `upto`, or `target`."""
    fresh = index.seq < (index.fresh_to or 0)
    if fresh:
        # A document that changes meanwhile moves behind `fresh_to`, so up to there none comes twice.
        docs = [doc for doc in docs if doc.seq <= (index.fresh_to or 0)]
    if docs:
        times = 1 + max(0, target - docs[-1].seq) / len(docs)
        changes = encode(spec, docs, emitted(docs), unknown)
        index.apply(changes, docs[-1].seq, fresh=fresh, times=times, unknown=unknown)
    else:
        end = target if upto is None else upto
        index.apply([], min(end, index.fresh_to or 0) if fresh else end)


def never_indexed(db: Database, docs: list[StoredDoc]) -> set[str]:
    """The documents that no index can have rows of; where something was purged an id may have been another document's."""
    return set() if db.counts["purge_seq"] else {doc.id for doc in docs if doc.is_first}


def _is_mapped(spec: IndexSpec, doc: StoredDoc) -> bool:
    return not doc.deleted and (spec.include_design or not doc.id.startswith("_design/"))


def builds(db: Database) -> list[dict[str, Any]]:
    """The builds under way, as `_active_tasks` shows them."""
    found = []
    for index in [handle for handle in list(db.handles.values()) if isinstance(handle, Index)]:
        if index.progress is None:
            continue
        started, first = index.progress
        total = max(1, db.update_seq - first)
        done = index.seq - first
        found.append(
            {
                "type": "indexer",
                "database": db.name,
                "design_document": index.design,
                "changes_done": done,
                "total_changes": total,
                "progress": done * 100 // total,
                "started_on": started,
                "updated_on": int(time.time()),
            }
        )
    return found


def summarise(db: Database, index: Index) -> None:
    with index.building:
        if index.stale and not index.closed:
            rows = sum(map(index.count, range(len(index.views))))
            if rows < CHEAP_ROWS or not _elsewhere(db, "summaries", [index], index.seq):
                index.summarise()


async def ready(db: Database, spec: IndexSpec, *, reduced: bool = True) -> Index:
    """The index, complete up to now, built beside the event loop; whoever waits for one index waits for one builder.

    Only who reads reductions waits for the summaries.
    """
    target = db.update_seq
    while (index := get_index(db, spec)).seq < target or (reduced and left_behind(db, index)):
        await asyncio.shield(start_building(db, spec, reduced=reduced))
    return index


def caught_up(db: Database, spec: IndexSpec) -> Index:
    """The index as `ready` left it, for a thread that answers: what was written since is not waited for again.

    Only one that was dropped in between is built anew.
    """
    index = get_index(db, spec)
    return index if index.seq else catch_up(db, spec)


def start_building(db: Database, spec: IndexSpec, *, reduced: bool = True) -> "asyncio.Future[Any]":
    """The build that is under way, or a new one."""
    return build_once(db, spec.signature, lambda: catch_up(db, spec, reduced=reduced))


def build_once(db: Database, signature: str, build: Callable[[], Any]) -> "asyncio.Future[Any]":
    """Run `build` in a builder thread, unless the index `signature` is being built already."""
    key = (BUILDING, signature)
    task = db.handles.get(key)
    if task is None or task.done():
        task = asyncio.get_running_loop().run_in_executor(_builders, build)
        task.add_done_callback(_report)
        db.handles[key] = task
    return task


def is_running(db: Database, signature: str) -> bool:
    task = db.handles.get((BUILDING, signature))
    return task is not None and not task.done()


def are_waited_for(db: Database) -> bool:
    """Whether a reader has any index built."""
    return any(
        key[0] == BUILDING and not task.done()
        for key, task in list(db.handles.items())
        if isinstance(key, tuple)
    )


def _report(task: "asyncio.Future[Any]") -> None:
    """Errors go to those who wait; this keeps the ones nobody waited for from being reported as lost."""
    if not task.cancelled() and task.exception() is not None:
        log.info("index build failed: %s", task.exception())


def drop_index(db: Database, signature: str) -> None:
    """Close and remove an index; who needs it from now on makes another one."""
    aside = db.index_path(f"dropped-{secrets.token_hex(8)}")
    index = db.handles.get(signature)
    with index.building if index is not None else contextlib.nullcontext(), db.opening:
        db.handles.pop(signature, None)
        if index is not None:
            index.closed = True
        with contextlib.suppress(FileNotFoundError):
            db.index_path(signature).rename(aside)
    if index is not None:
        index.close()
    shutil.rmtree(aside, ignore_errors=True)


def encode(
    spec: IndexSpec, docs: Sequence[StoredDoc], emitted: dict[str, Emitted], unknown: Collection[str]
) -> list[Change]:
    """The rows of a batch of changes. Deleted documents have none; of the `unknown`, those without rows change nothing."""
    nothing: Emitted = [[] for _ in spec.views]
    changes: list[Change] = []
    for doc in docs:
        per_view = emitted.get(doc.id, nothing)
        if doc.id in unknown and not any(per_view):
            continue
        prefix = partition_prefix(doc.id.partition(":")[0]) if spec.partitioned else b""
        changes.append(
            (
                doc.id,
                [
                    [
                        (prefix + view.order.encode(key), orjson.dumps(key), orjson.dumps(value))
                        for key, value in ordered(rows)
                    ]
                    for view, rows in zip(spec.views, per_view, strict=True)
                ],
            )
        )
    return changes


def ordered(rows: list[tuple[Any, Any]]) -> list[tuple[Any, Any]]:
    """Rows of one document: those with equal keys go by value, in Erlang's order of terms."""
    return rows if len(rows) < 2 else sorted(rows, key=lambda row: erlang_order(row[1]))


def erlang_order(value: Any) -> tuple[Any, ...]:
    """Number < atom < object < array < string; objects and arrays by length, then member by member."""
    if isinstance(value, bool) or value is None:
        return (1, {False: "false", None: "null", True: "true"}[value])
    if isinstance(value, int | float):
        return (0, value)
    if isinstance(value, dict):
        return (2, [((4, k), erlang_order(v)) for k, v in value.items()])
    if isinstance(value, list):
        return (3, [erlang_order(v) for v in value])
    return (4, value)
