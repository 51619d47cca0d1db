"""Keeps the indexes of written databases up to date in the background, so that readers find them warm (CouchDB: ken).

Every database that changed is looked at in each tick; its indexes are built when the writes have paused, or when many
changes wait, or have waited for long: many at once cost less, and what is written meanwhile comes first. After such a build the
next one begins at once where as many wait again. What comes in a rush, as an import does, goes to the build process as soon as it is worth a batch
there: whoever ends the import by reading finds most of it built. Work goes in small batches; while there are requests, pauses as long as the work
itself are between them, and readers' own builds go first.
"""

import asyncio
import logging
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial

from ..documents.database import Database
from ..errors import CouchError
from ..indexes import indexing, searching
from ..runtime import memory
from ..runtime.config import Config
from ..store import Documents, Store, StoredDoc
from ..store.indexes import Index
from . import declared

log = logging.getLogger("minicouch.warming")
TICK = 0.1
CALM = 0.4  # seconds without a write that are a pause
RUSH, RUSH_RATE = 1000, 1000.0  # so many changes, that came at so many a second: more of them are to come
MANY = 2000  # fewer than a process is started for: orders that come one by one never need it
LONGEST_WAIT = 10.0
BATCH = 250
MAX_PAUSE = 0.1
RETRY_AFTER = 60.0
TIDIED_EVERY = 0.4
MAX_OPEN = 32
UNUSED_FOR = 30.0
SETTLED = 1.0  # seconds after the last rush of rows: summing up at each pause of an import would take quadratic time
LATEST = 10.0  # seconds after it, where writing goes on without a pause
Step = Callable[[searching.Pause], bool]


@dataclass
class Watched:
    """What was seen of a database at the last tick, up to where its indexes were brought last, and since when changes wait."""

    seq: int = 0
    grew_at: float = field(default_factory=time.monotonic)  # when the sequence was seen to move
    warmed: int = -1
    waiting_since: float = field(default_factory=time.monotonic)
    summed_up: bool = True
    began_at: float = 0.0  # the last build
    leaves_few: bool = False  # the last build was one of a rush
    work: "asyncio.Future[None] | None" = None

    def is_due(self) -> bool:
        """Whether its indexes are to be brought up to date."""
        waiting, now = self.seq - self.warmed, time.monotonic()
        if now - self.grew_at >= CALM:
            return waiting != 0 or self.leaves_few or (not self.summed_up and now - self.began_at >= CALM)
        return self.are_many() or now - self.waiting_since >= LONGEST_WAIT

    def are_many(self) -> bool:
        """Whether so many changes wait that they are worth a build while more come."""
        return self.seq - self.warmed >= MANY or self.is_in_rush()

    def is_in_rush(self) -> bool:
        """Whether much has come in a short time since the last build; what was there before the first one has not."""
        waiting = self.seq - self.warmed
        lasted = time.monotonic() - self.waiting_since
        return self.warmed >= 0 and waiting >= max(RUSH, RUSH_RATE * lasted)

    def note(self, seq: int) -> None:
        """The sequence that the database has by now."""
        if seq == self.seq:
            return
        self.grew_at = time.monotonic()
        if self.seq == self.warmed:
            self.waiting_since = self.grew_at
        self.seq = seq


class Pauses:
    """Between pieces of work; each as long as the work before it kept this process busy if a request was answered meanwhile,
    else none."""

    def __init__(self, answered: Callable[[], object]) -> None:
        self._answered = answered
        self._begin()

    def __call__(self) -> None:
        if self._answered() != self._before:
            time.sleep(min(MAX_PAUSE, time.thread_time() - self._began))
        self._begin()

    def _begin(self) -> None:
        self._began, self._before = time.thread_time(), self._answered()


class Warmer:
    """One background thread for all databases. `[ken] enabled = false` in the configuration turns it off.

    `answered` gives something else whenever a request was answered.
    """

    def __init__(self, store: Store, config: Config, answered: Callable[[], object]) -> None:
        self._store = store
        self._config = config
        self._answered = answered
        self._watched: dict[Database, Watched] = {}
        self._failed: dict[str, float] = {}
        self._thread = ThreadPoolExecutor(1, "index-warmer")
        self._task: asyncio.Task[None] | None = None
        self._free_memory = memory.FreeMemory()
        self._closing = False

    def start(self) -> None:
        self._task = asyncio.get_running_loop().create_task(self._run())

    def close(self) -> None:
        """Stop after the batch under way."""
        self._closing = True
        if self._task is not None:
            self._task.cancel()
        self._thread.shutdown(wait=True, cancel_futures=True)

    async def _run(self) -> None:
        tidied_at = time.monotonic()
        while True:
            await asyncio.sleep(TICK)
            if self._config.get("ken", "enabled", "true") == "true":
                self._tick()
            if (now := time.monotonic()) - tidied_at >= TIDIED_EVERY:
                tidied_at = now
                self._store.close_idle(MAX_OPEN, now - UNUSED_FOR)
                self._give_memory_back()

    def _give_memory_back(self) -> None:
        """Once whenever requests and builds have paused for a while: what they needed is free by then."""
        if not self._free_memory.is_due(time.monotonic(), time.process_time()):
            return
        current = self._store.opened()
        for db in current:
            db.visitors += 1
        work = asyncio.get_running_loop().run_in_executor(self._thread, _shrink, current)
        work.add_done_callback(partial(_leave, current))

    def _tick(self) -> None:
        for signature, until in list(self._failed.items()):
            if until <= time.monotonic():
                self._failed.pop(signature, None)
        current = [db for db in self._store.opened() if isinstance(db, Database)]
        for gone in self._watched.keys() - set(current):
            del self._watched[gone]
        for db in current:
            seen = self._watched.setdefault(db, Watched(db.update_seq))
            seen.note(db.update_seq)
            if (seen.work is None or seen.work.done()) and seen.is_due():
                self._start(db, seen)

    def _start(self, db: Database, seen: Watched) -> None:
        seen.leaves_few = db.builder is not None and seen.is_in_rush()
        seen.warmed, seen.began_at = seen.seq, time.monotonic()
        db.visitors += 1
        seen.work = asyncio.get_running_loop().run_in_executor(self._thread, self._warm, db)
        seen.work.add_done_callback(partial(self._report, db))

    def _report(self, db: Database, work: "asyncio.Future[None]") -> None:
        """A database may be deleted under its builder; anything else that ends one is worth a line."""
        db.visitors -= 1
        seen = self._watched.get(db)
        if seen is not None:
            seen.summed_up = not self._unsummarised(db)
        if work.cancelled() or db.deleted or self._closing:
            return
        if error := work.exception():
            log.error("keeping %s warm ended", db.name, exc_info=error)
        elif seen is not None:
            seen.note(db.update_seq)
            if seen.are_many():  # a rush goes on
                self._start(db, seen)

    def _warm(self, db: Database) -> None:
        """Bring every index of the database to the sequence it has now. One that fails, whatever the reason, is left out
        for a while and keeps no other one waiting."""
        if self._leaves_few(db) and db.builder is not None:
            db.builder.start("rows")
        for signature, step in self._steps(db):
            if time.monotonic() < self._failed.get(signature, 0.0):
                continue
            try:
                self._work_off(db, step)
            except Exception as error:
                if db.deleted or self._closing:
                    return
                self._failed[signature] = time.monotonic() + RETRY_AFTER
                if isinstance(error, CouchError):
                    log.info("index %s of %s is not kept warm: %s", signature, db.name, error.reason)
                else:
                    log.exception("index %s of %s is not kept warm", signature, db.name)

    def _work_off(self, db: Database, step: Step) -> None:
        more, pauses = True, Pauses(self._answered)
        while more and not db.deleted and not self._closing:
            more = step(pauses)
            pauses()

    def _steps(self, db: Database) -> Iterator[tuple[str, Step]]:
        """For each index its name and what brings it one batch further."""
        target = db.update_seq
        docs = updated_by_itself(db)
        views_and_mango = list(declared.specs(db, docs))
        for name, together in sharing(views_and_mango).items():
            yield (
                f"{db.uuid} {name!r}",
                lambda _, together=together: self._advance_together(db, together, target),
            )
        for spec in views_and_mango:
            yield spec.signature, lambda _, spec=spec: self._advance(db, spec, target)
        for search in declared.search_specs(db, docs):
            yield (
                search.signature,
                lambda pause, search=search: searching.advance(db, search, target, pause),
            )

    def _leaves_few(self, db: Database) -> bool:
        """Whether what is too little for the build process is left to the next pass."""
        seen = self._watched.get(db)
        return seen is not None and seen.leaves_few

    def _advance_together(self, db: Database, together: list[indexing.IndexSpec], target: int) -> bool:
        indexes = [indexing.get_index(db, spec) for spec in together]
        for index in indexes:
            index.kept_warm = True
        if self._leaves_few(db) and not indexing.is_far_behind(db, indexes, target):
            return False
        more = indexing.advance_together(db, together, target, BATCH)
        for index in indexes:  # readers of one need not wait for the others
            self._summarise(db, index)
        return more

    def _advance(self, db: Database, spec: indexing.IndexSpec, target: int) -> bool:
        index = indexing.get_index(db, spec)
        index.kept_warm = True
        if self._leaves_few(db) and not indexing.is_far_behind(db, [index], target):
            return False
        if indexing.advance(db, spec, index, target, BATCH):
            return True
        self._summarise(db, index)
        return False

    def _summarise(self, db: Database, index: Index) -> None:
        """Sum the index up if it needs that and no rush of rows is under way: the next rows of an import would make it stale again, and
        whoever waits for rows would wait for this."""
        now, seen = time.monotonic(), self._watched.get(db)
        paused_at = max(index.grew_at, seen.grew_at) if seen is not None else index.grew_at
        is_settled = now - paused_at >= SETTLED and not indexing.are_waited_for(db)
        few_behind = db.update_seq - index.seq <= BATCH
        if index.stale and few_behind and (is_settled or now - index.grew_at >= LATEST):
            indexing.summarise(db, index)

    def _unsummarised(self, db: Database) -> bool:
        """Whether an index that is kept warm waits for its summaries."""
        now = time.monotonic()
        return any(
            isinstance(index, Index)
            and index.stale
            and index.kept_warm
            and now >= self._failed.get(name, 0.0)
            for name, index in list(db.handles.items())
        )


def _shrink(found: list[Documents]) -> None:
    for db in found:
        db.shrink()
        for index in [handle for handle in list(db.handles.values()) if isinstance(handle, Index)]:
            index.shrink()
    memory.give_back()


def _leave(found: list[Documents], _: object) -> None:
    for db in found:
        db.visitors -= 1


def updated_by_itself(db: Database) -> list[StoredDoc]:
    """The design documents that do not opt out with `"autoupdate": false`."""
    return [doc for doc in db.design_docs() if doc.dict().get("autoupdate") is not False]


def sharing(found: list[indexing.IndexSpec]) -> dict[bytes, list[indexing.IndexSpec]]:
    """The indexes whose functions can run together, by their environment."""
    together: dict[bytes, list[indexing.IndexSpec]] = {}
    for spec in found:
        if spec.shared is not None:
            together.setdefault(spec.shared.environment, []).append(spec)
    return together
