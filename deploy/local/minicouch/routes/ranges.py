"""The parameters of _all_docs and its kin, from a URL or a JSON body, and the span of ids they mean."""

import re
from dataclasses import dataclass, field
from typing import Any

import orjson

from .. import reading
from ..errors import bad_request, query_parse_error
from ..http import parse_json
from ..ids import check_partition

UNSET: Any = object()


@dataclass(slots=True)
class Query:
    """The parameters of one query. `lower`..`upper` are filled in by the range that is asked for."""

    start: Any = UNSET
    end: Any = UNSET
    keys: list[Any] | None = None
    has_range: bool = False
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
    """Parameters of the URL (JSON text) and of a POST body (JSON already). Errors: 400."""
    found = Query()
    for name, value in (body or {}).items():
        _parameter(found, name, value, decoded=True)
    for name, text in query.items():
        _parameter(found, name, parse_json(text.encode()) if name in JSON_PARAMETERS else text)
    if found.keys is not None and found.has_range:
        raise query_parse_error("`keys` is incompatible with `key`, `start_key` and `end_key`")
    return found


JSON_PARAMETERS = {"key", "keys", "startkey", "start_key", "endkey", "end_key"}


def _parameter(query: Query, name: str, value: Any, *, decoded: bool = False) -> None:
    match name:
        case "key":
            query.start = query.end = value
            query.has_range = True
        case "startkey" | "start_key":
            query.start, query.has_range = value, True
        case "endkey" | "end_key":
            query.end, query.has_range = value, True
        case "keys":
            if value is not None and not isinstance(value, list):
                raise bad_request("`keys` parameter must be an array.")
            query.keys = value
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
