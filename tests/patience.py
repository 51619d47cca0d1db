"""Asking again: what a client of the shop does when it is answered 503 with Retry-After. A busy database is no failure of a test that only
makes its goods or logs somebody in."""

import time
from collections.abc import Callable, Mapping
from typing import Protocol, TypeVar

PATIENCE_SECONDS = 120.0
MAX_PAUSE = 2.0


class Answer(Protocol):
    """Of `requests`, or a page."""

    @property
    def status_code(self) -> int: ...

    @property
    def headers(self) -> Mapping[str, str]: ...


A = TypeVar("A", bound=Answer)


def patient(send: Callable[[], A], seconds: float | None = None) -> A:
    """The first answer that is no honest 503 (one that says when to come back), or the last after `seconds`, two minutes without.

    `send` sends the same each time: a POST that makes something needs one Idempotency-Key for all of them.
    """
    ends = time.monotonic() + (PATIENCE_SECONDS if seconds is None else seconds)
    while (answer := send()).status_code == 503 and (wait := answer.headers.get("Retry-After", "")).isdigit():
        if time.monotonic() > ends:
            break
        time.sleep(min(float(wait), MAX_PAUSE))
    return answer
