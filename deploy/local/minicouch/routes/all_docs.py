"""_all_docs, _design_docs and _local_docs: ranges and keys of ids, for the database or one partition."""

from collections.abc import AsyncIterator, Iterator
from itertools import islice

import orjson

from ..documents import reading
from ..documents.database import Database
from ..documents.ids import check_partition, check_partitioned_docid
from ..errors import bad_request, query_parse_error
from ..http.messages import Request, Response, raw_json
from ..store.documents import MAX_ID
from ..store.rows import StoredDoc
from .local import local_json
from .ranges import UNSET, Query, Span, parse, parse_one_of_several, span

CHUNK = 200
STREAM_ABOVE = 500


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
        return min(total, max(0, before) + query.skip)


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
    """Few rows are sent whole, in one go, as those of a partition mostly are; more of them in pieces."""
    head, rows = answer(db, name, query)
    first = list(rows if query.keys is not None else islice(rows, STREAM_ABOVE + 1))
    if len(first) <= STREAM_ABOVE or query.keys is not None:
        return raw_json(head + b",\r\n".join(first) + b"\r\n]}\n")
    return raw_json(_chunks(head, first, rows))


async def _chunks(head: bytes, first: list[bytes], rows: Iterator[bytes]) -> AsyncIterator[bytes]:
    yield head + b",\r\n".join(first)
    while batch := list(islice(rows, CHUNK)):
        yield b",\r\n" + b",\r\n".join(batch)
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
        if not isinstance(body.get("keys", []), list):
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
    query = _with_partition(request)
    parts = []
    for item in listed:
        parsed = parse_one_of_several(query, item)
        parsed.limit = request.server.config.limited(parsed.limit, parsed.partition is not None)
        head, rows = answer(request.db, _name(request), parsed)
        parts.append(head + b",\r\n".join(rows) + b"\r\n]}")
    return raw_json(b'{"results":[\r\n' + b",\r\n".join(parts) + b"\r\n]}\n")


ROUTES = [
    ("GET", "/{db}/_partition/{partition}/_all_docs", all_docs, "_all_docs of a partition"),
    ("POST", "/{db}/_partition/{partition}/_all_docs", all_docs, "_all_docs of a partition"),
    (
        "POST",
        "/{db}/_partition/{partition}/_all_docs/queries",
        queries,
        "_all_docs of a partition, several queries",
    ),
]
for _path in ("_all_docs", "_design_docs", "_local_docs"):
    ROUTES += [
        ("GET", f"/{{db}}/{_path}", all_docs, _path),
        ("POST", f"/{{db}}/{_path}", all_docs, _path),
        ("POST", f"/{{db}}/{_path}/queries", queries, f"{_path}/queries"),
    ]
