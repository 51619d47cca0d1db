"""Tells of calls under way that have had no response for too long, from one thread that looks while there are any.

libcurl could say so itself, through a function that it calls ten times a call: each waits for the interpreter while other
threads work.
"""

import logging
import os
import threading
import time
from collections.abc import Callable
from typing import Final

log = logging.getLogger(__name__)

INTERVAL: Final = 0.05
IDLE_SECONDS: Final = 5.0
"""The thread ends when there was no call for so long; the next call begins another."""

Notify = Callable[[], None]


class OverdueCalls:
    """What is under way, each call by an object of its own."""

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        """Nothing is under way: also in a forked child, where the parent's thread does not run."""
        self._calls: dict[object, tuple[float, Notify]] = {}
        self._lock = threading.Lock()
        self._watcher: threading.Thread | None = None

    def begin(self, call: object, seconds: float, notify: Notify) -> None:
        """`notify` is called once, on another thread, if the call has not ended after so long."""
        self._calls[call] = time.monotonic() + seconds, notify
        if self._watcher is None:
            self._start()

    def end(self, call: object) -> None:
        self._calls.pop(call, None)

    def _start(self) -> None:
        with self._lock:
            if self._watcher is not None:
                return
            self._watcher = threading.Thread(target=self._watch, name="overdue calls", daemon=True)
            try:
                self._watcher.start()
            except RuntimeError as error:
                log.error("calls without a response are not noticed: %s", error)
                self._watcher = None

    def _watch(self) -> None:
        busy_at = time.monotonic()
        while True:
            time.sleep(INTERVAL)
            now = time.monotonic()
            if self._calls:
                busy_at = now
                self._notify(now)
            elif now - busy_at > IDLE_SECONDS and self._has_ended():
                return

    def _notify(self, now: float) -> None:
        for call, (due, notify) in list(self._calls.items()):
            if due < now and self._calls.pop(call, None) is not None:
                notify()

    def _has_ended(self) -> bool:
        """Whether no call came while this thread was about to end."""
        with self._lock:
            self._watcher = None
            if not self._calls:
                return True
            self._watcher = threading.current_thread()
            return False


overdue_calls: Final = OverdueCalls()
os.register_at_fork(after_in_child=overdue_calls.reset)
