"""Answers a view query from an index: rows, linked documents, reductions, as JSON text in pieces."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import chain, islice
from typing import Any

import orjson

from ..documents import reading
from ..documents.database import Database
from ..documents.revisions import normal_rev
from ..encoding.whole_numbers import dumps
from ..store import StoredDoc
from ..store.indexes import EMPTY, Connection, Index, Row
from .custom import OVERFLOWED
from .design import View
from .parameters import ViewQuery
from .ranges import ranges_of, whole_partition

TOGETHER = 500
SEPARATOR = b",\r\n"
END = b"\r\n]}"


def small_answer(db: Database, index: Index, view: View, query: ViewQuery, most: int) -> bytes | None:
    """The whole answer of an unreduced query; None when it has more than `most` rows."""
    with index.reading() as connection:
        asked = Answer(db, index, view, query, connection)
        rows = list(islice(asked.rows(most + 1), most + 1))
        return None if len(rows) > most else asked.head() + SEPARATOR.join(asked.shown(rows)) + END


def pieces(db: Database, index: Index, view: View, query: ViewQuery) -> Iterator[bytes]:
    """The answer's JSON text without the closing newline, all of one moment of the index."""
    with index.reading() as connection:
        asked = Answer(db, index, view, query, connection)
        lead = asked.head()
        for part in asked.parts():
            yield lead + SEPARATOR.join(part)
            lead = SEPARATOR
        yield (b"" if lead is SEPARATOR else lead) + END


class Answer:
    """One query on one open index."""

    def __init__(
        self, db: Database, index: Index, view: View, query: ViewQuery, connection: Connection
    ) -> None:
        self._db, self._index, self._view, self._query, self._connection = db, index, view, query, connection
        self._ranges = ranges_of(query, view.order)
        self._stop = None if query.limit is None else query.skip + query.limit

    def head(self) -> bytes:
        meta = [] if self._query.reduced or not self._query.sorted else self._totals()
        if self._query.update_seq:
            seq = self._db.seq_string(self._index.seq_of(self._connection))
            meta.append(b'"update_seq":' + orjson.dumps(seq))
        return b"{" + b",".join([*meta, b'"rows":[\r\n'])

    def parts(self) -> Iterator[list[bytes]]:
        """The rows' JSON, some hundred at a time."""
        if self._query.reduced:
            found = islice(self._reduced(), self._query.skip, self._stop)
            while part := list(islice(found, TOGETHER)):
                yield part
            return
        rows = self.rows()
        while batch := list(islice(rows, TOGETHER)):
            yield list(self.shown(batch))

    def rows(self, most: int | None = None) -> Iterator[Row]:
        """The rows after skip and limit, or the first `most` of them."""
        query, scan = self._query, self._index.scan
        if len(self._ranges) == 1:
            limit = query.limit if most is None else min(most, most if query.limit is None else query.limit)
            return scan(self._connection, self._view.number, self._ranges[0], limit, query.skip)
        scans = (scan(self._connection, self._view.number, rng) for rng in self._ranges)
        return islice(chain.from_iterable(scans), query.skip, self._stop)

    def shown(self, rows: list[Row]) -> Iterable[bytes]:
        if self._query.include_docs:
            return with_documents(self._db, self._query, rows)
        return [b'{"id":%b,"key":%b,"value":%b}' % (orjson.dumps(docid), k, v) for _, docid, k, v in rows]

    def _totals(self) -> list[bytes]:
        """How many rows the view (or its partition) has, and how many come before the first one shown."""
        index, number, connection = self._index, self._view.number, self._connection
        total, before = index.count_of(connection, number), 0
        if self._query.partition is not None:
            whole = whole_partition(self._query.partition, self._query.descending)
            before = index.offset(connection, number, whole)
            total -= before + index.offset(
                connection, number, replace(whole, descending=not whole.descending)
            )
        offset = 0
        if self._ranges:
            offset = index.offset(connection, number, self._ranges[0]) - before + self._query.skip
        return [b'"total_rows":%d' % total, b'"offset":%d' % min(total, offset)]

    def _reduced(self) -> Iterator[bytes]:
        reducer = self._view.reducer
        assert reducer is not None
        found = self._groups()
        together = TOGETHER if self._stop is None else max(1, min(TOGETHER, self._stop))
        while part := list(islice(found, together)):
            for (k, _), value in zip(part, reducer.finish([state for _, state in part]), strict=True):
                yield reduced_row(k, value)

    def _groups(self) -> Iterator[tuple[bytes, Any]]:
        """(key JSON, state) of the rows to answer, before skip and limit."""
        query, number = self._query, self._view.number
        if query.grouping is not None and query.keys is None:
            yield from self._index.groups(self._connection, number, self._ranges[0], query.grouping)
            return
        grouped = query.grouping is not None
        keys = [orjson.dumps(key) for key in query.keys] if grouped else [b"null"] * len(self._ranges)
        for k, state in zip(keys, self._index.reduce(self._connection, number, self._ranges), strict=True):
            if state is not EMPTY:
                yield k, state


def reduced_row(k: bytes, value: Any) -> bytes:
    if isinstance(value, dict) and list(value) == [OVERFLOWED]:
        return orjson.dumps({"key": None, "error": OVERFLOWED, "reason": value[OVERFLOWED]})
    return b'{"key":%b,"value":%b}' % (k, dumps(value))


def with_documents(db: Database, query: ViewQuery, rows: list[Row]) -> Iterator[bytes]:
    """Rows with their document, or the one that the value's `_id` (and `_rev`) names."""
    linked = [_link(docid, v) for _, docid, _, v in rows]
    docs = db.get_many(list({docid for docid, _ in linked if docid is not None}))
    options = reading.ReadOptions(set(query.doc_flags))
    for (_, docid, k, v), (wanted, rev) in zip(rows, linked, strict=True):
        doc: StoredDoc | None = docs.get(wanted) if wanted is not None else None
        if rev is not None and wanted is not None:
            doc = db.get_rev(wanted, rev)
        elif doc is not None and doc.deleted:
            doc = None
        text = b"null" if doc is None else reading.render(db, doc, options)
        yield b'{"id":%b,"key":%b,"value":%b,"doc":%b}' % (orjson.dumps(docid), k, v, text)


def _link(docid: str, v: bytes) -> tuple[str | None, str | None]:
    if v[:1] != b"{" or (b'"_id"' not in v and b'"_rev"' not in v):
        return docid, None
    value = orjson.loads(v)
    rev = value.get("_rev")
    wanted = value.get("_id", docid)
    return (wanted if isinstance(wanted, str) else None), (normal_rev(rev) if isinstance(rev, str) else None)
