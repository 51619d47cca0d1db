"""Reads that may be answered by an index that is behind the database: fresh when that is quick, else what it holds by now.

After a bulk write an index takes seconds to catch up, and a server holds a fresh read back until it has. Nobody who
looks at a shop should wait for that. Who has waited for `FRESH_SHARE` of the time there is gets an answer from the
index as it is, and so does everybody after him for as long as it stays behind. Every `PROBE_SECONDS` one read tries again,
for `PROBE_TIMEOUT` at most. So an index is read fresh after any write that it takes in quickly, and again a second after
it has caught up. While much is written an index is behind, fresh, and behind again: for `RECENT_SECONDS` no reader waits
for it longer than `PROBE_TIMEOUT`.

An index that no server reads as it is (`ask_fresh`) is waited for, by `WAITING` readers at once while it is behind.
"""

import threading
import time
from collections.abc import Callable
from math import inf
from typing import Any

from .errors import DatabaseUnavailable, NotPrepared, SearchUnavailable

FRESH_SHARE, PROBE_SECONDS, PROBE_TIMEOUT, RECENT_SECONDS = 0.3, 1.0, 0.3, 10.0

WAITING = 2
WHOLE_SHARE = 0.9
"""Who has waited for so much of the time was not refused: the index is behind, or the server busy."""
BEHIND = "The search index is behind what was written; try again shortly."


class StaleRows(list[dict[str, Any]]):
    """Rows of an index that was behind: good to be shown, not to be kept or decided on."""


class StaleReads:
    """Which indexes of a server are behind, as seen by this process."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._probe_at: dict[str, float] = {}
        self._behind_at: dict[str, float] = {}
        self._waiting = threading.BoundedSemaphore(WAITING)

    def ask(
        self, index: str, ask: Callable[..., Any], stale: dict[str, Any], timeout: float
    ) -> tuple[Any, bool]:
        """The answer of `ask`, and whether the index was behind; `stale` are the arguments that have it not wait.

        Both questions together take no longer than `timeout` seconds.
        """
        behind = index in self._probe_at
        if behind and not self._is_probe(index):
            return ask(**stale), True
        begun = time.monotonic()
        try:
            answer = ask(
                call_timeout=min(PROBE_TIMEOUT, timeout) if self._was_behind(index) else timeout * FRESH_SHARE
            )
        except NotPrepared:
            raise
        except DatabaseUnavailable:
            answer = ask(call_timeout=max(timeout - (time.monotonic() - begun), 0.1), **stale)
            self._mark_behind(index)
            return answer, True
        self._mark_fresh(index)
        return answer, False

    def ask_fresh(self, index: str, ask: Callable[..., Any], timeout: float) -> Any:
        """The answer of an index that is not read while it is behind. Raises SearchUnavailable then."""
        if index not in self._probe_at:
            return self._fresh(index, ask, timeout)
        if not self._waiting.acquire(blocking=False):
            raise SearchUnavailable(BEHIND)
        try:
            return self._fresh(index, ask, timeout)
        finally:
            self._waiting.release()

    def _fresh(self, index: str, ask: Callable[..., Any], timeout: float) -> Any:
        """Asked twice, so that who waits for a search engine that is away is told so within the time (`search_engine`)."""
        begun = time.monotonic()
        try:
            answer = ask(call_timeout=timeout * FRESH_SHARE)
        except (SearchUnavailable, NotPrepared):
            raise
        except DatabaseUnavailable:
            answer = self._fresh_late(index, ask, begun, timeout)
        self._mark_fresh(index)
        return answer

    def _fresh_late(self, index: str, ask: Callable[..., Any], begun: float, timeout: float) -> Any:
        try:
            return ask(call_timeout=max(timeout - (time.monotonic() - begun), 0.1))
        except SearchUnavailable:
            raise
        except DatabaseUnavailable as error:
            if time.monotonic() - begun < timeout * WHOLE_SHARE:
                raise
            self._mark_behind(index)
            raise SearchUnavailable(BEHIND) from error

    def _is_probe(self, index: str) -> bool:
        """True for one reader each `PROBE_SECONDS`."""
        with self._lock:
            now = time.monotonic()
            if self._probe_at.get(index, 0.0) > now:
                return False
            self._probe_at[index] = now + PROBE_SECONDS
            return True

    def _was_behind(self, index: str) -> bool:
        return time.monotonic() - self._behind_at.get(index, -inf) < RECENT_SECONDS

    def _mark_behind(self, index: str) -> None:
        with self._lock:
            self._behind_at[index] = time.monotonic()
            self._probe_at[index] = time.monotonic() + PROBE_SECONDS

    def _mark_fresh(self, index: str) -> None:
        if index in self._probe_at:
            with self._lock:
                self._probe_at.pop(index, None)
