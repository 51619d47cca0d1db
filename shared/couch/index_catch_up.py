"""Indexes that follow a bulk write a stretch behind it: readers are never far behind, and the writer seldom waits for them."""

import logging
import threading
from collections.abc import Callable

from .errors import Error

log = logging.getLogger(__name__)


class IndexCatchUp:
    """`wait` returns once the indexes hold what was written before it was called; `stretch` is a number of documents.

    While one stretch is being indexed in the background the next is written; only who is a whole stretch ahead waits. So
    indexes are at most two stretches behind, whatever the number and size of the requests that write.
    """

    def __init__(self, wait: Callable[[], None], stretch: int) -> None:
        self._wait, self._slice = wait, stretch
        self._lock = threading.Lock()
        self._written = 0
        self._indexing: threading.Thread | None = None

    def wrote(self, documents: int) -> None:
        """Counts what was written; every stretch has its indexing begin."""
        with self._lock:
            self._written += documents
            if self._written < self._slice:
                return
            self._written = 0
            if self._indexing is not None:
                self._indexing.join()
            self._indexing = threading.Thread(target=self.catch_up, name="indexing", daemon=True)
            self._indexing.start()

    def catch_up(self) -> None:
        """Waits for the indexes. A server that takes too long is left to it: the import is not refused for its sake."""
        try:
            self._wait()
        except Error as error:
            log.warning("the indexes are behind what was imported: %s", error)
