"""_all_docs, _design_docs and _local_docs: ranges and keys of ids, for the database or one partition."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import orjson

from .. import reading
from ..database import Database
from ..errors import bad_request, query_parse_error
from ..http import Request, Response, parse_json, raw_json
from ..ids import check_partition, check_partitioned_docid
from ..store.documents import MAX_ID
from ..store.rows import StoredDoc
from .documents import local_json

CHUNK = 200
UNSET: Any = object()
STREAM_ABOVE = 500


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


class Namespace:
    """Which documents a query ranges over: all, the design documents, or a partition."""

    def __init__(self, db: Database, name: str, partition: str | None) -> None:
        self.db = db
        self.low: str | None = None
        self.high: str | None = None
        if name == "_design_docs":
            self.low, self.high = "_design/", "_design0"
        if partition is not None:
            self.low, self.high = f"{partition}:", f"{partition};"
        self.partition = partition

    def total(self) -> int:
        if self.partition is not None:
            return self.db.partition_info(self.partition)[0]
        return self.db.doc_count if self.low is None else self.db.count(self.low, self.high)

    def docs(self, query: Query, ends: Span) -> Iterator[StoredDoc]:
        if ends.empty or query.limit == 0:
            return iter(())
        start, end, inclusive = ends.low, ends.high, ends.high_inclusive
        if query.descending:
            start, end, inclusive = end, start, ends.low_inclusive
        return self.db.range(
            start,
            end,
            inclusive_end=inclusive,
            descending=query.descending,
            limit=query.limit,
            skip=query.skip,
        )

    def offset(self, query: Query, ends: Span, total: int) -> int:
        """Documents of the namespace before the first one that the range may hold, and the skipped ones."""
        start = query.start
        if start is UNSET:
            before = 0
        elif query.descending:
            before = total - self.db.count(self.low, start) if isinstance(start, str) else total
        else:
            before = self.db.count(self.low, start, inclusive_end=False) if isinstance(start, str) else 0
        return min(total, min(before, total) + query.skip)


def row(db: Database, doc: StoredDoc, query: Query) -> bytes:
    docid = orjson.dumps(doc.id)
    head = b'{"id":' + docid + b',"key":' + docid + b',"value":{"rev":"' + doc.rev.encode()
    if not query.include_docs:
        return head + b'"}}'
    if not query.options.flags:
        return head + b'"},"doc":' + doc.json() + b"}"
    return head + b'"},"doc":' + reading.render(db, doc, query.options) + b"}"


def _head(total: int | None, offset: int | None, query: Query, seq: str | None) -> bytes:
    parts = [b'{"total_rows":', orjson.dumps(total), b',"offset":', orjson.dumps(offset)]
    if query.update_seq:
        parts += [b',"update_seq":', orjson.dumps(seq)]
    parts.append(b',"rows":[\r\n')
    return b"".join(parts)


def key_rows(db: Database, name: str, query: Query) -> list[bytes]:
    """Rows for `keys`, in their order: deleted documents show, unknown keys are errors."""
    keys = list(reversed(query.keys or [])) if query.descending else query.keys or []
    keys = keys[query.skip :]
    if query.limit is not None:
        keys = keys[: query.limit]
    if name == "_design_docs":
        keys = [key for key in keys if isinstance(key, str) and key.startswith("_design/")]
    texts = [key for key in keys if isinstance(key, str)]
    if db.partitioned:
        for key in texts:
            check_partitioned_docid(key)
    docs = db.get_many(texts)
    found = []
    for key in keys:
        doc = docs.get(key) if isinstance(key, str) else None
        if doc is None:
            found.append(b'{"key":' + orjson.dumps(key) + b',"error":"not_found"}')
        elif doc.deleted:
            shown = {"id": key, "key": key, "value": {"rev": doc.rev, "deleted": True}}
            found.append(orjson.dumps(shown | ({"doc": None} if query.include_docs else {})))
        else:
            found.append(row(db, doc, query))
    return found


def local_rows(db: Database, query: Query) -> list[bytes]:
    if query.keys is not None:
        keys = [key for key in query.keys if isinstance(key, str) and key.startswith("_local/")]
        wanted = [(key, db.local(key)) for key in keys]
    else:
        ends = span(query, "", MAX_ID)
        rows = [] if ends.empty else db.local_docs(ends.low or "", ends.high or MAX_ID)
        if query.descending:
            rows.reverse()
        wanted = [(docid, (rev, body)) for docid, rev, body in rows]
    wanted = wanted[query.skip :]
    if query.limit is not None:
        wanted = wanted[: query.limit]
    found = []
    for key, local in wanted:
        if local is None:
            found.append(orjson.dumps({"key": key, "error": "not_found"}))
            continue
        shown = orjson.dumps({"id": key, "key": key, "value": {"rev": f"0-{local[0]}"}})
        if query.include_docs:
            shown = shown[:-1] + b',"doc":' + local_json(key, *local) + b"}"
        found.append(shown)
    return found


def answer(db: Database, name: str, query: Query) -> tuple[bytes, Iterator[bytes]]:
    """The head of the result and its rows."""
    if name == "_local_docs":
        return _head(None, None, query, None), iter(local_rows(db, query))
    space = Namespace(db, name, query.partition)
    total = space.total()
    if query.keys is not None:
        return _head(total, None, query, None), iter(key_rows(db, name, query))
    ends = span(query, space.low, space.high)
    head = _head(total, space.offset(query, ends, total), query, db.seq_string(db.update_seq))
    return head, (row(db, doc, query) for doc in space.docs(query, ends))


def _response(db: Database, name: str, query: Query) -> Response:
    head, rows = answer(db, name, query)
    size = query.limit if query.limit is not None else db.doc_count
    if size <= STREAM_ABOVE or query.keys is not None:
        return raw_json(head + b",\r\n".join(rows) + b"\r\n]}\n")
    return raw_json(_chunks(head, rows))


async def _chunks(head: bytes, rows: Iterator[bytes]):
    batch: list[bytes] = []
    lead = head
    for item in rows:
        batch.append(item)
        if len(batch) == CHUNK:
            yield lead + b",\r\n".join(batch)
            lead, batch = b",\r\n", []
    if batch:
        yield lead + b",\r\n".join(batch)
    elif lead is head:
        yield head
    yield b"\r\n]}\n"


def _name(request: Request) -> str:
    return next(
        part for part in request.path.split("/") if part in ("_all_docs", "_design_docs", "_local_docs")
    )


def _with_partition(request: Request) -> dict[str, str]:
    partition = request.params.get("partition")
    if partition is None:
        return request.query
    if not request.db.partitioned:
        raise bad_request("database is not partitioned")
    check_partition(partition)
    if request.query.get("partition", partition) != partition:
        raise bad_request("Conflicting value for `partition` in query string")
    return request.query | {"partition": partition}


def all_docs(request: Request) -> Response:
    body = None
    query = _with_partition(request)
    if request.method == "POST":
        request.require_json()
        body = request.json_object()
        if not isinstance(body.get("keys"), list | None):
            raise bad_request("`keys` body member must be an array.")
    parsed = parse(query, body)
    if parsed.partition is not None and not request.db.partitioned:
        raise query_parse_error("`partition` parameter is not supported on this db")
    parsed.limit = request.server.config.limited(parsed.limit, parsed.partition is not None)
    return _response(request.db, _name(request), parsed)


def queries(request: Request) -> Response:
    """Several queries in one request."""
    listed = request.json_object().get("queries")
    if listed is None:
        raise bad_request("POST body must include `queries` parameter.")
    if not isinstance(listed, list) or not all(isinstance(item, dict) for item in listed):
        raise bad_request("`queries` must be an array of objects.")
    parts = []
    for item in listed:
        if isinstance(item.get("keys"), list) and len(item["keys"]) == 1:
            item = item | {"keys": None, "key": item["keys"][0]}
        head, rows = answer(request.db, _name(request), parse(request.query, item))
        parts.append(head + b",\r\n".join(rows) + b"\r\n]}")
    return raw_json(b'{"results":[\r\n' + b",\r\n".join(parts) + b"\r\n]}\n")


ROUTES = [
    ("GET", "/{db}/_partition/{partition}/_all_docs", all_docs, "_all_docs of a partition"),
    ("POST", "/{db}/_partition/{partition}/_all_docs", all_docs, "_all_docs of a partition"),
]
for _path in ("_all_docs", "_design_docs", "_local_docs"):
    ROUTES += [
        ("GET", f"/{{db}}/{_path}", all_docs, _path),
        ("POST", f"/{{db}}/{_path}", all_docs, _path),
        ("POST", f"/{{db}}/{_path}/queries", queries, f"{_path}/queries"),
    ]
