"""Waiting in tests for what comes by itself a little later: an e-mail, a job's work, an index, a page that was kept."""

import os
import time
from collections.abc import Callable
from typing import Any, TypeVar

Holds = Callable[[Callable[[], Any]], None]

Found = TypeVar("Found")
PAUSE = 0.1
GENEROUS_SECONDS = 60.0
"""Far more than anything takes: this says that something never comes, not how quick a machine is."""


def eventually(look: Callable[[], Found], seconds: float = GENEROUS_SECONDS) -> Found:
    """What `look` gives as soon as it is something. Raises AssertionError with the last that it gave."""
    ends = time.monotonic() + seconds
    while not (found := look()):
        assert time.monotonic() < ends, f"not within {seconds:g} s: {found!r}"
        time.sleep(PAUSE)
    return found


def holding(*, at_once: bool) -> Holds:
    """holds(look) checks that `look` gives something: at once, or within a minute."""

    def look_at(look: Callable[[], Any]) -> None:
        if at_once:
            assert look()
        else:
            eventually(look)

    return look_at


settles: Holds = holding(at_once="COUCH_URL" not in os.environ)
"""What an index or the worker may be a little late with on a busy server: at once on minicouch."""
