"""The busiest minutes of a shop on Cloudant, call by call: who is refused, who waits how long, and how many blocks of a plan are enough.

Requests come at random (Poisson). Each asks its calls one after the other; a class that is used up refuses (429), and the client library asks
again with a pause that doubles, until the request's time is over and the customer gets a 503 with Retry-After. What the worker does of an
order has no such end: it waits until it is done. The same seed gives the same minutes.
"""

import heapq
import math
import random
from collections import Counter, deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

READ, QUERY, WRITE = "reads", "global queries", "writes"
CLASSES: Final = (READ, QUERY, WRITE)
WINDOW_SECONDS: Final = 1.0
FIRST_DELAY, MAX_DELAY, TIMEOUT = 0.05, 2.0, 2.5
"""Of `shared.couch.transport`."""
ENOUGH: Final = 0.001
"""A plan holds where no more than this share of the requests gets a 503."""

Call = tuple[str, int]
"""A class and how many units of it one call uses."""


@dataclass(frozen=True)
class Kind:
    """A kind of request: so many a second, with these calls."""

    name: str
    rate: float
    calls: tuple[Call, ...]
    is_patient: bool = False


@dataclass
class Minutes:
    """What came of them."""

    requests: int = 0
    calls: int = 0
    refused: Counter[str] = field(default_factory=Counter)
    """Calls that were answered with 429, by class."""
    given_up: Counter[str] = field(default_factory=Counter)
    """Requests that ended with 503, by kind."""
    waits: list[float] = field(default_factory=list)
    """Seconds that each request waited, those that were given up too."""
    work_waits: list[float] = field(default_factory=list)
    """Seconds that the worker waited for each order."""

    @property
    def share_given_up(self) -> float:
        return self.given_up.total() / self.requests if self.requests else 0.0

    @property
    def share_delayed(self) -> float:
        return sum(wait > 0 for wait in self.waits) / len(self.waits) if self.waits else 0.0


def simulate(kinds: tuple[Kind, ...], plan: Mapping[str, float], seconds: float, seed: int = 1) -> Minutes:
    """So many seconds of these requests, under a plan's units a second of each class."""
    rng, result, window = random.Random(seed), Minutes(), Window(plan)
    waiting: list[tuple[float, int, Kind, float, int, float]] = []
    number = 0
    for number, (arrival, kind) in enumerate(_arrivals(kinds, seconds, rng)):
        heapq.heappush(waiting, (arrival, number, kind, arrival, 0, FIRST_DELAY))
    while waiting:
        now, number, kind, arrival, step, pause = heapq.heappop(waiting)
        if step < len(kind.calls) and not window.admits(now, kind.calls[step]):
            name = kind.calls[step][0]
            result.refused[name] += 1
            result.calls += 1
            wait = pause * rng.uniform(0.5, 1.0)
            if kind.is_patient or now + wait < arrival + TIMEOUT:
                heapq.heappush(waiting, (now + wait, number, kind, arrival, step, min(pause * 2, MAX_DELAY)))
            else:
                result.given_up[kind.name] += 1
                _finish(result, kind, now - arrival)
        elif step + 1 < len(kind.calls):
            result.calls += 1
            heapq.heappush(waiting, (now, number, kind, arrival, step + 1, FIRST_DELAY))
        else:
            result.calls += len(kind.calls) > 0
            _finish(result, kind, now - arrival)
    return result


def blocks_that_hold(
    kinds: tuple[Kind, ...], block: Mapping[str, float], seconds: float, at_least: int, seed: int = 1
) -> int:
    """How many blocks of a plan give no more than `ENOUGH` of the requests a 503; found upwards from what averages ask for."""
    blocks = at_least
    while simulate(kinds, several(block, blocks), seconds, seed).share_given_up > ENOUGH:
        blocks += max(1, blocks // 20)
    return blocks


def several(block: Mapping[str, float], blocks: int) -> dict[str, float]:
    """A plan of so many blocks."""
    return {name: have * blocks for name, have in block.items()}


def queue_waits(rate: float, capacity: float, seconds: float, seed: int = 1) -> list[float]:
    """Seconds that each of so many calls a second waits for nodes that answer `capacity` a second together, in the order they come."""
    rng, waits, wait, now = random.Random(seed), [], 0.0, 0.0
    while now < seconds:
        waits.append(wait)
        gap = rng.expovariate(rate)
        wait, now = max(0.0, wait + 1 / capacity - gap), now + gap
    return waits


def percentile(values: list[float], share: float) -> float:
    """The value that so many are not above; 0 of none."""
    return sorted(values)[max(0, math.ceil(len(values) * share) - 1)] if values else 0.0


class Window:
    """As `Throttle` of minicouch: a class is used up once the units of the last second are as many as the plan has."""

    def __init__(self, plan: Mapping[str, float]) -> None:
        self._plan = plan
        self._used: dict[str, deque[tuple[float, int]]] = {name: deque() for name in CLASSES}
        self._sums: Counter[str] = Counter()

    def admits(self, now: float, call: Call) -> bool:
        name, units = call
        used = self._used[name]
        while used and used[0][0] <= now - WINDOW_SECONDS:
            self._sums[name] -= used.popleft()[1]
        if self._sums[name] >= self._plan[name]:
            return False
        used.append((now, units))
        self._sums[name] += units
        return True


def _arrivals(kinds: tuple[Kind, ...], seconds: float, rng: random.Random) -> Iterator[tuple[float, Kind]]:
    for kind in kinds:
        now = rng.expovariate(kind.rate) if kind.rate else seconds
        while now < seconds:
            yield now, kind
            now += rng.expovariate(kind.rate)


def _finish(result: Minutes, kind: Kind, wait: float) -> None:
    if kind.is_patient:
        result.work_waits.append(wait)
    else:
        result.requests += 1
        result.waits.append(wait)
