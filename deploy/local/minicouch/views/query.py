"""Answers a view query from an index that is up to date: ranges, rows, linked documents, reductions, as JSON text."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import islice
from typing import Any

import orjson

from .. import reading
from ..collation import HIGHEST, sort_key
from ..database import Database
from ..errors import query_parse_error
from ..indexing import partition_prefix
from ..revisions import normal_rev
from ..store import StoredDoc
from ..store.indexes import EMPTY, END_DOCID, Connection, Index, Range, Row
from .custom import OVERFLOWED
from .design import View
from .parameters import ABSENT, ViewQuery

FINISHED_TOGETHER = 500
SEPARATOR = b",\r\n"
END = b"\r\n]}"
NO_MATCH = "No rows can match your key range, reverse your start_key and end_key or set descending="


def ranges_of(query: ViewQuery) -> list[Range]:
    """The ranges to read, in order: one, or one for each of `keys`. Errors: 400 for a range turned round."""
    prefix = partition_prefix(query.partition) if query.partition is not None else b""
    if query.keys is None:
        return [_range(query, prefix, query.start_key, query.end_key)]
    return [_range(query, prefix, key, key) for key in key_order(query)]


def key_order(query: ViewQuery) -> list[Any]:
    """`keys` in the order of their rows: backwards when descending, a repeated key at its last place."""
    if query.reduced:
        return query.keys
    keys = query.keys[::-1] if query.descending else query.keys
    last = {sort_key(key): place for place, key in enumerate(keys)}
    return sorted(keys, key=lambda key: last[sort_key(key)])


def _range(query: ViewQuery, prefix: bytes, start: Any, end: Any) -> Range:
    first = None if start is ABSENT else prefix + sort_key(start)
    last = None if end is ABSENT else prefix + sort_key(end)
    if first is not None and last is not None and first != last:
        _check_direction(query, first, last)
    if query.descending:
        hi = _upper(first, query.start_docid)
        lo = _lower(last, query.end_docid, query.inclusive_end)
    else:
        lo = None if first is None else (first, query.start_docid or "")
        hi = _upper(last, query.end_docid) if query.inclusive_end else _before(last, query.end_docid)
    if prefix:
        lo = lo or (prefix, "")
        hi = hi or (prefix + HIGHEST, "")
    return Range(lo, hi, query.descending)


def _upper(key: bytes | None, docid: str | None) -> tuple[bytes, str] | None:
    """The end of a range that includes `key` (up to and with `docid`)."""
    if key is None:
        return None
    return (key, END_DOCID if docid is None else docid + "\0")


def _before(key: bytes | None, docid: str | None) -> tuple[bytes, str] | None:
    return None if key is None else (key, docid or "")


def _lower(key: bytes | None, docid: str | None, inclusive: bool) -> tuple[bytes, str] | None:
    """The low end of a descending range."""
    if key is None:
        return None
    if inclusive:
        return (key, docid or "")
    return (key, END_DOCID if docid is None else docid + "\0")


def _check_direction(query: ViewQuery, first: bytes, last: bytes) -> None:
    if query.descending and first < last:
        raise query_parse_error(NO_MATCH + "false")
    if not query.descending and first > last:
        raise query_parse_error(NO_MATCH + "true")


def answer(db: Database, index: Index, view: View, query: ViewQuery, cap: int | None = None) -> bytes | None:
    """The result's JSON text without the closing newline; None when it has more than `cap` rows."""
    with index.reading() as connection:
        ranges = ranges_of(query)
        seq = db.seq_string(index.seq_of(connection)) if query.update_seq else None
        if query.reduced:
            rows: list[bytes] = list(
                islice(_reduced(index, connection, view, query, ranges), query.skip, _stop(query))
            )
            return head([], seq) + SEPARATOR.join(rows) + END
        found = _rows(index, connection, view, query, ranges, cap)
        if cap is not None and len(found) > cap:
            return None
        meta = _totals(index, connection, view, query, ranges) if query.sorted else []
    return head(meta, seq) + SEPARATOR.join(_shown(db, query, found)) + END


def head(meta: list[bytes], seq: str | None) -> bytes:
    if seq is not None:
        meta = [*meta, b'"update_seq":' + orjson.dumps(seq)]
    return b"{" + b",".join([*meta, b'"rows":[\r\n'])


def _stop(query: ViewQuery) -> int | None:
    return None if query.limit is None else query.skip + query.limit


def _totals(
    index: Index, connection: Connection, view: View, query: ViewQuery, ranges: list[Range]
) -> list[bytes]:
    """How many rows the view (or its partition) has, and how many of them come before the first one shown."""
    total, before = index.count_of(connection, view.number), 0
    if query.partition is not None:
        prefix = partition_prefix(query.partition)
        whole = Range((prefix, ""), (prefix + HIGHEST, ""), query.descending)
        before = index.offset(connection, view.number, whole)
        behind = index.offset(connection, view.number, replace(whole, descending=not query.descending))
        total -= before + behind
    offset = index.offset(connection, view.number, ranges[0]) - before + query.skip if ranges else 0
    return [b'"total_rows":%d' % total, b'"offset":%d' % min(total, offset)]


def _rows(
    index: Index,
    connection: Connection,
    view: View,
    query: ViewQuery,
    ranges: list[Range],
    cap: int | None,
) -> list[Row]:
    """The rows to show; one more than `cap` at most."""
    limit = query.limit if cap is None else cap + 1 if query.limit is None else min(query.limit, cap + 1)
    if len(ranges) == 1:
        return index.rows_in(connection, view.number, ranges[0], limit, query.skip)
    found: list[Row] = []
    skip = query.skip
    for rng in ranges:
        left = None if limit is None else limit - len(found)
        if left == 0:
            break
        part = index.rows_in(connection, view.number, rng, None if left is None else left + skip, 0)
        found += part[skip:]
        skip = max(0, skip - len(part))
    return found


def _shown(db: Database, query: ViewQuery, rows: list[Row]) -> Iterable[bytes]:
    if query.include_docs:
        return _with_docs(db, query, rows)
    return [b'{"id":%b,"key":%b,"value":%b}' % (orjson.dumps(docid), k, v) for _, docid, k, v in rows]


def _with_docs(db: Database, query: ViewQuery, rows: list[Row]) -> Iterator[bytes]:
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
    if v[:1] != b"{" or b'"_id"' not in v:
        return docid, None
    value = orjson.loads(v)
    if "_id" not in value:
        return docid, None
    rev = value.get("_rev")
    wanted = value["_id"]
    return (wanted if isinstance(wanted, str) else None), (normal_rev(rev) if isinstance(rev, str) else None)


def _reduced(
    index: Index, connection: Connection, view: View, query: ViewQuery, ranges: list[Range]
) -> Iterator[bytes]:
    assert view.reducer is not None
    found = _groups(index, connection, view, query, ranges)
    while part := list(islice(found, FINISHED_TOGETHER)):
        for (k, _), value in zip(part, view.reducer.finish([state for _, state in part]), strict=True):
            yield _reduced_row(k, value)


def _reduced_row(k: bytes, value: Any) -> bytes:
    if isinstance(value, dict) and list(value) == [OVERFLOWED]:
        return orjson.dumps({"key": None, "error": OVERFLOWED, "reason": value[OVERFLOWED]})
    return b'{"key":%b,"value":%b}' % (k, orjson.dumps(value))


def _groups(
    index: Index, connection: Connection, view: View, query: ViewQuery, ranges: list[Range]
) -> Iterator[tuple[bytes, Any]]:
    """(key JSON, state) of the rows to answer, before skip and limit."""
    if query.grouping is not None and query.keys is None:
        yield from index.groups(connection, view.number, ranges[0], query.grouping)
        return
    keys = [b"null"] * len(ranges) if query.grouping is None else [orjson.dumps(key) for key in query.keys]
    for k, state in zip(keys, index.reduce(connection, view.number, ranges), strict=True):
        if state is not EMPTY:
            yield k, state
