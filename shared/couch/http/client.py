"""Requests with a total time limit, on kept-alive connections shared by all threads of a process."""

import contextlib
import os
import time
import weakref
from collections import deque
from collections.abc import Callable, Mapping
from functools import partial

from .breaker import FAILING_SECONDS, GATEWAY_ERRORS, http_breaker
from .errors import NotSent, TransportError
from .handle import LONG_CALL_SECONDS, Handle
from .overdue import overdue_calls
from .response import Response


class HttpClient:
    """Safe for many threads and across a fork. `max_idle`: connections kept open while nobody uses them.

    With a `probe_url`, a page that the server answers quickly while it is well, calls have a circuit breaker.
    """

    def __init__(self, max_idle: int = 32, probe_url: str | None = None) -> None:
        self._max_idle = max_idle
        self._breaker = http_breaker(probe_url) if probe_url else None
        self._idle: deque[Handle] = deque()
        _clients.add(self)

    def request(
        self,
        method: str,
        url: str,
        headers: Mapping[str, str],
        body: bytes | None = None,
        *,
        timeout: float,
        all_headers: bool = True,
    ) -> Response:
        """Sends one request and reads its response, whatever its status; redirects are not followed.

        `timeout`: seconds in all; without any left nothing is sent. Who needs no header of the response but Content-Type and
        Retry-After says so by `all_headers`: that is quicker. Raises NotSent (CircuitOpen among them) or NoResponse.
        """
        if timeout <= 0:
            raise NotSent("no time is left for it")
        breaker = self._breaker
        if breaker is None:
            return self._send(method, url, headers, body, timeout, None, all_headers)
        breaker.check()
        began = time.monotonic()
        try:
            overdue = partial(breaker.failed, began)
            response = self._send(method, url, headers, body, timeout, overdue, all_headers)
        except TransportError:
            breaker.failed(began)
            raise
        if response.status in GATEWAY_ERRORS:
            breaker.failed(began)
        else:
            breaker.succeeded()
        return response

    def close(self) -> None:
        """Closes the idle connections."""
        with contextlib.suppress(IndexError):
            while True:
                self._idle.pop().close()

    def _send(
        self,
        method: str,
        url: str,
        headers: Mapping[str, str],
        body: bytes | None,
        timeout: float,
        overdue: Callable[[], None] | None,
        all_headers: bool,
    ) -> Response:
        try:
            handle = self._idle.pop()
        except IndexError:
            handle = Handle()
        if overdue is not None and timeout < LONG_CALL_SECONDS:
            overdue_calls.begin(handle, FAILING_SECONDS, overdue)
        try:
            return handle.request(method, url, headers, body, timeout, all_headers=all_headers)
        finally:
            overdue_calls.end(handle)
            self._put_back(handle)

    def _put_back(self, handle: Handle) -> None:
        """The last one used is used next, so that the others grow old and are closed."""
        if len(self._idle) < self._max_idle:
            self._idle.append(handle)
        else:
            handle.close()

    def _forget_connections(self) -> None:
        for handle in self._idle:
            handle.detach()
        self._idle = deque()


_clients: weakref.WeakSet[HttpClient] = weakref.WeakSet()


def _after_fork() -> None:
    """A connection that two processes write to mixes their requests up: it stays the parent's."""
    for client in list(_clients):
        client._forget_connections()


os.register_at_fork(after_in_child=_after_fork)
