"""How long the request at hand may still take: one limit for all that it asks of databases and other services."""

import time
from collections.abc import Callable
from contextvars import ContextVar
from functools import wraps
from typing import ParamSpec, TypeVar

from .binding import Binding

P = ParamSpec("P")
T = TypeVar("T")

READ_SECONDS, WRITE_SECONDS = 2.5, 10.0
"""What a request may take unless its handler (`time_limit`) or a call it makes names more."""

NO_LIMIT = float("inf")
"""For imports: as long as it takes, each of their calls within its own time."""

HEADER = "X-Request-Timeout"
"""Seconds that the caller will wait, told to another service."""


class Deadline:
    """`limit` caps what `allow` can give: the caller will not wait any longer."""

    def __init__(self, seconds: float, limit: float = float("inf")) -> None:
        self._began = time.monotonic()
        self._limit = limit
        self._seconds = min(seconds, limit)

    def allow(self, seconds: float) -> None:
        """The request may take `seconds` in all, when that is more than it may take so far."""
        self._seconds = max(self._seconds, min(seconds, self._limit))

    def left(self) -> float:
        return self._began + self._seconds - time.monotonic()


_deadline: ContextVar[Deadline | None] = ContextVar("deadline", default=None)


def request_deadline(seconds: float, limit: float = float("inf")) -> Binding[Deadline]:
    """The block is a request that may take `seconds`."""
    return Binding(_deadline, Deadline(seconds, limit))


def deadline_at_hand() -> Deadline | None:
    return _deadline.get()


def time_limit(seconds: float) -> Callable[[Callable[P, T]], Callable[P, T]]:
    """A handler that may take longer than others: `seconds` from when its request came in."""

    def decorate(handler: Callable[P, T]) -> Callable[P, T]:
        @wraps(handler)
        def limited(*args: P.args, **kwargs: P.kwargs) -> T:
            deadline = _deadline.get()
            if deadline is not None:
                deadline.allow(seconds)
            return handler(*args, **kwargs)

        return limited

    return decorate


def time_for(seconds: float) -> float:
    """How much of `seconds` a call may take; zero or less when the request's time is over.

    Who asks for more than a request usually has gets it: imports, reports and exports name their own time.
    """
    deadline = _deadline.get()
    if deadline is None:
        return seconds
    deadline.allow(seconds)
    return min(seconds, deadline.left())


def parse_limit(sent: str | None) -> float:
    """The caller's limit as HEADER tells it; what is no positive number is none."""
    try:
        seconds = float(sent or "")
    except ValueError:
        return float("inf")
    return seconds if seconds > 0 else float("inf")
