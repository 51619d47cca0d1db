"""A sign of life for processes that answer no HTTP: a file touched while they work, read by the container's health check."""

import time
from collections.abc import Callable
from pathlib import Path

STALE_SECONDS = 45.0


class Heartbeat:
    """Touches `file` (None: nothing) as long as every one of `turned` gives a recent time.monotonic()."""

    def __init__(self, file: Path | None, *turned: Callable[[], float]) -> None:
        self._file, self._turned = file, turned

    def beat(self) -> None:
        if self._file and all(time.monotonic() - turned() < STALE_SECONDS for turned in self._turned):
            self._file.touch()
