"""How many searches by keyword view run at once, and for how long: each takes a CouchDB without a search engine, and this process,
tenths of a second of a core.

A few run, a few wait a moment; who comes then is refused at once. So searches never take all threads of a service nor all of the
database, and who looks at a category or a product is answered as ever.
"""

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from threading import BoundedSemaphore
from typing import Final

from .deadline import request_deadline, time_for
from .errors import DatabaseUnavailable, SearchOverloaded

RUNNING: Final = 2
WAITING: Final = 2
WAIT_SECONDS: Final = 0.25
LIST_SHARE: Final = 0.6
"""Of the time that a call may take, for a list that nobody typed words for: what is left is for answering it without a search."""

NEARLY_OVER_SECONDS: Final = 0.1
"""With no more left a call was not refused: its time was over."""


class KeywordSearches:
    """Those of one process. `timeout`: seconds that a call may take."""

    def __init__(self, timeout: float) -> None:
        self._timeout = timeout
        self._running, self._entered = BoundedSemaphore(RUNNING), BoundedSemaphore(RUNNING + WAITING)

    @contextmanager
    def slot(self, *, has_words: bool) -> Iterator[None]:
        """Around a search. Raises SearchOverloaded when too many are under way, or when this one takes too long."""
        if not self._entered.acquire(blocking=False):
            raise SearchOverloaded
        try:
            if not self._running.acquire(timeout=WAIT_SECONDS):
                raise SearchOverloaded
            try:
                with self._time_limit(self._timeout) if has_words else self.list_time():
                    yield
            finally:
                self._running.release()
        finally:
            self._entered.release()

    def list_time(self) -> AbstractContextManager[None]:
        """Around a list that nobody typed words for. Raises SearchOverloaded when it takes too long to be answered without a search."""
        return self._time_limit(self._timeout * LIST_SHARE)

    @contextmanager
    def _time_limit(self, seconds: float) -> Iterator[None]:
        left = max(time_for(seconds), 0.0)
        with request_deadline(left, left) as deadline:
            try:
                yield
            except DatabaseUnavailable as error:
                if deadline.left() < NEARLY_OVER_SECONDS:
                    raise SearchOverloaded from error
                raise
