"""One HTTP session under the SDK: kept-alive connections, a time budget, retries with jittered back-off, every call counted.

`requests` costs more CPU for a call than the database does, so this session keeps the SDK's contract (`set_http_client`)
on `http`. Streams (`stream=True`) still go through `requests`.
"""

import random
import time
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import urlencode, urlsplit

import requests

from .answer import Answer
from .deadline import time_for
from .errors import NODE_DOWN, DatabaseUnavailable
from .http import LONG_CALL_SECONDS, CircuitOpen, HttpClient, NotSent, TransportError
from .tally import classify, record

RETRIED = frozenset({429, 500, 502, 503, 504})
PRECONDITION_FAILED = 412
FIRST_DELAY, MAX_DELAY = 0.05, 2.0
_OUR_OPTIONS = ("call_timeout", "as_bytes", "all_headers")
"""Of a call, beside those of `requests`."""


NewToken = Callable[[str], str | None]
"""Given a token that the database takes no more, another one, or None when there is none; raises an Error when there is no way in."""


class DatabaseSession(requests.Session):
    """The session given to the SDK, for the server at `url`.

    `timeout`: seconds a call may take in all, its retries included; a call may bring its own `call_timeout`. Neither
    gives it more than is left of the request it is made for (`deadline`). A call `as_bytes` gets its answer unparsed; one without
    `all_headers` has only those that `http` names.
    """

    def __init__(
        self, url: str, timeout: float = 2.5, max_idle: int = 32, new_token: NewToken | None = None
    ) -> None:
        super().__init__()
        self.timeout, self._new_token = timeout, new_token
        self.http = HttpClient(max_idle, probe_url=f"{url}/_up")

    def request(  # type: ignore[override]  # the SDK calls it with these
        self, method: str, url: str, params: Any = None, data: Any = None, headers: Any = None, **rest: Any
    ) -> Any:
        """The SDK's own `timeout` among `rest` is always its default of a minute, and is not ours."""
        if rest.get("stream"):
            for ours in _OUR_OPTIONS:
                rest.pop(ours, None)
            return super().request(method, url, params=params, data=data, headers=headers, **rest)
        target = f"{url}?{urlencode(params)}" if params else url
        body = data.read() if hasattr(data, "read") else data
        began = time.monotonic()
        timeout = rest.get("call_timeout", self.timeout)
        deadline = began + time_for(timeout + _long_poll_seconds(params))
        try:
            return self._until_answered(
                method,
                target,
                body,
                headers or {},
                deadline,
                as_bytes=rest.get("as_bytes", False),
                all_headers=rest.get("all_headers", True),
            )
        finally:
            record(classify(method, urlsplit(url).path), (time.monotonic() - began) * 1000)

    def _until_answered(
        self,
        method: str,
        url: str,
        body: bytes | None,
        headers: Mapping[str, str],
        deadline: float,
        *,
        as_bytes: bool,
        all_headers: bool,
    ) -> Answer:
        """A call that was given long (an import, a job, `prepare`) waits for a server that is away to come back."""
        resent, pause, renewed = False, FIRST_DELAY, False
        is_long = deadline - time.monotonic() >= LONG_CALL_SECONDS
        while True:
            answer: Answer | None = None
            failure: TransportError | None = None
            left = deadline - time.monotonic()
            if left <= 0:
                raise DatabaseUnavailable("The time for this request is over; try again shortly.")
            try:
                response = self.http.request(
                    method, url, headers, body, timeout=left, all_headers=all_headers
                )
                answer = Answer(response, resent, as_bytes=as_bytes)
            except TransportError as error:
                if isinstance(error, CircuitOpen) and not is_long:
                    raise _away() from error
                failure = error
            if answer and answer.status_code == 401 and not renewed and (other := self._renewed(headers)):
                headers, renewed = other, True
                continue
            if answer and not _is_passing(answer):
                return answer
            resent = resent or not _untouched(answer, failure)
            wait = max(pause, _retry_after(answer)) * random.uniform(0.5, 1.0)
            if time.monotonic() + wait >= deadline:
                if answer:
                    return answer
                raise _away() from failure
            time.sleep(wait)
            pause = min(pause * 2, MAX_DELAY)

    def _renewed(self, headers: Mapping[str, str]) -> dict[str, str] | None:
        """The same headers with another token than the one that was refused; None when there is none."""
        _, _, refused = headers.get("Authorization", "").partition("Bearer ")
        token = self._new_token(refused) if self._new_token and refused else None
        return {**headers, "Authorization": f"Bearer {token}"} if token else None


def _away() -> DatabaseUnavailable:
    return DatabaseUnavailable("The database does not answer; try again shortly.")


def _is_passing(answer: Answer) -> bool:
    """Whether it may be another one in a moment."""
    return answer.status_code in RETRIED or (
        answer.status_code == PRECONDITION_FAILED and NODE_DOWN.encode() in answer.content
    )


def _untouched(answer: Answer | None, failure: TransportError | None) -> bool:
    """Whether the server certainly did nothing: it was never reached, or it said that we are too many."""
    return isinstance(failure, NotSent) or (answer is not None and answer.status_code == 429)


def _long_poll_seconds(params: Any) -> float:
    """Seconds a long poll asked the server to wait, on top of our own timeout."""
    if params and params.get("feed") == "longpoll":
        return float(params.get("timeout", 60_000)) / 1000
    return 0.0


def _retry_after(answer: Answer | None) -> float:
    value = answer.headers.get("Retry-After", "") if answer else ""
    return float(value) if value.isdigit() else 0.0
