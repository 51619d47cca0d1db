"""Which rows of an index a query asks for."""

from typing import Any

from ..collation import HIGHEST
from ..errors import query_parse_error
from ..indexes.indexing import partition_prefix
from ..store.indexes import END_DOCID, KeyOrder, Range
from .parameters import ABSENT, ViewQuery

NO_MATCH = "No rows can match your key range, reverse your start_key and end_key or set descending="


def whole_partition(partition: str, descending: bool) -> Range:
    prefix = partition_prefix(partition)
    return Range((prefix, ""), (prefix + HIGHEST, ""), descending)


def ranges_of(query: ViewQuery, order: KeyOrder) -> list[Range]:
    """The ranges to read, in order: one, or one for each of `keys`. Errors: 400 for a range turned round."""
    prefix = partition_prefix(query.partition) if query.partition is not None else b""
    if query.keys is None:
        return [_range(query, order, prefix, query.start_key, query.end_key)]
    keys = reversed(query.keys) if query.descending and not query.reduced else query.keys
    return [_range(query, order, prefix, key, key) for key in keys]


def _range(query: ViewQuery, order: KeyOrder, prefix: bytes, start: Any, end: Any) -> Range:
    first = None if start is ABSENT else prefix + order.encode(start)
    last = None if end is ABSENT else prefix + order.encode(end)
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
