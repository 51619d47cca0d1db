"""One end of a replication, over HTTP: a database here, of a CouchDB or of anything that speaks its protocol."""

import base64
from typing import Any
from urllib.parse import SplitResult, quote, urlencode, urlsplit, urlunsplit

import orjson
import urllib3

JSON = {"Content-Type": "application/json", "Accept": "application/json"}
TIMEOUT = urllib3.Timeout(connect=10, read=90)


class PeerError(Exception):
    """An answer that is not a success, or none: status 0. `error` and `reason` are CouchDB's."""

    def __init__(self, status: int, error: str, reason: str) -> None:
        super().__init__(status, error, reason)
        self.status = status
        self.error = error
        self.reason = reason


class Peer:
    """`endpoint` is a URL or {"url", "headers", "auth"}; a bare name is a database of `local_url`."""

    def __init__(self, endpoint: Any, local_url: str, local_headers: dict[str, str]) -> None:
        given = endpoint if isinstance(endpoint, dict) else {"url": endpoint}
        url = given.get("url")
        if not isinstance(url, str) or not url:
            raise PeerError(500, "error", "Missing replicator database")
        headers = {name: _header(value) for name, value in _object(given, "headers").items()}
        if "://" not in url:
            url, headers = f"{local_url}/{quote(url, safe='')}", headers | local_headers
        parts, host = _split(url)
        basic = _object(_object(given, "auth"), "basic")
        user, password = (
            parts.username or basic.get("username"),
            parts.password or basic.get("password") or "",
        )
        if user:
            headers["Authorization"] = "Basic " + base64.b64encode(f"{user}:{password}".encode()).decode()
        self.url = urlunsplit((parts.scheme, host, parts.path.rstrip("/") + "/", "", ""))
        self._headers = headers
        self._pool = urllib3.PoolManager(retries=False, timeout=TIMEOUT)

    def call(self, method: str, path: str = "", body: Any = None, query: dict[str, Any] | None = None) -> Any:
        """The parsed answer. Errors: PeerError."""
        url = self.url + path + ("?" + urlencode(query) if query else "")
        data = orjson.dumps(body) if body is not None else None
        try:
            answer = self._pool.request(method, url, body=data, headers=self._headers | JSON)
            status, content = answer.status, answer.data
        except urllib3.exceptions.HTTPError as error:
            raise PeerError(0, "unreachable", f"{self.url}: {error}") from None
        try:
            parsed = orjson.loads(content) if content.strip() else {}
        except orjson.JSONDecodeError:
            raise PeerError(status, "bad_answer", f"{self.url} did not answer JSON") from None
        if status >= 400:
            known = parsed if isinstance(parsed, dict) else {}
            raise PeerError(status, str(known.get("error", status)), str(known.get("reason", "")))
        return parsed

    def open(self, create: dict[str, Any] | None = None) -> dict[str, Any]:
        """The database's information; with `create` (query parameters) it is made when absent."""
        try:
            found = self.call("GET")
            if not isinstance(found, dict) or "update_seq" not in found:
                raise PeerError(404, "db_not_found", "no database")
            return found
        except PeerError as error:
            if error.status != 404 or create is None:
                raise PeerError(error.status, "db_not_found", f"could not open {self.url}") from None
        self.call("PUT", query={name: _text(value) for name, value in create.items()})
        return self.call("GET")

    def local(self, docid: str) -> dict[str, Any]:
        try:
            return self.call("GET", f"_local/{docid}")
        except PeerError as error:
            if error.status == 404:
                return {}
            raise

    def put_local(self, docid: str, doc: dict[str, Any]) -> None:
        old = self.local(docid).get("_rev")
        self.call("PUT", f"_local/{docid}", doc | ({"_rev": old} if old else {}))


def _object(given: dict[str, Any], name: str) -> dict[str, Any]:
    """A member that is an object or absent. Errors: PeerError 400."""
    value = given.get(name) or {}
    if not isinstance(value, dict):
        raise PeerError(400, "bad_request", f"`{name}` of an endpoint must be a JSON object")
    return value


def _header(value: Any) -> str:
    """As HTTP carries it. Errors: PeerError 400."""
    if not isinstance(value, str) or set(value) & set("\r\n"):
        raise PeerError(400, "bad_request", "`headers` of an endpoint must be strings of one line")
    return value.encode().decode("latin-1")


def _split(url: str) -> tuple[SplitResult, str]:
    """The parts of a URL, and its host and port. Errors: PeerError 400."""
    try:
        parts = urlsplit(url)
        if parts.scheme in ("http", "https") and parts.hostname:
            host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
            return parts, host if parts.port is None else f"{host}:{parts.port}"
    except ValueError as error:
        raise PeerError(400, "invalid_replication", f"endpoint has an invalid url: {error}") from None
    raise PeerError(400, "invalid_replication", "endpoint has an invalid url")


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
