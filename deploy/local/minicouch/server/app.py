"""The server: one ASGI application that reads a request, finds its handler and writes the answer."""

import asyncio
import inspect
import logging
import os
import zlib
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

from .. import javascript
from ..access import requirements, users
from ..access.sessions import Sessions
from ..building.build_process import BuildProcesses
from ..building.warming import Warmer
from ..documents.database import Database
from ..documents.ids import Uuids
from ..documents.updates import Updates
from ..encoding.client_json import dumps
from ..errors import CouchError, not_found
from ..http.jsonp import with_callback
from ..http.messages import Request, Response, json_response
from ..http.routing import Router
from ..replication import Scheduler
from ..routes import ALLOW, ROUTES, WITHOUT_DATABASE
from ..runtime.config import Config
from ..runtime.faults import Dropped, Faults
from ..store import Store
from . import limits, plans
from .plans import Throttle
from .writes import OneWrite

log = logging.getLogger("minicouch")
MAX_BODY = 4 << 30
LAST_WORDS = 0.3  # seconds an answer under way may still take when the server stops
SERVER = b"CouchDB/3.5.0 (minicouch)"
Scope = dict[str, Any]
Receive = Callable[[], Awaitable[dict[str, Any]]]
Send = Callable[[dict[str, Any]], Awaitable[None]]
REQUEST_ID_CHARS = set("0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-_")


class Server:
    """What handlers reach through `request.server`: the store, the settings, sessions, fresh ids."""

    def __init__(
        self,
        store: Store,
        config: Config,
        admins: dict[str, str] | None = None,
        url: str = "http://127.0.0.1:5984",
        builder: BuildProcesses | None = None,
    ) -> None:
        self.store = store
        self.config = config
        self.sessions = Sessions(self, admins or {})
        self.uuids = Uuids()
        self.scheduler = Scheduler(url, config.get("couchdb", "uuid") or "")
        self.updates = Updates()
        self.answered: Counter[int] = Counter()
        self.faults: Faults | None = None
        self.throttle: Throttle | None = None
        """Of the plan of Cloudant's whose limits are kept here."""
        self.warmer = Warmer(store, config, lambda: tuple(self.answered.values()))
        self.router = Router(ROUTES, ALLOW)
        self._builder = builder
        self._stopping = asyncio.Event()

    @property
    def max_document_size(self) -> int:
        size = int(self.config.get("couchdb", "max_document_size") or 8_000_000)
        return size if self.throttle is None else min(size, plans.MAX_DOCUMENT)

    @property
    def units_used(self) -> dict[str, int] | None:
        """By class, since the start; None without a plan of Cloudant's."""
        return None if self.throttle is None else self.throttle.total

    def database(self, name: str) -> Database:
        found = self.store.open(name)
        assert isinstance(found, Database)
        return found

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._lifespan(receive, send)
            return
        request = _request(scope)
        try:
            await self._serve(request, scope, receive, send)
        finally:
            request.leave()

    async def _serve(self, request: Request, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            try:
                response = await self._answer(request, scope, receive)
            except CouchError as error:
                response = error_response(error)
            if self.config.jsonp and "callback=" in request.query_string:
                response = with_callback(request, response)
        except asyncio.CancelledError:
            raise
        except Dropped:
            await _drop(receive)
            return
        except Exception:
            response = self._failed(request)
        self.answered[response.status] += 1
        await self._send(request, response, receive, send)

    def _failed(self, request: Request) -> Response:
        """A request that ran into something unforeseen; often its database was dropped under it."""
        database = getattr(request, "db", None)
        if database is not None and database.deleted:
            return error_response(not_found("Database does not exist."))
        log.exception("%s %s failed", request.method, request.path)
        return json_response({"error": "unknown_error", "reason": "internal error, see the log"}, 500)

    async def _answer(self, request: Request, scope: Scope, receive: Receive) -> Response:
        request.server = self
        request.receive = receive
        if request.method not in ("GET", "HEAD"):
            size = self.config.max_request
            size = size if self.throttle is None else min(size, plans.MAX_BODY)
            request.body = await read_body(request, receive, size)
        if self.throttle is None:
            return await self._authenticated(request)
        try:
            async with asyncio.timeout(limits.time_limit(request.path)) as budget:
                return await self._metered(request, self.throttle)
        except TimeoutError:
            if budget.expired():
                raise limits.timed_out() from None
            raise

    async def _authenticated(self, request: Request) -> Response:
        if self.faults is not None:
            await self.faults.strike(request.method, request.path)
        if len(request.path) > 8000:
            raise CouchError(414, "too_long", "the request uri is too long")
        request.user = await self.sessions.authenticate(request)
        if self.throttle is not None:
            self.throttle.admit(request.method, request.path, request.body)
            limits.check_account(request, self.throttle.plan, self.store, self.config)
        return await self.dispatch(request)

    async def _metered(self, request: Request, throttle: Throttle) -> Response:
        """As Cloudant answers it, with the limits that it keeps."""
        limits.check_path(request.path)
        return throttle.counted(request, await self._authenticated(request))

    def check_designs(self, db: Database, designs: dict[str, dict[str, Any]]) -> None:
        """Whether `db` may have these design documents, by id. Errors: 400 for one index too many under a plan of Cloudant's."""
        if self.throttle is not None and designs and db.partitioned:
            others = (doc.dict() for doc in db.design_docs() if doc.id not in designs)
            limits.check_partition_indexes([*designs.values(), *others])

    async def dispatch(self, request: Request) -> Response:
        """Find and call the handler of a request whose user is known; a rewritten request comes here again."""
        parts = [part for part in request.path.split("/", 3) if part]
        requirements.check_path(request, parts)
        handler, request.params = self.router.find(request.method, request.path, self.config.plus_is_space)
        name = request.params.get("db")
        if name is not None and handler not in WITHOUT_DATABASE:
            request.visit(self.database(name))
            request.db.on_change = self.updates.note
            requirements.check_database(request, request.db, parts[1] if len(parts) > 1 else None)
            if self.throttle is not None:
                written = limits.designs_written(request.method, request.path, request.body)
                self.check_designs(request.db, written)
        result = handler(request)
        if inspect.isawaitable(result):
            result = await result
        return result

    async def _send(self, request: Request, response: Response, receive: Receive, send: Send) -> None:
        headers = [
            (name.encode("latin-1"), value.encode("latin-1", "replace")) for name, value in response.headers
        ]
        headers += [
            (b"Server", SERVER),
            (b"X-Couch-Request-ID", request.request_id.encode()),
            (b"X-CouchDB-Body-Time", b"0"),
        ]
        if request.cookie is not None:
            headers.append((b"Set-Cookie", request.cookie.encode("latin-1")))
        body = response.body
        if isinstance(body, bytes):
            headers.append((b"Content-Length", str(len(body)).encode()))
            if request.real_method == "HEAD":
                body = b""
            with OneWrite(send):
                await send({"type": "http.response.start", "status": response.status, "headers": headers})
                await send({"type": "http.response.body", "body": body})
            return
        await send({"type": "http.response.start", "status": response.status, "headers": headers})
        if request.real_method == "HEAD":
            await send({"type": "http.response.body", "body": b""})
            return
        await self._stream(body, receive, send)

    async def _stream(self, body: AsyncIterator[bytes], receive: Receive, send: Send) -> None:
        """Send pieces as they come; stop when the client leaves or the server does, which a waiting feed would not notice."""
        writer = asyncio.ensure_future(_write(body, send))
        watcher = asyncio.ensure_future(_gone(receive))
        stop = asyncio.ensure_future(self._stopping.wait())
        try:
            await asyncio.wait((writer, watcher, stop), return_when=asyncio.FIRST_COMPLETED)
            if stop.done():
                await asyncio.wait((writer, watcher), timeout=LAST_WORDS, return_when=asyncio.FIRST_COMPLETED)
            if writer.done():
                writer.result()
            elif not watcher.done():
                _hang_up(receive)
                await watcher
        finally:
            writer.cancel()
            watcher.cancel()
            stop.cancel()

    def stop(self) -> None:
        """Begin to stop: JavaScript and builds under way fail, feeds are cut; other requests are answered."""
        javascript.pool.stop()
        if self._builder is not None:
            self._builder.stop()
        self._stopping.set()

    async def _lifespan(self, receive: Receive, send: Send) -> None:
        while True:
            message = await receive()
            if message["type"] == "lifespan.startup":
                self.scheduler.follow(self.database("_replicator"))
                if self.config.users_db in self.store:
                    await users.ensure_design(self.database(self.config.users_db))
                self.warmer.start()
                await send({"type": "lifespan.startup.complete"})
            else:
                self.stop()
                self.scheduler.close()
                self.warmer.close()
                self.store.close()
                await send({"type": "lifespan.shutdown.complete"})
                return


async def _write(body: AsyncIterator[bytes], send: Send) -> None:
    async for chunk in body:
        if chunk:
            await send({"type": "http.response.body", "body": chunk, "more_body": True})
    await send({"type": "http.response.body", "body": b""})


async def _gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


async def _drop(receive: Receive) -> None:
    """Close the connection unanswered."""
    _hang_up(receive)
    await _gone(receive)


def _hang_up(receive: Receive) -> None:
    """Cut the connection. ASGI has no word for it, so this takes uvicorn's own transport."""
    receive.__self__.transport.abort()  # type: ignore[attr-defined]


def _request(scope: Scope) -> Request:
    headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
    raw_path = scope["raw_path"].decode("latin-1")
    request = Request(scope["method"], raw_path, scope["query_string"].decode("latin-1"), headers)
    request.scheme = scope.get("scheme", "http")
    request.peer = (scope.get("client") or ("",))[0]
    given = headers.get("x-couch-request-id", "")
    valid = 0 < len(given) <= 36 and REQUEST_ID_CHARS.issuperset(given)
    request.request_id = given if valid else os.urandom(5).hex()
    override = headers.get("x-http-method-override")
    if override and request.method == "POST":
        request.method = override
    return request


async def read_body(request: Request, receive: Receive, limit: int) -> bytes:
    """The whole body, gunzipped. Errors: 400 for damaged gzip, 413, 415 for other encodings."""
    parts = []
    size = 0
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise CouchError(400, "bad_request", "the request ended early")
        chunk = message.get("body", b"")
        size += len(chunk)
        if size > limit:
            raise CouchError(413, "too_large", "the request entity is too large")
        parts.append(chunk)
        if not message.get("more_body"):
            break
    body = parts[0] if len(parts) == 1 else b"".join(parts)
    encoding = request.headers.get("content-encoding")
    if encoding is None or encoding == "identity" or request.params.get("raw"):
        return body
    return body if _is_attachment(request) else gunzip(body, encoding)


def _is_attachment(request: Request) -> bool:
    """Whether the body is an attachment's, whose encoding is kept."""
    parts = [part for part in request.path.split("/") if part]
    if request.method != "PUT" or len(parts) < 3 or parts[1] in ("_local", "_node"):
        return False
    return parts[1] != "_design" or len(parts) > 3


def gunzip(body: bytes, encoding: str) -> bytes:
    if encoding != "gzip":
        raise CouchError(415, "bad_content_type", f"{encoding} is not a supported content encoding.")
    try:
        unpacker = zlib.decompressobj(31)
        plain = unpacker.decompress(body, MAX_BODY)
    except zlib.error:
        raise CouchError(400, "bad_request", "Request body is not properly gzipped.") from None
    if not unpacker.eof:
        raise CouchError(400, "bad_request", "Request body is not properly gzipped.")
    return plain


def error_response(error: CouchError) -> Response:
    more = error.members if isinstance(error, plans.TooManyRequests) else {}
    response = json_response({"error": error.error, "reason": error.reason, **more}, error.status)
    response.headers += error.headers
    return response


__all__ = ["Server", "dumps"]
