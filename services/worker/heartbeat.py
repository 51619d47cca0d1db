"""A sign of life for processes that answer no HTTP: a file touched while they work, read by the container's health check."""

import time
from collections.abc import Callable
from pathlib import Path

STALE_SECONDS = 45.0


class Heartbeat:
    """Touches `file` (None: nothing) as long as every one of `last_active` gives a recent time.monotonic()."""

    def __init__(self, file: Path | None, *last_active: Callable[[], float]) -> None:
        self._file, self._last_active = file, last_active

    def beat(self) -> None:
        if self._file and all(time.monotonic() - active() < STALE_SECONDS for active in self._last_active):
            self._file.touch()
