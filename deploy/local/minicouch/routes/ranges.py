"""The parameters of _all_docs and its kin, from a URL or a JSON body, and the span of ids they mean."""

import re
from dataclasses import dataclass, field
from typing import Any

import orjson

from ..documents import reading
from ..documents.ids import check_partition
from ..encoding.client_json import parse_json
from ..errors import bad_request, query_parse_error

UNSET: Any = object()


@dataclass(slots=True)
class Query:
    """The parameters of one query. `lower`..`upper` are filled in by the range that is asked for."""

    start: Any = UNSET
    end: Any = UNSET
    start_docid: Any = UNSET
    end_docid: Any = UNSET
    keys: list[Any] | None = None
    descending: bool = False
    inclusive_end: bool = True
    limit: int | None = None
    skip: int = 0
    include_docs: bool = False
    update_seq: bool = False
    partition: str | None = None
    options: reading.ReadOptions = field(default_factory=reading.ReadOptions)


def parse_boolean(value: Any) -> bool:
    if isinstance(value, bool):
        return value
    if isinstance(value, str) and value.lower() in ("true", "false"):
        return value.lower() == "true"
    raise query_parse_error(f"Invalid boolean parameter: {orjson.dumps(value).decode()}")


def parse_count(value: Any, decoded: bool) -> int:
    """A count from the URL (text) or from a JSON body (a number)."""
    shown = (
        f"<<{orjson.dumps(value).decode()}>>"
        if decoded and isinstance(value, str)
        else orjson.dumps(value).decode()
    )
    if decoded:
        number = value if type(value) is int else None
    else:
        number = int(value) if re.fullmatch(r"[+-]?\d{1,18}", value, re.ASCII) else None
    if number is None:
        raise query_parse_error(f"Invalid value for integer: {shown}")
    if number < 0:
        raise query_parse_error(f"Invalid value for positive integer: {shown}")
    return min(number, 2**62)


def parse(query: dict[str, Any], body: dict[str, Any] | None = None) -> Query:
    """Parameters of a POST body (JSON already), then those of the URL (JSON text), which win. Errors: 400."""
    found = Query()
    _from_body(found, body or {})
    _from_url(found, query)
    return _settled(found)


def parse_one_of_several(query: dict[str, Any], item: dict[str, Any]) -> Query:
    """One of several queries: the URL's parameters hold for all but for `keys`, its own win. Errors: 400."""
    found = Query()
    _from_url(found, query)
    found.keys = None
    _from_body(found, item)
    if found.keys is not None and len(found.keys) == 1:
        found.keys = None
    return _settled(found)


def _from_body(found: Query, members: dict[str, Any]) -> None:
    for name, value in members.items():
        _parameter(found, name, value, decoded=True)


def _from_url(found: Query, parameters: dict[str, Any]) -> None:
    for name, text in parameters.items():
        _parameter(found, name, parse_json(text.encode()) if name in JSON_PARAMETERS else text)


def _settled(found: Query) -> Query:
    no_range = found.start is UNSET and found.end is UNSET
    if found.keys and not no_range and not [found.start] == [found.end] == found.keys:
        raise query_parse_error("`keys` is incompatible with `key`, `start_key` and `end_key`")
    if found.start is UNSET and found.partition is None:
        found.start = found.start_docid
    if found.end is UNSET and found.partition is None:
        found.end = found.end_docid
    return found


JSON_PARAMETERS = {"key", "keys", "startkey", "start_key", "endkey", "end_key"}


def _parameter(query: Query, name: str, value: Any, *, decoded: bool = False) -> None:
    match name:
        case "key":
            query.start = query.end = value
        case "startkey" | "start_key":
            query.start = value
        case "endkey" | "end_key":
            query.end = value
        case "startkey_docid" | "start_key_doc_id":
            query.start_docid = str(value)
        case "endkey_docid" | "end_key_doc_id":
            query.end_docid = str(value)
        case "keys":
            if not isinstance(value, list):
                raise bad_request("`keys` parameter must be an array.")
            query.keys = value
            if len(value) == 1:
                query.start = query.end = value[0]
        case "limit":
            query.limit = parse_count(value, decoded)
        case "skip":
            query.skip = parse_count(value, decoded)
        case "descending":
            query.descending = parse_boolean(value)
        case "inclusive_end":
            query.inclusive_end = parse_boolean(value)
        case "include_docs":
            query.include_docs = parse_boolean(value)
        case "update_seq":
            query.update_seq = parse_boolean(value)
        case "conflicts" | "attachments" | "att_encoding_info":
            if parse_boolean(value):
                query.options.flags.add(name)
        case "partition":
            check_partition(str(value))
            query.partition = str(value)
        case _:
            _refused(name, value, decoded)


def _refused(name: str, value: Any, decoded: bool) -> None:
    """Parameters that only views know."""
    if name == "reduce" and parse_boolean(value):
        raise query_parse_error("Reduce is invalid for map-only views.")
    if name == "group" and parse_boolean(value):
        raise query_parse_error("Invalid use of grouping on a map view.")
    if name == "group_level":
        parse_count(value, decoded)
        raise query_parse_error("Invalid use of grouping on a map view.")
    if name == "sorted":
        parse_boolean(value)
    if name in ("stable", "update") and str(value).lower() not in ("true", "false", "lazy"):
        raise query_parse_error(f"Invalid value for `{name}`.")
    if name == "stale" and value not in ("ok", "update_after"):
        raise query_parse_error("Invalid value for `stale`.")


@dataclass(slots=True)
class Span:
    """The ids between two ends, lowest first; None is open. `empty` when no string id can be in it."""

    low: str | None
    high: str | None
    high_inclusive: bool = True
    low_inclusive: bool = True
    empty: bool = False


def span(query: Query, low: str | None, high: str | None) -> Span:
    """Where query and namespace overlap. Numbers, lists and objects sort before every id."""
    first, last = (query.end, query.start) if query.descending else (query.start, query.end)
    inclusive = query.inclusive_end
    found = Span(low, high)
    if last is not UNSET:
        if not isinstance(last, str):
            found.empty = True
        elif high is None or last <= high:
            found.high, found.high_inclusive = last, query.descending or inclusive
    if isinstance(first, str) and (low is None or first >= low):
        found.low, found.low_inclusive = first, not query.descending or inclusive
    if found.low is not None and found.high is not None and found.low > found.high:
        found.empty = True
    return found
