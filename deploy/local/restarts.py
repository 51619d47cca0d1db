"""How often and how soon a process that died is started again."""

import time
from collections import deque
from collections.abc import Callable

WINDOW = 60.0
FIRST_DELAY, MAX_PAUSE = 0.5, 8.0


class Restarts:
    """Of one process: its recent deaths, and the pause before its next start."""

    def __init__(self, limit: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._limit, self._clock = limit, clock
        self._deaths: deque[float] = deque()

    def after_death(self) -> float | None:
        """Seconds to wait, doubled with each death of the last minute; None once they are more than the limit."""
        now = self._clock()
        self._deaths.append(now)
        while self._deaths[0] <= now - WINDOW:
            self._deaths.popleft()
        if len(self._deaths) > self._limit:
            return None
        return min(FIRST_DELAY * 2.0 ** (len(self._deaths) - 1), MAX_PAUSE)

    @property
    def recent(self) -> int:
        return len(self._deaths)
