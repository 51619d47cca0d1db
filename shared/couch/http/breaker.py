"""A circuit breaker: while a server does not answer, calls to it fail at once, and one probe at a time finds out when it is back.

    closed    calls go through. A failure, or a call without an answer, after 0.9 s without any success makes it suspect.
    suspect   the probe is on its way, and has 1.2 s to be answered; new calls wait for what it finds.
    open      calls fail at once; the probe asks twice a second and closes the circuit with the first answer.

The probe decides, not the failures: a slow query or a refusal (4xx, 429) cannot open the circuit of a server that answers it.
"""

import logging
import os
import threading
import time
from collections.abc import Callable
from enum import Enum
from functools import partial
from urllib.parse import urlsplit

from .errors import NotSent, TransportError
from .handle import Handle

log = logging.getLogger(__name__)

GATEWAY_ERRORS = frozenset({502, 503, 504})
"""What a proxy answers for a server that is away."""

FAILING_SECONDS, SUSPECT_SECONDS = 0.9, 1.2
"""Together less than a reader's call may take (2.5 s), so that it is known at its end whether others need to wait as well."""
PROBE_SECONDS, PROBE_INTERVAL, SUSPECT_INTERVAL = 1.0, 0.5, 0.1
TRUSTED_SECONDS = 1.0
"""So long the word of a probe that was answered is taken."""
IDLE_SECONDS = 5.0
"""The probe of an open circuit ends when nobody has asked for so long; the next call begins with a new one."""


class CircuitOpen(NotSent):
    """The server did not answer a moment ago, so it was not asked."""


class State(Enum):
    CLOSED = "closed"
    SUSPECT = "suspect"
    OPEN = "open"


Listener = Callable[[str, State], None]
Probe = Callable[[float], bool]


class Breaker:
    """The circuit to the server `name`; `probe` tells whether it answers within so many seconds. It is suspect after
    `failing_seconds` without a success."""

    def __init__(self, name: str, probe: Probe, failing_seconds: float = FAILING_SECONDS) -> None:
        self.name = name
        self._answers = probe
        self._failing_seconds = failing_seconds
        self.reset()

    def reset(self) -> None:
        """Closed, as at the beginning: also in a forked child, where the parent's probe does not run."""
        self.state = State.CLOSED
        self._lock = threading.Lock()
        self._found = threading.Event()
        self._prober: threading.Thread | None = None
        self._failing_since: float | None = None
        self._succeeded = self._verified = self._asked = 0.0

    def check(self) -> None:
        """Before each call. Raises CircuitOpen."""
        if self._is(State.CLOSED):
            return
        with self._lock:
            self._asked = time.monotonic()
            if self._prober is None and not self._is(State.CLOSED):
                self._suspect()
        if self._is(State.SUSPECT):
            self._found.wait(SUSPECT_SECONDS + 0.2)
        if not self._is(State.CLOSED):
            raise CircuitOpen(f"{self.name} does not answer (circuit open)")

    def _is(self, state: State) -> bool:
        return self.state is state

    def succeeded(self) -> None:
        """The server answered a call."""
        self._succeeded = time.monotonic()
        self._failing_since = None

    def failed(self, began: float) -> None:
        """A call that `began` then was refused, or has no answer by now."""
        now = time.monotonic()
        with self._lock:
            since = max(began, self._succeeded)
            if self._failing_since is not None:
                since = min(since, self._failing_since)
            self._failing_since = since
            believed = now - self._verified < TRUSTED_SECONDS
            if self.state is State.CLOSED and now - since >= self._failing_seconds and not believed:
                self._asked = now
                self._suspect()

    def _suspect(self) -> None:
        self._found.clear()
        self._prober = threading.Thread(target=self._probe, name=f"probe {self.name}", daemon=True)
        self.state = State.SUSPECT
        try:
            self._prober.start()
        except RuntimeError as error:
            log.error("%s cannot be probed: %s", self.name, error)
            self._prober, self.state = None, State.CLOSED

    def _probe(self) -> None:
        try:
            began = time.monotonic()
            while not self._answers(self._probe_seconds(began)):
                suspect = time.monotonic() - began < SUSPECT_SECONDS
                if not suspect:
                    self._open()
                    if time.monotonic() - self._asked > IDLE_SECONDS:
                        return
                time.sleep(SUSPECT_INTERVAL if suspect else PROBE_INTERVAL)
            self._close(time.monotonic() - began)
        finally:
            with self._lock:
                if self._prober is threading.current_thread():
                    self._prober = None

    def _probe_seconds(self, began: float) -> float:
        """A suspect server has what is left of SUSPECT_SECONDS, one that is away PROBE_SECONDS each time."""
        left = began + SUSPECT_SECONDS - time.monotonic()
        return left if left > 0 else PROBE_SECONDS

    def _open(self) -> None:
        changed, self.state = self.state is not State.OPEN, State.OPEN
        self._found.set()
        if changed:
            log.warning("circuit open: %s does not answer, calls to it fail at once", self.name)
            self._report()

    def _close(self, seconds: float) -> None:
        was_open = self.state is State.OPEN
        self._verified = time.monotonic()
        self._failing_since = None
        self.state = State.CLOSED
        self._found.set()
        if was_open:
            log.warning("circuit closed: %s answers again after %.1f s", self.name, seconds)
            self._report()

    def _report(self) -> None:
        for listener in _listeners:
            listener(self.name, self.state)


_breakers: dict[str, Breaker] = {}
_listeners: list[Listener] = []


def breaker_for(name: str, probe: Probe, failing_seconds: float = FAILING_SECONDS) -> Breaker:
    """This process's one breaker of a server."""
    return _breakers.get(name) or _breakers.setdefault(name, Breaker(name, probe, failing_seconds))


def http_breaker(probe_url: str) -> Breaker:
    """The breaker of the server that shows `probe_url` quickly and without a log-in while it is well."""
    return breaker_for(urlsplit(probe_url).netloc.rpartition("@")[2], partial(_http_probe, probe_url))


def _http_probe(url: str, timeout: float) -> bool:
    handle = Handle()
    try:
        return handle.request("GET", url, {}, None, timeout).status not in GATEWAY_ERRORS
    except TransportError:
        return False
    finally:
        handle.close()


def on_change(listener: Listener) -> None:
    """`listener(server, state)` is called whenever a circuit opens or closes."""
    _listeners.append(listener)


def _after_fork() -> None:
    for breaker in _breakers.values():
        breaker.reset()


os.register_at_fork(after_in_child=_after_fork)
