"""_changes: what happened since a sequence, at once or as it happens (longpoll, continuous, eventsource)."""

import asyncio
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any

import orjson

from ..documents import reading
from ..documents.database import Database
from ..errors import bad_request
from ..http.messages import Request, Response, raw_json
from ..runtime.threads import run_in_thread
from ..store import StoredDoc
from .documents import not_modified
from .filters import Filter, filter_for

CHUNK = 1000
STRETCH = 10_000
AT_ONCE = 20
DEFAULT_TIMEOUT = 60.0
FEEDS = ("normal", "continuous", "longpoll", "eventsource")
EVENT_STREAM = [("Content-Type", "text/event-stream"), ("Cache-Control", "no-cache")]


@dataclass(slots=True)
class Options:
    """Times are in seconds."""

    feed: str = "normal"
    since: str = "0"
    descending: bool = False
    limit: int | None = None
    all_leaves: bool = False
    include_docs: bool = False
    heartbeat: float | None = None
    timeout: float = DEFAULT_TIMEOUT
    read: reading.ReadOptions = field(default_factory=reading.ReadOptions)


def parse(request: Request) -> Options:
    query = request.query
    options = Options()
    feed = query.get("feed", "normal")
    options.feed = "continuous" if feed == "live" else feed
    if options.feed not in FEEDS:
        raise bad_request("Supported `feed` types: normal, continuous, live, longpoll, eventsource")
    options.since = query.get("since", query.get("last-event-id", "0"))
    if options.feed == "eventsource":
        options.since = request.headers.get("last-event-id", options.since)
    options.descending = query.get("descending") == "true"
    options.include_docs = query.get("include_docs") == "true"
    style = query.get("style", "main_only")
    if style not in ("main_only", "all_docs"):
        raise bad_request("`style` must be main_only or all_docs")
    options.all_leaves = style == "all_docs"
    options.read.flags = {
        name for name in ("conflicts", "attachments", "att_encoding_info") if query.get(name) == "true"
    }
    if "limit" in query:
        limit = _integer(query["limit"], "The limit parameter should be a non-negative integer")
        options.limit = limit if limit >= 0 else None
    if "timeout" in query:
        timeout = _integer(query["timeout"], "The timeout parameter should be a non-negative integer")
        options.timeout = max(0, timeout) / 1000
    if "heartbeat" in query:
        options.heartbeat = _heartbeat(query["heartbeat"])
    return options


def _integer(text: str, message: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise bad_request(message) from None


def _heartbeat(text: str) -> float:
    if text == "true":
        return DEFAULT_TIMEOUT
    try:
        number = int(text)
    except ValueError:
        raise bad_request(
            "Invalid heartbeat value. Expecting a positive integer value (in milliseconds)."
        ) from None
    if number <= 0:
        raise bad_request("The heartbeat value should be a positive integer (in milliseconds).")
    return number / 1000


class Reader:
    """Walks the changes of one request and remembers how far it came."""

    def __init__(self, db: Database, options: Options, chosen: Filter) -> None:
        self.db = db
        self.options = options
        self.filter = chosen
        self.seq = db.parse_seq(options.since)
        self.last = options.since if self.seq and "-" in options.since else db.seq_string(self.seq)
        self.left = options.limit

    @property
    def done(self) -> bool:
        return self.left is not None and self.left <= 0

    @property
    def behind(self) -> int:
        """How many sequences there are after the place reached."""
        return self.db.update_seq - self.seq

    async def batch(self) -> list[tuple[str, bytes]] | None:
        """The next changes as (sequence, JSON); None when there are no more now."""
        if self.done or self.behind <= 0:
            return None
        if self.behind <= AT_ONCE and self.filter.test is None:
            return self._next()
        return await run_in_thread(self._next)

    def _next(self) -> list[tuple[str, bytes]]:
        """The changes of the next stretch of sequences; a narrowed stretch is longer, as most of it is passed over."""
        upto = min(self.db.update_seq, self.seq + (CHUNK if self.filter.narrowing is None else STRETCH))
        docs = self.db.changes_since(self.seq, CHUNK, upto, self.filter.narrowing)
        seq = docs[-1].seq if len(docs) == CHUNK else upto
        candidates = [doc for doc in docs if not doc.purged]
        found: list[tuple[str, bytes]] = []
        for doc, chosen in zip(candidates, self._passed(candidates), strict=True):
            if not chosen:
                continue
            name = self.db.seq_string(doc.seq)
            found.append((name, self._row(name, doc, chosen)))
            if self.left is not None:
                self.left -= 1
                if self.left <= 0:
                    seq = doc.seq
                    break
        self.seq, self.last = seq, self.db.seq_string(seq)
        return found

    def _passed(self, docs: list[StoredDoc]) -> list[list[StoredDoc]]:
        """Of each document the revisions to name."""
        revisions = [reading.leaves(self.db, doc) if self.options.all_leaves else [doc] for doc in docs]
        if self.filter.test is None:
            return revisions
        flat = [doc for group in revisions for doc in group]
        answers = iter(self.filter.test(flat) if flat else ())
        return [[doc for doc in group if next(answers)] for group in revisions]

    async def backwards(self) -> AsyncIterator[list[tuple[str, bytes]]]:
        """The newest changes first, down to the start. `descending` has no way to wait for more."""
        before = self.db.update_seq
        while not self.done and before > 0:
            docs = await run_in_thread(self.db.changes_before, before, CHUNK, self.filter.narrowing)
            if not docs:
                break
            before = docs[-1].seq - 1
            yield await run_in_thread(self._judged, docs)

    def _judged(self, docs: list[StoredDoc]) -> list[tuple[str, bytes]]:
        found = []
        for doc in docs:
            chosen = self._passed([doc])[0]
            if not chosen:
                continue
            name = self.db.seq_string(doc.seq)
            found.append((name, self._row(name, doc, chosen)))
            self.last = name
            if self.left is not None:
                self.left -= 1
                if self.left <= 0:
                    break
        return found

    def _row(self, seq: str, doc: Any, chosen: list[Any]) -> bytes:
        revs = b",".join(b'{"rev":"' + item.rev.encode() + b'"}' for item in chosen)
        parts = [b'{"seq":"', seq.encode(), b'","id":', orjson.dumps(doc.id), b',"changes":[', revs, b"]"]
        if doc.deleted:
            parts.append(b',"deleted":true')
        if self.options.include_docs:
            body = reading.render(self.db, doc, self.options.read)
            parts += [b',"doc":', self.filter.shape(body) if self.filter.shape else body]
        parts.append(b"}")
        return b"".join(parts)

    async def end(self) -> bytes:
        pending = await run_in_thread(self.db.changes_after_count, self.seq) if self.behind else 0
        return b'"last_seq":"' + self.last.encode() + b'","pending":%d}\n' % pending


async def _ticks(reader: Reader) -> AsyncIterator[bool]:
    """Waits for changes: True when there may be some, False for each heartbeat; ends at the timeout."""
    options = reader.options
    while not reader.db.deleted:
        wait = options.heartbeat or options.timeout
        if await reader.db.changed(max(reader.seq, reader.db.parse_seq("0")), wait):
            yield True
        elif options.heartbeat:
            yield False
        else:
            return


class _Timeout:
    """How long changes that do not pass are looked at without a word: a longpoll then says how far it came, as CouchDB's does."""

    def __init__(self, options: Options) -> None:
        self._seconds = options.heartbeat or options.timeout
        self._end = time.monotonic() + self._seconds

    def is_over(self) -> bool:
        """Whether it ended; it then begins anew."""
        if time.monotonic() < self._end:
            return False
        self._end = time.monotonic() + self._seconds
        return True


async def _json(reader: Reader) -> AsyncIterator[bytes]:
    """normal and longpoll: one object. Nothing is sent before the first changes were judged: they may be an error.

    An empty piece after changes that did not pass lets a client that has left be noticed.
    """
    head, separator = b'{"results":[\n', b""
    async for rows in _waves(reader):
        if rows is None:
            yield head + b"\n"
            head = b""
        elif rows:
            yield head + separator + b",\r\n".join(row for _, row in rows)
            head, separator = b"", b",\r\n"
        else:
            yield b""
    yield head + b"\n],\n" + await reader.end() + b"\n"


async def _primed(pieces: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    """The same pieces, the first one made now, while an error can still be answered as one."""
    first = await anext(pieces, b"")

    async def rest() -> AsyncIterator[bytes]:
        yield first
        async for piece in pieces:
            yield piece

    return rest()


async def _waves(reader: Reader) -> AsyncIterator[list[tuple[str, bytes]] | None]:
    if reader.options.descending:
        async for rows in reader.backwards():
            yield rows
        return
    sent, timeout = False, _Timeout(reader.options)
    while (rows := await reader.batch()) is not None:
        yield rows
        sent = sent or bool(rows)
        if reader.options.feed == "longpoll" and not sent and timeout.is_over():
            if not reader.options.heartbeat:
                return
            yield None
        await asyncio.sleep(0)
    if reader.options.feed == "normal" or sent or reader.done:
        return
    yield None
    async for news in _ticks(reader):
        rows = await reader.batch() if news else None
        yield rows
        if rows:
            return


async def _lines(reader: Reader, write: Any, beat: bytes) -> AsyncIterator[bytes]:
    """continuous and eventsource: a piece for each batch of changes, for as long as the client stays."""
    while (rows := await reader.batch()) is not None:
        yield b"".join(write(seq, row) for seq, row in rows)
        await asyncio.sleep(0)
    if not reader.done:
        yield b"\n"
        async for news in _ticks(reader):
            if not news:
                yield beat
                continue
            while (rows := await reader.batch()) is not None:
                if rows:
                    yield b"".join(write(seq, row) for seq, row in rows)
            if reader.done:
                break
    if beat == b"\n":
        yield b"{" + await reader.end()


def _event(seq: str, row: bytes) -> bytes:
    return b"data: " + row + b'\nid: "' + seq.encode() + b'"\n\n'


async def changes(request: Request) -> Response:
    body: dict[str, Any] = {}
    if request.method == "POST":
        request.require_json()
        body = request.json_object() if request.body else {}
    options = parse(request)
    reader = Reader(request.db, options, await filter_for(request, body))
    if options.feed == "continuous":
        return raw_json(await _primed(_lines(reader, lambda _seq, row: row + b"\n", b"\n")))
    if options.feed == "eventsource":
        events = await _primed(_lines(reader, _event, b"event: heartbeat\ndata: \n\n"))
        return Response(200, events, list(EVENT_STREAM))
    if options.feed == "normal":
        etag = f'"{request.db.uuid[:16]}{request.db.update_seq}"'
        if (unchanged := not_modified(request, etag)) is not None:
            return unchanged
        return raw_json(await _primed(_json(reader)), headers=[("ETag", etag)])
    return raw_json(await _primed(_json(reader)))


ROUTES = [
    ("GET", "/{db}/_changes", changes, "_changes"),
    ("POST", "/{db}/_changes", changes, "_changes"),
]
