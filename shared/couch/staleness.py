"""Reads that may be answered by an index that is behind the database: fresh when that is quick, else what it holds by now.

After a bulk write an index takes seconds to catch up, and a server holds a fresh read back until it has. Nobody who
looks at a shop should wait for that. The first who waits longer than `FRESH_SECONDS` is answered from the index as
it is, and so is everybody after him for as long as it stays behind: one read in `PROBE_SECONDS` tries again.
"""

import threading
import time
from collections.abc import Callable
from typing import Any

from shared.couch.errors import DatabaseAway, NotPrepared

FRESH_SECONDS, PROBE_SECONDS = 0.5, 5.0


class StaleRows(list[dict[str, Any]]):
    """Rows of an index that was behind: good to be shown, not to be kept or decided on."""


class StaleReads:
    """Which indexes of a server are behind, as seen by this process."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._probe_at: dict[str, float] = {}

    def ask(
        self, index: str, ask: Callable[..., Any], stale: dict[str, Any], timeout: float
    ) -> tuple[Any, bool]:
        """The answer of `ask`, and whether the index was behind; `stale` are the arguments that have it not wait.

        Both questions together take no longer than `timeout` seconds.
        """
        if not self._may_be_fresh(index):
            return ask(**stale), True
        begun = time.monotonic()
        try:
            answer = ask(call_timeout=min(FRESH_SECONDS, timeout))
        except NotPrepared:
            raise
        except DatabaseAway:
            answer = ask(call_timeout=max(timeout - (time.monotonic() - begun), 0.1), **stale)
            self._mark_behind(index)
            return answer, True
        self._mark_fresh(index)
        return answer, False

    def _may_be_fresh(self, index: str) -> bool:
        """True for an index that is not known to be behind, and for one reader each `PROBE_SECONDS` of one that is."""
        if index not in self._probe_at:
            return True
        with self._lock:
            now = time.monotonic()
            if self._probe_at.get(index, 0.0) > now:
                return False
            self._probe_at[index] = now + PROBE_SECONDS
            return True

    def _mark_behind(self, index: str) -> None:
        with self._lock:
            self._probe_at[index] = time.monotonic() + PROBE_SECONDS

    def _mark_fresh(self, index: str) -> None:
        if index in self._probe_at:
            with self._lock:
                self._probe_at.pop(index, None)
