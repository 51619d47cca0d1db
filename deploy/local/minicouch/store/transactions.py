"""The writes of one transaction on a database's file."""

import sqlite3
from typing import Any

from .rows import COLUMNS, PURGED, Row, StoredDoc, json_text


class Transaction:
    """The writes of one transaction; `counts` becomes the database's when it commits."""

    def __init__(self, connection: sqlite3.Connection, counts: dict[str, int]) -> None:
        self._execute = connection.execute
        self._many = connection.executemany
        self._partitions: dict[str, list[int]] = {}
        self.counts = counts
        self.written: set[str] = set()
        self.settings: dict[str, Any] = {}
        self.size = 16384

    def get_many(self, docids: list[str]) -> dict[str, StoredDoc]:
        if len(docids) == 1:
            row = self._execute(
                f"SELECT {COLUMNS} FROM docs WHERE id = ? AND deleted < {PURGED}", docids
            ).fetchone()
            return {row[0]: StoredDoc(*row)} if row else {}
        rows = self._execute(
            f"SELECT {COLUMNS} FROM docs WHERE id IN (SELECT value FROM json_each(?)) AND deleted < {PURGED}",
            (json_text(docids),),
        )
        return {row[0]: StoredDoc(*row) for row in rows}

    def revision(self, docid: str, rev: str) -> StoredDoc | None:
        row = self._execute(
            "SELECT id, 0, rev, deleted, body, atts FROM revs WHERE id = ? AND rev = ?", (docid, rev)
        ).fetchone()
        return StoredDoc(*row) if row else None

    def next_seq(self) -> int:
        self.counts["seq"] += 1
        return self.counts["seq"]

    def put(self, rows: list[Row]) -> None:
        """Store winners. The caller tells `account` what changed."""
        self._many("INSERT OR REPLACE INTO docs VALUES (?, ?, ?, ?, ?, ?, ?)", rows)
        self.size += sum(len(row[4]) for row in rows)
        self.written.update(row[0] for row in rows)

    def put_revisions(self, rows: list[tuple[str, str, int, bytes, bytes | None]]) -> None:
        """Store revisions that are not winners: (id, rev, deleted, body, attachments)."""
        self._many("INSERT OR REPLACE INTO revs VALUES (?, ?, ?, ?, ?)", rows)

    def remove_revisions(self, docid: str, revs: list[str]) -> None:
        self._many("DELETE FROM revs WHERE id = ? AND rev = ?", [(docid, rev) for rev in revs])

    def forget(self, docid: str, revs: list[str]) -> bool:
        """Remove stored revisions; False when there was nothing to remove."""
        self.remove_revisions(docid, revs)
        return bool(revs)

    def purge_doc(self, docid: str) -> None:
        """Leave only a mark that the document was purged."""
        self._execute("DELETE FROM revs WHERE id = ?", (docid,))
        mark = (docid, self.next_seq(), "", PURGED, b"{}", None, None)
        self._execute("INSERT OR REPLACE INTO docs VALUES (?, ?, ?, ?, ?, ?, ?)", mark)
        self.written.add(docid)

    def account(self, partition: str | None, docs: int, deleted: int, size: int) -> None:
        """Add to the counts of the database and of a partition."""
        self.counts["docs"] += docs
        self.counts["deleted"] += deleted
        self.counts["external"] += size
        if partition is not None:
            sums = self._partitions.setdefault(partition, [0, 0, 0])
            sums[0] += docs
            sums[1] += deleted
            sums[2] += size

    def put_local(self, docid: str, rev: int, body: bytes) -> None:
        self._execute("INSERT OR REPLACE INTO local VALUES (?, ?, ?)", (docid, rev, body))

    def remove_local(self, docid: str) -> None:
        self._execute("DELETE FROM local WHERE id = ?", (docid,))

    def put_blob(self, digest: str, data: bytes) -> None:
        self._execute("INSERT OR IGNORE INTO blobs VALUES (?, ?)", (digest, data))
        self.size += len(data)

    def has_blob(self, digest: str) -> bool:
        return self._execute("SELECT 1 FROM blobs WHERE digest = ?", (digest,)).fetchone() is not None

    def set_setting(self, key: str, value: Any) -> None:
        self._execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (f"setting:{key}", json_text(value)))
        self.settings[f"setting:{key}"] = value

    def log_purge(self, docid: str, revs: list[str]) -> None:
        self.counts["purge_seq"] += 1
        self._execute(
            "INSERT INTO purges VALUES (?, ?, ?)", (self.counts["purge_seq"], docid, json_text(revs))
        )

    def finish(self) -> None:
        if self._partitions:
            self._many(
                "INSERT INTO partitions VALUES (?, ?, ?, ?) ON CONFLICT (name) DO UPDATE SET"
                " docs = docs + excluded.docs, deleted = deleted + excluded.deleted, size = size + excluded.size",
                [(name, *sums) for name, sums in self._partitions.items()],
            )
        self._execute("UPDATE meta SET value = ? WHERE key = 'counts'", (json_text(self.counts),))
