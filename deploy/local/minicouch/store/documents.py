"""One database's SQLite file: documents, their other revisions, local documents, attachment bytes, counts."""

import contextlib
import os
import shutil
import sqlite3
import threading
import time
from asyncio import Future
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import orjson

from .durable import Log, connect
from .narrowing import Narrowing
from .recent import RecentDocuments
from .rows import COLUMNS, PURGED, StoredDoc, json_text
from .transactions import Transaction

SCHEMA = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT) WITHOUT ROWID;
CREATE TABLE docs (id TEXT PRIMARY KEY, seq INTEGER, rev TEXT, deleted INTEGER, body BLOB, atts BLOB, tree BLOB)
  WITHOUT ROWID;
CREATE UNIQUE INDEX docs_seq ON docs (seq);
CREATE TABLE revs (id TEXT, rev TEXT, deleted INTEGER, body BLOB, atts BLOB, PRIMARY KEY (id, rev)) WITHOUT ROWID;
CREATE TABLE local (id TEXT PRIMARY KEY, rev INTEGER, body BLOB) WITHOUT ROWID;
CREATE TABLE partitions (name TEXT PRIMARY KEY, docs INTEGER, deleted INTEGER, size INTEGER) WITHOUT ROWID;
CREATE TABLE blobs (digest TEXT PRIMARY KEY, data BLOB);
CREATE TABLE purges (seq INTEGER PRIMARY KEY, id TEXT, revs TEXT);
"""
PAGE = 500
RECENT_AT_ONCE = 200  # who reads more walks through the database, and would push out what is read again
MAX_ID = "\U0010ffff" * 4


class Documents:
    """Reads may come from any thread; writes go through `transaction()`, from the event loop."""

    def __init__(self, name: str, directory: Path) -> None:
        self.name = name
        self.directory = directory
        self.deleted = False
        self.visitors = 0  # requests and background work that are at it
        self.used = time.monotonic()
        self.handles: dict[Any, Any] = {}
        self.opening = (
            threading.Lock()
        )  # an index is opened, made or removed by one thread, and never while `drop` runs
        self._path = directory / "docs.sqlite"
        self._readers = threading.local()
        self._open_readers: list[sqlite3.Connection] = []
        self._lock = threading.Lock()
        self._writer = connect(self._path)
        self._log = Log(self._path, self._lock)
        meta = dict(self._writer.execute("SELECT key, value FROM meta"))
        self.uuid: str = meta["uuid"]
        self.created: str = meta["created"]
        self.properties: dict[str, Any] = orjson.loads(meta["properties"])
        self.partitioned: bool = bool(self.properties["partitioned"])
        self.counts: dict[str, int] = orjson.loads(meta["counts"])
        self._recent = RecentDocuments()
        self._recent.forget(None, self.counts)
        self._settings = {
            key: orjson.loads(value) for key, value in meta.items() if key.startswith("setting:")
        }

    @staticmethod
    def make(directory: Path, properties: dict[str, Any], uuid: str, created: str) -> None:
        directory.mkdir(parents=True)
        connection = sqlite3.connect(directory / "docs.sqlite", isolation_level=None)
        connection.execute("PRAGMA page_size=8192")
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("PRAGMA synchronous=FULL")
        counts = {"docs": 0, "deleted": 0, "external": 0, "seq": 0, "purge_seq": 0}
        connection.executescript("BEGIN;" + SCHEMA + "COMMIT;")
        connection.executemany(
            "INSERT INTO meta VALUES (?, ?)",
            [
                ("uuid", uuid),
                ("created", created),
                ("properties", orjson.dumps(properties).decode()),
                ("counts", orjson.dumps(counts).decode()),
            ],
        )
        connection.close()

    # reading

    def _reader(self) -> sqlite3.Connection:
        connection = getattr(self._readers, "connection", None)
        if connection is None:
            connection = self._readers.connection = connect(self._path, readonly=True)
            self._open_readers.append(connection)
        return connection

    @property
    def update_seq(self) -> int:
        return self.counts["seq"]

    @property
    def doc_count(self) -> int:
        return self.counts["docs"]

    @property
    def doc_del_count(self) -> int:
        return self.counts["deleted"]

    def get(self, docid: str) -> StoredDoc | None:
        """The winning revision, deleted or not."""
        if (known := self._recent.get(docid)) is not None:
            return known
        row = (
            self._reader()
            .execute(f"SELECT {COLUMNS} FROM docs WHERE id = ? AND deleted < {PURGED}", (docid,))
            .fetchone()
        )
        return StoredDoc(*row) if row else None

    def get_many(self, docids: list[str]) -> dict[str, StoredDoc]:
        found = {docid: doc for docid in docids if (doc := self._recent.get(docid)) is not None}
        missing = [docid for docid in docids if docid not in found] if len(found) < len(docids) else []
        if missing:
            state = self.counts
            rows = self._reader().execute(
                f"SELECT {COLUMNS} FROM docs WHERE id IN (SELECT value FROM json_each(?)) AND deleted < {PURGED}",
                (json_text(missing),),
            )
            read = {row[0]: StoredDoc(*row) for row in rows}
            if len(read) <= RECENT_AT_ONCE:
                self._recent.keep(read.values(), state)
            found |= read
        return found

    def stored_revision(self, docid: str, rev: str) -> StoredDoc | None:
        """A stored revision that is not the winner."""
        row = (
            self._reader()
            .execute(
                "SELECT id, 0, rev, deleted, body, atts FROM revs WHERE id = ? AND rev = ?", (docid, rev)
            )
            .fetchone()
        )
        return StoredDoc(*row) if row else None

    def stored_revisions(self, docid: str) -> set[str]:
        return {row[0] for row in self._reader().execute("SELECT rev FROM revs WHERE id = ?", (docid,))}

    def range(
        self,
        start: str | None = None,
        end: str | None = None,
        *,
        inclusive_end: bool = True,
        descending: bool = False,
        limit: int | None = None,
        skip: int = 0,
        include_deleted: bool = False,
    ) -> Iterator[StoredDoc]:
        """Documents in id order (code points); with `descending` start is the upper end, as in CouchDB."""
        after, before = (">", "<") if not descending else ("<", ">")
        first = f"{after}="
        last = f"{before}=" if inclusive_end else before
        remaining = limit
        while remaining is None or remaining > 0:
            count = PAGE if remaining is None else min(PAGE, remaining)
            where, values = [], []
            if start is not None:
                where.append(f"id {first} ?")
                values.append(start)
            if end is not None:
                where.append(f"id {last} ?")
                values.append(end)
            where.append(f"deleted < {PURGED if include_deleted else 1}")
            rows = (
                self._reader()
                .execute(
                    f"SELECT {COLUMNS} FROM docs {'WHERE ' + ' AND '.join(where) if where else ''} "
                    f"ORDER BY id {'DESC' if descending else ''} LIMIT {count} OFFSET {skip}",
                    values,
                )
                .fetchall()
            )
            for row in rows:
                yield StoredDoc(*row)
            if len(rows) < count:
                return
            if remaining is not None:
                remaining -= len(rows)
            start, first, skip = rows[-1][0], after, 0

    def count(self, start: str | None, end: str | None, *, inclusive_end: bool = True) -> int:
        """Live documents with start <= id <= end."""
        sql, values = "SELECT COUNT(*) FROM docs WHERE deleted = 0", []
        if start is not None:
            sql += " AND id >= ?"
            values.append(start)
        if end is not None:
            sql += " AND id <= ?" if inclusive_end else " AND id < ?"
            values.append(end)
        return self._reader().execute(sql, values).fetchone()[0]

    def changes_since(
        self,
        seq: int,
        limit: int | None = None,
        upto: int | None = None,
        narrowing: Narrowing | None = None,
    ) -> list[StoredDoc]:
        """Winners changed after a sequence, in sequence order, deleted ones and design documents included.

        A purged document comes as a deleted one with `purged` set, so that indexes forget it.
        """
        where, values = "seq > ?", [seq]
        if upto is not None:
            where += " AND seq <= ?"
            values.append(upto)
        if narrowing is not None:
            condition, more = narrowing.sql()
            where += f" AND {condition}" if condition else ""
            values += more
        rows = self._reader().execute(
            f"SELECT {COLUMNS} FROM docs WHERE {where} ORDER BY seq LIMIT ?",
            (*values, -1 if limit is None else limit),
        )
        return [StoredDoc(*row) for row in rows.fetchall()]

    def changes_before(self, seq: int, limit: int, narrowing: Narrowing | None = None) -> list[StoredDoc]:
        """The newest changes up to a sequence, newest first."""
        condition, values = narrowing.sql() if narrowing is not None else ("", [])
        rows = self._reader().execute(
            f"SELECT {COLUMNS} FROM docs WHERE seq <= ? AND deleted < {PURGED} {condition and 'AND ' + condition}"
            " ORDER BY seq DESC LIMIT ?",
            (seq, *values, limit),
        )
        return [StoredDoc(*row) for row in rows.fetchall()]

    def changes_after_count(self, seq: int) -> int:
        """Documents whose last change is behind a sequence, counted from the nearer end."""
        if seq >= self.update_seq:
            return 0
        counts = self.counts
        nearer = seq < counts["seq"] // 2
        sql = f"SELECT COUNT(*) FROM docs WHERE seq {'<=' if nearer else '>'} ?"
        if counts["purge_seq"]:
            sql += f" AND deleted < {PURGED}"
        found = self._reader().execute(sql, (seq,)).fetchone()[0]
        return max(0, counts["docs"] + counts["deleted"] - found) if nearer else found

    def partition_info(self, partition: str) -> tuple[int, int, int]:
        """Live documents, deleted ones, bytes."""
        row = (
            self._reader()
            .execute("SELECT docs, deleted, size FROM partitions WHERE name = ?", (partition,))
            .fetchone()
        )
        return row or (0, 0, 0)

    def local(self, docid: str) -> tuple[int, bytes] | None:
        return self._reader().execute("SELECT rev, body FROM local WHERE id = ?", (docid,)).fetchone()

    def local_docs(self, start: str = "", end: str = MAX_ID) -> list[tuple[str, int, bytes]]:
        return (
            self._reader()
            .execute("SELECT id, rev, body FROM local WHERE id >= ? AND id <= ? ORDER BY id", (start, end))
            .fetchall()
        )

    def blob(self, digest: str) -> bytes | None:
        row = self._reader().execute("SELECT data FROM blobs WHERE digest = ?", (digest,)).fetchone()
        return row[0] if row else None

    def purges(self) -> list[tuple[int, str, list[str]]]:
        rows = self._reader().execute("SELECT seq, id, revs FROM purges ORDER BY seq DESC")
        return [(seq, docid, orjson.loads(revs)) for seq, docid, revs in rows]

    def setting(self, key: str, default: Any = None) -> Any:
        """A per-database setting such as `security` or `revs_limit`."""
        return self._settings.get(f"setting:{key}", default)

    def file_size(self) -> int:
        sizes = (entry.stat().st_size for entry in os.scandir(self.directory) if entry.is_file())
        return sum(sizes)

    # writing

    @contextlib.contextmanager
    def transaction(self) -> Iterator[Transaction]:
        """All or nothing, visible at once, on disk only after `durable()`."""
        with self._lock:
            writer = self._writer
            writer.execute("BEGIN IMMEDIATE")
            try:
                change = Transaction(writer, dict(self.counts))
                yield change
                change.finish()
                writer.execute("COMMIT")
            except BaseException:
                if writer.in_transaction:
                    writer.execute("ROLLBACK")
                raise
            self.counts = change.counts
            self._recent.forget(change.written, self.counts)
            self._settings |= change.settings
            self._log.wrote(change.size)

    async def durable(self) -> None:
        await self._log.durable()

    def compact(self, stemmed: Callable[[bytes], tuple[bytes | None, list[str]]]) -> None:
        """Drop bodies of revisions that are no leaves, attachments nobody names, and empty the log.

        `stemmed` gives a tree back cut to the limit of revisions, with its leaves.
        """
        with self._lock:
            self._writer.execute("BEGIN IMMEDIATE")
            for docid, tree in self._writer.execute(
                "SELECT id, tree FROM docs WHERE tree IS NOT NULL"
            ).fetchall():
                kept, leaves = stemmed(tree)
                self._writer.execute("UPDATE docs SET tree = ? WHERE id = ?", (kept, docid))
                self._writer.execute(
                    "DELETE FROM revs WHERE id = ? AND rev NOT IN (SELECT value FROM json_each(?))",
                    (docid, json_text(leaves)),
                )
            self._writer.execute(
                "DELETE FROM blobs WHERE digest NOT IN (SELECT json_extract(j.value, '$.digest') FROM"
                " (SELECT atts FROM docs WHERE atts IS NOT NULL UNION ALL SELECT atts FROM revs WHERE atts IS NOT NULL),"
                " json_each(CAST(atts AS TEXT)) j)"
            )
            self._writer.execute("COMMIT")
            self.counts = dict(self.counts)
            self._recent.forget(None, self.counts)
        self._log.checkpoint()

    # life

    def shrink(self) -> None:
        """Give back the memory of pages that readers and the writer keep; reading goes on meanwhile."""
        for reader in list(self._open_readers):
            with contextlib.suppress(sqlite3.ProgrammingError):  # it was closed just now
                reader.execute("PRAGMA shrink_memory")
        with self._lock, contextlib.suppress(sqlite3.ProgrammingError):
            self._writer.execute("PRAGMA shrink_memory")

    def index_path(self, signature: str) -> Path:
        return self.directory / "indexes" / signature

    def index_dir(self, signature: str) -> Path:
        """Where the index is, made when it is not there."""
        directory = self.index_path(signature)
        directory.mkdir(parents=True, exist_ok=True)
        return directory

    def indexes(self) -> list[str]:
        root = self.directory / "indexes"
        return sorted(entry.name for entry in os.scandir(root)) if root.exists() else []

    @property
    def idle(self) -> bool:
        """Whether nobody is at it: no request, no build, no write on its way to the disk."""
        builds = [handle for handle in list(self.handles.values()) if isinstance(handle, Future)]
        return not self.visitors and not self._log.busy and all(build.done() for build in builds)

    def close(self, *, in_passing: bool = False) -> None:
        """`in_passing`: while the server goes on, so that a thread whose client has left may still be reading."""
        for handle in list(self.handles.values()):
            if hasattr(handle, "close"):
                handle.close()
        self.handles.clear()
        # SQLite crashes when a connection is closed under a thread that reads, so theirs close when the last reference goes.
        for connection in () if self.deleted or in_passing else self._open_readers:
            connection.close()
        self._open_readers.clear()
        with self._lock:  # nor is the writer's closed under a thread that writes
            self._writer.close()
        self._log.close()

    def drop(self) -> None:
        """Move the database out of the way and remove it."""
        grave = self.directory.with_name(f".deleted-{self.uuid}")
        with self.opening:  # or the folder of an index would be made anew after the database's is gone
            self.deleted = True
            self.directory.rename(grave)
        self.close()
        shutil.rmtree(grave, ignore_errors=True)
