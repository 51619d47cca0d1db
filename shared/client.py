"""Calls to our other services: pooled, within a deadline, with their problems turned back into our errors."""

import logging
import random
import re
import time
from collections.abc import Iterable
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, NamedTuple, TypedDict, Unpack
from urllib.parse import urlencode

import orjson

from shared import errors, tracing
from shared.couch import deadline as deadlines
from shared.couch.binding import Binding
from shared.couch.http import CircuitOpen, Headers, HttpClient, NotSent, TransportError
from shared.request_id import request_id
from shared.types import Json

log = logging.getLogger(__name__)

_ERRORS: dict[int, type[errors.AisleError]] = {
    cls.status: cls
    for cls in (
        errors.BadRequest,
        errors.Unauthorized,
        errors.Gone,
        errors.PaymentRequired,
        errors.Forbidden,
        errors.NotFound,
        errors.Conflict,
        errors.PreconditionFailed,
        errors.TooLarge,
        errors.Invalid,
        errors.TooManyRequests,
        errors.Unavailable,
    )
}
ATTEMPT_HEADER = "X-Attempt"
"""Of a request that is sent again: the earlier one may have been done, its answer lost."""
_ATTEMPTS = 3
_WAITED_FOR = frozenset(
    {
        "database_unavailable",
        "search_unavailable",
        "search_overloaded",
        "carrier_unavailable",
        "tax_unavailable",
    }
)
"""Codes of services that have waited in vain for somebody else already."""
_TIME_TO_ANSWER = 0.1
"""Seconds before our own limit at which the other service should give up, so that its answer still arrives."""


_DATABASE_CALLS = ("partition", "global", "read", "write")
_TIMING_COUNTS = re.compile(rf'\b({"|".join(_DATABASE_CALLS)})(?:;dur=[^;,]*;desc="| )(\d+)')
"""In a service's `Server-Timing`: its own calls with their times, and those of the services that it asked itself."""


class Answer(NamedTuple):
    """An answer that is not (only) JSON: its header names are case-insensitive."""

    status: int
    headers: Headers
    body: bytes


@dataclass(frozen=True)
class ServiceCall:
    """One answered request to another service; `server_timing` is its answer's `Server-Timing` header."""

    service: str
    status: int
    server_timing: str


_service_calls: ContextVar[list[ServiceCall] | None] = ContextVar("service_calls", default=None)


def service_calls() -> Binding[list[ServiceCall]]:
    """Collects what the block asks of other services, also on threads that run in a copy of its context."""
    return Binding(_service_calls, [])


def database_calls(calls: Iterable[ServiceCall]) -> dict[str, int]:
    """By class what these calls cost in all: {"partition": 1, "global": 0, "read": 0, "write": 0}."""
    counted = dict.fromkeys(_DATABASE_CALLS, 0)
    for call in calls:
        for kind, number in _TIMING_COUNTS.findall(call.server_timing):
            counted[kind] += int(number)
    return counted


def database_timing(name: str, calls: Iterable[ServiceCall]) -> str:
    """The member `name` of a `Server-Timing` header: `name;desc="partition 1, global 0, read 0, write 0"`."""
    counted = ", ".join(f"{kind} {number}" for kind, number in database_calls(calls).items())
    return f'{name};desc="{counted}"'


class CallOptions(TypedDict, total=False):
    """`token` asks as that user instead of as a service, "" as nobody; `client_address` is the browser we ask for (limits
    count it); `deadline`: seconds for this call instead of the client's."""

    acting_user: str | None
    token: str | None
    client_address: str | None
    headers: dict[str, str] | None
    deadline: float | None


class ServiceClient:
    """HTTP to the service `name` at `base_url`; `deadline` (seconds) bounds a call with all its retries.

    No call takes longer than is left of the request it is made for, and the other service is told how long we wait.
    """

    def __init__(
        self, name: str, base_url: str, service_secret: str, *, deadline: float = 2.5, max_idle: int = 16
    ) -> None:
        self.name, self.base_url = name, base_url.rstrip("/")
        self._secret = service_secret
        self._deadline = deadline
        self._http = HttpClient(max_idle, probe_url=f"{self.base_url}/health/live")

    def get(self, path: str, params: dict[str, Any] | None = None, **options: Unpack[CallOptions]) -> Json:
        return self.call(
            "GET", f"{path}?{urlencode(params, doseq=True)}" if params else path, idempotent=True, **options
        )

    def read(self, path: str, params: dict[str, Any] | None = None, **options: Unpack[CallOptions]) -> bytes:
        """Like `get`, for who uses the JSON answer as it is."""
        target = f"{path}?{urlencode(params, doseq=True)}" if params else path
        return self.exchange("GET", target, idempotent=True, **options).body

    def put(self, path: str, body: Any = None, **options: Unpack[CallOptions]) -> Json:
        return self.call("PUT", path, body, idempotent=True, **options)

    def post(
        self, path: str, body: Any = None, *, idempotent: bool = False, **options: Unpack[CallOptions]
    ) -> Json:
        """`idempotent=True` allows a retry: only for calls that may safely happen twice."""
        return self.call("POST", path, body, idempotent=idempotent, **options)

    def call(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        idempotent: bool = False,
        **options: Unpack[CallOptions],
    ) -> Json:
        """The parsed JSON answer ({} for an empty one). See `exchange`."""
        answer = self.exchange(method, path, body, idempotent=idempotent, **options)
        found: Json = orjson.loads(answer.body) if answer.body else {}
        return found

    def exchange(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        idempotent: bool = False,
        **options: Unpack[CallOptions],
    ) -> Answer:
        """JSON sent, and the answer with its bytes. Raises the AisleError the other side answered, or Unavailable."""
        sent = self._headers(options) | (options.get("headers") or {})
        data = None if body is None else orjson.dumps(body)
        ends = self._end(options.get("deadline"))
        for attempt in range(1, _ATTEMPTS + 1):
            if attempt > 1:
                sent[ATTEMPT_HEADER] = str(attempt)
            try:
                return self._send(method, path, data, sent, ends)
            except errors.Unavailable as error:
                pause = random.uniform(0.02, 0.1) * 2**attempt
                if not _repeatable(error, idempotent) or attempt == _ATTEMPTS:
                    raise
                if time.monotonic() + pause >= ends:
                    raise
                time.sleep(pause)
        raise AssertionError("unreachable")

    def fetch(
        self, method: str, path: str, body: bytes | None = None, **options: Unpack[CallOptions]
    ) -> Answer:
        """One try, bytes in and out: CSV, pictures, NDJSON, conditional reads. Raises like `exchange`."""
        sent = self._headers(options) | (options.get("headers") or {})
        return self._send(method, path, body, sent, self._end(options.get("deadline")))

    def _end(self, seconds: float | None) -> float:
        return time.monotonic() + deadlines.time_for(seconds or self._deadline)

    def _send(
        self, method: str, path: str, data: bytes | None, headers: dict[str, str], ends: float
    ) -> Answer:
        if not all(value.isascii() and value.isprintable() for value in headers.values()):
            raise errors.BadRequest("A key, a token or an ETag is made of visible ASCII characters.")
        left = ends - time.monotonic()
        if left <= 0:
            raise errors.Unavailable("The time for this request is over; try again shortly.")
        headers[deadlines.HEADER] = f"{max(left - _TIME_TO_ANSWER, left / 2):.3f}"
        try:
            answer = self._http.request(method, self.base_url + path, headers, data, timeout=left)
        except TransportError as error:
            log.warning("%s at %s: %s", self.name, self.base_url, error)
            raise errors.Unavailable(
                f"The {self.name} service does not answer; try again shortly."
            ) from error
        calls = _service_calls.get()
        if calls is not None:
            calls.append(ServiceCall(self.name, answer.status, answer.headers.get("Server-Timing", "")))
        if answer.status >= 400:
            raise error_from(answer.status, answer.body, answer.headers.get("Retry-After"))
        return Answer(answer.status, answer.headers, answer.body)

    def _headers(self, options: CallOptions) -> dict[str, str]:
        token, client_address = options.get("token"), options.get("client_address")
        headers = {"Accept": "application/json", "Content-Type": "application/json"}
        if token != "":
            headers["Authorization"] = f"Service {self._secret}" if token is None else f"Bearer {token}"
        headers |= tracing.outgoing()
        if request_id():
            headers["X-Request-ID"] = request_id()
        if acting_user := options.get("acting_user"):
            headers["X-Acting-User"] = acting_user
        if client_address:
            headers |= {"X-Client-Address": client_address, "X-Service-Secret": self._secret}
        return headers


def _repeatable(error: errors.Unavailable, idempotent: bool) -> bool:
    """A server that is away stays away for a while: asking again at once would only hold up those who wait behind us."""
    if isinstance(error.__cause__, CircuitOpen) or error.code in _WAITED_FOR:
        return False
    return idempotent or isinstance(error.__cause__, NotSent)


def error_from(status: int, body: bytes, retry_after: str | None = None) -> errors.AisleError:
    """The AisleError another service's problem stands for; its stable `code` and members are kept."""
    try:
        found = orjson.loads(body)
    except orjson.JSONDecodeError:
        found = {}
    found = found if isinstance(found, dict) else {}
    kind = _ERRORS.get(status, errors.Unavailable if status >= 500 else errors.BadRequest)
    extra = {
        key: value
        for key, value in found.items()
        if key not in ("type", "title", "status", "detail", "instance", "code")
    }
    if (
        retry_after
        and retry_after.isdigit()
        and issubclass(kind, errors.TooManyRequests | errors.Unavailable)
    ):
        extra["retry_after"] = int(retry_after)
    error = kind(found.get("detail") or f"The other service answered {status}.", **extra)
    error.code = found.get("code", kind.code)
    error.title = found.get("title", kind.title)
    return error
