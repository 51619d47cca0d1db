"""Requests and responses as the route modules see them, and what they may ask the server for; nothing here knows ASGI."""

from collections import Counter
from collections.abc import AsyncIterator, Callable
from typing import Any, Protocol
from urllib.parse import unquote_plus, unquote_to_bytes

from ..documents.auth import UserCtx
from ..documents.database import Database
from ..documents.ids import Uuids
from ..documents.updates import Updates
from ..encoding.client_json import dumps, parse_json
from ..errors import CouchError, bad_request
from ..replication import Scheduler
from ..runtime.config import Config
from ..runtime.faults import Faults
from ..store import Store

Headers = list[tuple[str, str]]
JSON = "application/json"


class Response:
    """Status, body (bytes, or an async iterator sent chunked) and headers. `read`: rows of an index and documents that were read for it, where
    it does not show them."""

    __slots__ = ("body", "headers", "read", "status")

    def __init__(
        self, status: int = 200, body: bytes | AsyncIterator[bytes] = b"", headers: Headers | None = None
    ) -> None:
        self.status = status
        self.body = body
        self.headers = headers if headers is not None else []
        self.read: tuple[int, int] | None = None


class Request:
    """One HTTP request: `params` are decoded path parts, `query` decoded (the last value wins), `body` is read whole."""

    __slots__ = (
        "_json",
        "_query",
        "body",
        "cookie",
        "db",
        "headers",
        "method",
        "params",
        "path",
        "peer",
        "query_string",
        "real_method",
        "receive",
        "request_id",
        "rewritten_from",
        "scheme",
        "server",
        "user",
    )

    db: Database
    user: UserCtx
    server: "Server"
    receive: Callable[[], Any]

    def __init__(
        self, method: str, path: str, query_string: str, headers: dict[str, str], body: bytes = b""
    ) -> None:
        self.method = method
        self.real_method = method
        self.path = path
        self.query_string = query_string
        self.headers = headers
        self.body = body
        self.params: dict[str, str] = {}
        self.request_id = ""
        self.scheme = "http"
        self.peer = ""
        self.rewritten_from: Request | None = None
        self.cookie: str | None = None
        self._query: dict[str, str] | None = None
        self._json: Any = None

    def visit(self, db: Database) -> None:
        """Be at a database, which is not closed meanwhile."""
        self.leave()
        self.db = db
        db.visitors += 1

    def leave(self) -> None:
        """No longer be at the database, if there is one."""
        if (db := getattr(self, "db", None)) is not None:
            db.visitors -= 1

    @property
    def query(self) -> dict[str, str]:
        if self._query is None:
            self._query = parse_query(self.query_string)
        return self._query

    @property
    def parts(self) -> list[str]:
        """The parts of the path, decoded."""
        return [unquote_path(part) for part in self.path.split("/") if part]

    @property
    def is_admin(self) -> bool:
        return "_admin" in self.user.roles

    def json(self) -> Any:
        """The body parsed. Errors: 400 when it is not UTF-8 JSON."""
        if self._json is None:
            self._json = parse_json(self.body)
        return self._json

    def json_object(self) -> dict[str, Any]:
        body = self.json()
        if not isinstance(body, dict):
            raise bad_request("Request body must be a JSON object")
        return body

    def require_json(self) -> None:
        """Refuse (415) a body whose Content-Type is not JSON, as CouchDB does for its POST endpoints."""
        ctype = self.headers.get("content-type", "")
        if ctype.split(";", 1)[0].strip() != JSON:
            raise CouchError(415, "bad_content_type", "Content-Type must be application/json")

    def accepts(self, content_type: str) -> bool:
        """Whether the client takes a content type; without an Accept header it takes all."""
        wanted = self.headers.get("accept", "*/*")
        kinds = {part.partition(";")[0].strip() for part in wanted.split(",")}
        return bool(kinds & {content_type, content_type.partition("/")[0] + "/*", "*/*"})

    def absolute(self, path: str) -> str:
        forwarded = (self.server.config.get("chttpd", "x_forwarded_host") or "X-Forwarded-Host").lower()
        host = self.headers.get(forwarded) or self.headers.get("host", "localhost")
        return f"{self.scheme}://{host}{path}"


class Sessions(Protocol):
    """Signing in by name and password, and the cookie for it."""

    async def check(self, name: str, password: str, handler: str) -> UserCtx: ...
    def new_cookie(self, name: str) -> str: ...
    def cookie_attributes(self) -> str: ...


class Server(Protocol):
    """What a handler reaches through `request.server`."""

    @property
    def store(self) -> Store: ...
    @property
    def config(self) -> Config: ...
    @property
    def sessions(self) -> Sessions: ...
    @property
    def uuids(self) -> Uuids: ...
    @property
    def scheduler(self) -> Scheduler: ...
    @property
    def updates(self) -> Updates: ...
    @property
    def answered(self) -> Counter[int]: ...
    @property
    def faults(self) -> Faults | None: ...
    @property
    def max_document_size(self) -> int: ...
    @property
    def units_used(self) -> dict[str, int] | None: ...
    def database(self, name: str) -> Database: ...
    def check_designs(self, db: Database, designs: dict[str, dict[str, Any]]) -> None: ...
    async def dispatch(self, request: Request) -> Response: ...


def parse_query(query_string: str) -> dict[str, str]:
    query: dict[str, str] = {}
    if query_string:
        for part in query_string.replace(";", "&").split("&"):
            if part:
                key, _, value = part.partition("=")
                query[unquote_text(key)] = unquote_text(value)
    return query


def unquote_text(value: str) -> str:
    """Percent-decoding with `+` as a space. Errors: 400 for bytes that are not UTF-8."""
    if "%" not in value:
        return value.replace("+", " ")
    try:
        return unquote_plus(value, errors="strict")
    except UnicodeDecodeError:
        raise bad_request("invalid UTF-8 in the URL") from None


def unquote_path(value: str, plus_is_space: bool = True) -> str:
    """A path part decoded; CouchDB reads `+` as a space there as well, unless set otherwise."""
    if "%" not in value and "+" not in value:
        return value
    try:
        return unquote_to_bytes(value.replace("+", " ") if plus_is_space else value).decode()
    except UnicodeDecodeError:
        raise CouchError(400, "illegal_docid", "Document id must be valid UTF-8") from None


def json_response(value: Any, status: int = 200, headers: Headers | None = None) -> Response:
    return raw_json(dumps(value) + b"\n", status, headers)


def raw_json(
    body: bytes | AsyncIterator[bytes], status: int = 200, headers: Headers | None = None
) -> Response:
    return Response(
        status, body, [("Content-Type", JSON), ("Cache-Control", "must-revalidate"), *(headers or ())]
    )
