"""Waiting in tests for what comes by itself a little later: an e-mail, a job's work, an index, a page that was kept."""

import time
from collections.abc import Callable
from typing import TypeVar

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
