"""Persisted, sorted rows of one index (the views of a design document, or a Mango index) in a SQLite file of its own.

The file can always be thrown away and built again; `seq` says up to which change it is complete and is committed
together with the rows. Beside the rows a view keeps summaries (summaries.py).
"""

import logging
import sqlite3
import threading
import time
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import orjson

from .. import collation
from ..errors import CouchError, not_found
from ..reducers import Reducer, State
from . import blocks, groups, summaries
from .blocks import EMPTY, END_DOCID
from .groups import EXACT, ICU, Group, KeyOrder, Touched
from .index_rows import SCHEMA, VIEW_SCHEMA, Change, Range, Row, ViewSpec, scan, shape_of
from .summaries import Shape

__all__ = [
    "EMPTY",
    "END_DOCID",
    "EXACT",
    "ICU",
    "KeyOrder",
    "Change",
    "Connection",
    "Index",
    "Range",
    "Row",
    "ViewSpec",
]

Connection = sqlite3.Connection
FORMAT = 1
log = logging.getLogger("minicouch.indexes")
KEPT_READERS = 2
LOCK_SECONDS = 30.0
NO_DAMAGE = {
    sqlite3.SQLITE_BUSY,
    sqlite3.SQLITE_LOCKED,
    sqlite3.SQLITE_CANTOPEN,
    sqlite3.SQLITE_FULL,
    sqlite3.SQLITE_IOERR,
    sqlite3.SQLITE_NOMEM,
    sqlite3.SQLITE_PERM,
    sqlite3.SQLITE_READONLY,
}
"""What the machine or another process may cause: a file that is removed then is pulled from under whoever has it open,
whose next access is a disk I/O error."""
KEPT_LOG_BYTES = 4 << 20
REBUILD_FACTOR = 10  # keeping up costs about as much for one row as a rebuild does for this many


@dataclass
class Cache:
    """How much of a file a connection keeps in memory, and after how many pages its write-ahead log is moved into the file."""

    kib: int = 200
    log_pages: int = 1000


cache = Cache()


def made_of() -> str:
    """What the rows of a file depend on beside the functions: its tables and the order of its keys."""
    return f"{FORMAT}/{collation.stamp()}"


class Index:
    """Rows of the views `0..n-1`. Reading is safe from any thread; one thread writes at a time (`building`)."""

    def __init__(self, path: Path, views: Sequence[ViewSpec]) -> None:
        self.path = path
        self.views = tuple(views)
        self.building = threading.Lock()
        self.closed = False
        self.design = ""
        self.environment: bytes | None = None  # whose functions may run beside those of others with the same
        self.is_built_alone = False  # since a build together with others failed
        self.progress: tuple[int, int] | None = (
            None  # since when, and from which sequence, a build is under way
        )
        self.kept_warm = False  # somebody brings it up to date in the background
        self.grew_at = 0.0  # when more rows came than summaries keep up with (monotonic clock)
        self.fresh_to: int | None = None  # the first build goes to here, and meets no document twice
        self._readers: list[sqlite3.Connection] = []
        self._writer: sqlite3.Connection | None = None
        with self._write() as db:
            script = SCHEMA + "".join(VIEW_SCHEMA.format(n=n) for n in range(len(self.views)))
            for statement in filter(str.strip, script.split(";")):
                db.execute(statement)
            if db.execute("SELECT seq FROM meta").fetchone() is None:
                db.execute("INSERT INTO meta VALUES (0, ?, 0)", (made_of(),))
                for n in range(len(self.views)):
                    db.execute("INSERT INTO views VALUES (?, 0, 0, 0, '[]', 0, 0)", (n,))
            (found,) = db.execute("SELECT format FROM meta").fetchone()
            if str(found) != made_of():
                raise sqlite3.DatabaseError(f"it is of format {found}, not {made_of()}")
        self.stale = False
        self.reload()

    @classmethod
    def open(cls, path: Path, views: Sequence[ViewSpec]) -> "Index":
        """The index at `path`; a file that is damaged or of another format is thrown away and built again. Errors: OperationalError."""
        try:
            return cls(path, views)
        except sqlite3.DatabaseError as error:
            if getattr(error, "sqlite_errorcode", sqlite3.SQLITE_CORRUPT) & 0xFF in NO_DAMAGE:
                raise
            log.warning("%s is built again: %s", path, error)
            for name in ("", "-wal", "-shm"):
                path.with_name(path.name + name).unlink(missing_ok=True)
            return cls(path, views)

    # -- reading

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """A connection inside one read transaction, so that all it answers is of one moment."""
        if self.closed:
            raise not_found("Database does not exist.")
        try:
            db = self._readers.pop()
        except IndexError:
            db = self._connect_reader()
        try:
            db.execute("BEGIN")
            yield db
        finally:
            if db.in_transaction:
                db.execute("COMMIT")
            if len(self._readers) < KEPT_READERS and not self.closed:
                self._readers.append(db)
            else:
                db.close()

    def rows(self, view: int, rng: Range, limit: int | None = None, skip: int = 0) -> list[Row]:
        with self.reading() as db:
            return list(scan(db, view, rng, limit, skip))

    def scan(
        self, db: Connection, view: int, rng: Range, limit: int | None = None, skip: int = 0
    ) -> Iterator[Row]:
        """Rows one by one; `db` is from `reading()`, and must stay open."""
        return scan(db, view, rng, limit, skip)

    def count(self, view: int) -> int:
        with self.reading() as db:
            return self.count_of(db, view)

    def count_of(self, db: sqlite3.Connection, view: int) -> int:
        return db.execute("SELECT count FROM views WHERE no = ?", (view,)).fetchone()[0]

    def seq_of(self, db: sqlite3.Connection) -> int:
        return db.execute("SELECT seq FROM meta").fetchone()[0]

    def reduce(self, db: sqlite3.Connection, view: int, ranges: Sequence[Range]) -> list[State]:
        """One reduction for each range, EMPTY where there is no row; `db` is from `reading()`."""
        depth = shape_of(db, view).depth
        return blocks.reduce_ranges(db, view, self._reducer(view), depth, [rng.bounds for rng in ranges])

    def groups(self, db: sqlite3.Connection, view: int, rng: Range, level: int) -> Iterator[Group]:
        """(key JSON, reduction) of each group of `rng` in order; level 0 groups by the whole key."""
        shape, order = shape_of(db, view), self.views[view].order
        stored = shape.stored_level(level)
        return groups.groups(
            db, view, self._reducer(view), order, shape.depth, stored, rng.bounds, level, rng.descending
        )

    def offset(self, db: sqlite3.Connection, view: int, rng: Range) -> int:
        """How many rows of the view come before `rng`, in its direction."""
        shape = shape_of(db, view)
        lo, hi = rng.bounds
        if rng.descending:
            return shape.count - (shape.count if rng.hi is None else blocks.rank(db, view, shape.depth, hi))
        return 0 if rng.lo is None else blocks.rank(db, view, shape.depth, lo)

    def sizes(self) -> tuple[int, int]:
        """Bytes on disk, and bytes of the pages that hold rows and summaries."""
        names = (self.path, self.path.with_name(self.path.name + "-wal"))
        on_disk = sum(name.stat().st_size for name in names if name.exists())
        with self.reading() as db:
            pages, free, size = (
                db.execute(f"PRAGMA {name}").fetchone()[0]
                for name in ("page_count", "freelist_count", "page_size")
            )
            roots = db.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
        return on_disk, max(0, pages - free - roots) * size

    # -- writing

    def reload(self) -> None:
        """See what another process has written; `building` is held while one writes."""
        with self.reading() as db:
            self.seq, self._by_doc = db.execute("SELECT seq, by_doc FROM meta").fetchone()
            self.stale = bool(db.execute("SELECT max(stale) FROM views").fetchone()[0])
        if self.stale:
            self.grew_at = time.monotonic()

    def apply(
        self,
        changes: Sequence[Change],
        seq: int,
        *,
        fresh: bool = False,
        times: float = 1.0,
        unknown: Collection[str] = (),
    ) -> None:
        """Replace the rows of the changed documents and move to `seq`, in one transaction.

        `fresh`: none of the documents can have rows yet, and `unknown` those of which that is true. Summaries keep up
        with few changes; after many they are stale until `summarise`, also when only this and the calls to come, which
        together bring so many `times` as much, are many.
        """
        with self._write() as db:
            if not fresh:
                self._index_by_doc(db)
            for view, spec in enumerate(self.views):
                added, removed = self._replace(db, view, changes, fresh, unknown)
                if added or removed:
                    self._account(db, view, spec, added, removed, times)
            db.execute("UPDATE meta SET seq = ?", (seq,))
        self.seq = seq

    def summarise(self) -> None:
        """Build the summaries that many changes have left behind, and those whose shape no longer fits."""
        with self._write() as db:
            self._index_by_doc(db)
            for view, spec in enumerate(self.views):
                shape = shape_of(db, view)
                if shape.stale or summaries.outgrown(shape):
                    self._save(db, view, summaries.rebuild(db, view, spec.reducer, spec.order, shape.count))
            self.stale = False
        with self._write() as db:
            db.execute("PRAGMA shrink_memory")

    def shrink(self) -> None:
        """Give back the memory of spare readers, and what the writer has read."""
        with suppress(IndexError):
            while True:
                self._readers.pop().close()
        if not self.building.acquire(blocking=False):
            return  # it works
        try:
            if self._writer is not None:
                self._writer.execute("PRAGMA shrink_memory")
        finally:
            self.building.release()

    def compact(self) -> None:
        """Give back the space of rows that are gone."""
        with self.building:
            if self._writer is not None and not self.closed:
                self._writer.execute("VACUUM")
                self._writer.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def _account(
        self,
        db: sqlite3.Connection,
        view: int,
        spec: ViewSpec,
        added: list[Touched],
        removed: list[Touched],
        times: float,
    ) -> None:
        """`times`: how many times as much this and the calls to come will bring together."""
        db.execute("UPDATE views SET count = count + ? WHERE no = ?", (len(added) - len(removed), view))
        if not spec.summaries:
            return
        shape = shape_of(db, view)
        many = (len(added) + len(removed)) * times * REBUILD_FACTOR > shape.count
        if shape.stale or (shape.count >= summaries.SMALLEST and (many or shape.depth == 0)):
            db.execute("UPDATE views SET stale = 1 WHERE no = ?", (view,))
            self.stale, self.grew_at = True, time.monotonic()
        else:
            self._save(db, view, summaries.update(db, view, spec.reducer, spec.order, shape, added, removed))

    def _save(self, db: sqlite3.Connection, view: int, shape: Shape) -> None:
        db.execute(
            "UPDATE views SET stale = 0, depth = ?, levels = ?, longest = ?, built = ? WHERE no = ?",
            (shape.depth, orjson.dumps(shape.levels).decode(), shape.longest, shape.built, view),
        )

    def _replace(
        self,
        db: sqlite3.Connection,
        view: int,
        changes: Sequence[Change],
        fresh: bool,
        unknown: Collection[str],
    ) -> tuple[list[Touched], list[Touched]]:
        wanted = {
            docid: [(key, n, k, v) for n, (key, k, v) in enumerate(per_view[view])]
            for docid, per_view in changes
            if per_view[view] or docid not in unknown
        }
        removed: list[Touched] = []
        if not fresh:
            known = [docid for docid in wanted if docid not in unknown]
            gone: list[tuple[bytes, str, int]] = []
            for docid, old in self._rows_of(db, view, known).items():
                kept = set(old).intersection(wanted[docid])
                wanted[docid] = [row for row in wanted[docid] if row not in kept]
                for key, n, k, v in old:
                    if (key, n, k, v) not in kept:
                        gone.append((key, docid, n))
                        removed.append((key, docid, k, v))
            db.executemany(f"DELETE FROM rows_{view} WHERE key = ? AND docid = ? AND n = ?", gone)
        new = sorted([(key, docid, n, k, v) for docid, rows in wanted.items() for key, n, k, v in rows])
        reducer = self.views[view].reducer
        if reducer is not None and new:
            reducer.check([row[4] for row in new])
        db.executemany(f"INSERT INTO rows_{view} VALUES (?, ?, ?, ?, ?)", new)
        return [(key, docid, k, v) for key, docid, _, k, v in new], removed

    def _rows_of(
        self, db: sqlite3.Connection, view: int, docids: Sequence[str]
    ) -> dict[str, list[tuple[bytes, int, bytes, bytes]]]:
        found: dict[str, list[tuple[bytes, int, bytes, bytes]]] = {}
        for start in range(0, len(docids), 500):
            part = docids[start : start + 500]
            marks = ",".join("?" * len(part))
            sql = (
                f"SELECT docid, key, n, k, v FROM rows_{view} WHERE docid IN ({marks}) ORDER BY docid, key, n"
            )
            for docid, *row in db.execute(sql, part):
                found.setdefault(docid, []).append(tuple(row))
        return found

    def _index_by_doc(self, db: sqlite3.Connection) -> None:
        """The way from a document to its rows; made after the first build, which does not need it and is quicker so."""
        if not self._by_doc:
            for n in range(len(self.views)):
                db.execute(f"CREATE INDEX IF NOT EXISTS docs_{n} ON rows_{n} (docid)")
            db.execute("UPDATE meta SET by_doc = 1")
            self._by_doc = 1

    @contextmanager
    def _write(self) -> Iterator[sqlite3.Connection]:
        if self._writer is None:
            self._writer = self._connect()
        db = self._writer
        db.execute("BEGIN IMMEDIATE")
        try:
            yield db
            if db.in_transaction:
                db.execute("COMMIT")
        except BaseException as error:
            if db.in_transaction:
                db.execute("ROLLBACK")
            if isinstance(error, sqlite3.OperationalError) and "full" in str(error):
                raise CouchError(507, "insufficient_storage", "not enough room to update index") from None
            raise

    def _connect(self) -> sqlite3.Connection:
        db = sqlite3.connect(self.path, timeout=LOCK_SECONDS, isolation_level=None, check_same_thread=False)
        db.execute("PRAGMA journal_mode = WAL")
        db.execute("PRAGMA synchronous = NORMAL")
        db.execute(f"PRAGMA cache_size = -{cache.kib}")
        db.execute(f"PRAGMA wal_autocheckpoint = {cache.log_pages}")
        db.execute(f"PRAGMA journal_size_limit = {KEPT_LOG_BYTES}")
        return db

    def _connect_reader(self) -> sqlite3.Connection:
        try:
            return self._connect()
        except sqlite3.OperationalError:
            if self.path.exists():
                raise
            raise not_found("Database does not exist.") from None

    def _reducer(self, view: int) -> Reducer:
        reducer = self.views[view].reducer
        if reducer is None:
            raise ValueError(f"view {view} has no reduce")
        return reducer

    def close(self) -> None:
        self.closed = True
        with self.building:
            connections, self._readers = self._readers, []
            for db in (*connections, self._writer):
                if db is not None:
                    db.close()
            self._writer = None
