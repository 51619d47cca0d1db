"""One drawing of a page for all who ask for it at the same time."""

import threading
from collections.abc import Hashable


class Coalescing:
    """Of those who come with the same key the first one draws, and the others wait for it."""

    def __init__(self) -> None:
        self._drawing: dict[Hashable, threading.Event] = {}
        self._lock = threading.Lock()

    def begin(self, key: Hashable) -> threading.Event | None:
        """What to wait for; None for the first one, who calls `end` in any case."""
        with self._lock:
            running = self._drawing.get(key)
            if running is None:
                self._drawing[key] = threading.Event()
            return running

    def end(self, key: Hashable) -> None:
        with self._lock:
            self._drawing.pop(key).set()
