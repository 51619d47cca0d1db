"""Cloudant's limits as a switch: what a plan lets through in a second, and how large things may be.

Sources: Cloudant's pages "Limits" and "Provisioned throughput capacity model FAQ", and its article on HTTP 429. A class is used up once
its requests of the last 1,000 ms are as many as the plan sells; the next one is refused until some of them are older. A request is let
through whole, and may count for many: each document of `_bulk_docs` is a write, each row of a partition query a read.
"""

import time
from collections import deque
from collections.abc import AsyncIterator, Callable
from typing import Final, NamedTuple

from ..errors import CouchError
from ..http.messages import Response

WINDOW_SECONDS: Final = 1.0
MAX_DOCUMENT: Final = 1_000_000
MAX_BODY: Final = 64_000_000

NEXT_ROW: Final = b",\r\n"
"""Between two rows of an answer."""

READ, WRITE, QUERY = "read", "write", "query"
_GLOBAL_QUERIES: Final = frozenset({"_all_docs", "_find", "_bulk_get"})
_UNMETERED: Final = frozenset(
    {
        "_changes",
        "_index",
        "_explain",
        "_security",
        "_revs_diff",
        "_missing_revs",
        "_compact",
        "_ensure_full_commit",
    }
    | {
        "_local_docs",
        "_design_docs",
        "_view_cleanup",
        "_search_cleanup",
        "_nouveau_cleanup",
        "_shards",
        "_sync_shards",
    }
    | {"_purge", "_purged_infos_limit", "_revs_limit", "_auto_purge"}
)


class Plan(NamedTuple):
    """How many requests of each class an account may make in a second."""

    read: int
    write: int
    query: int


PLANS: Final = {"lite": Plan(20, 10, 5), "standard": Plan(100, 50, 5)}


def parse_plan(text: str) -> Plan:
    """`lite`, `standard`, or three numbers: "200,100,10". Raises ValueError."""
    if text in PLANS:
        return PLANS[text]
    numbers = [int(part) for part in text.split(",")]
    if len(numbers) != 3 or min(numbers) < 1:
        raise ValueError(text)
    return Plan(*numbers)


def request_class(method: str, path: str) -> str | None:
    """What a request counts as; None for one that is not metered, such as those of the server itself and of a whole database."""
    parts = path.strip("/").split("/")
    if not parts[0] or parts[0].startswith("_"):
        return None
    if len(parts) == 1:
        return WRITE if method == "POST" else None
    if parts[1] == "_partition":
        return READ
    if parts[1] == "_bulk_docs":
        return WRITE
    if parts[1] in _GLOBAL_QUERIES or (parts[1] == "_design" and len(parts) > 3 and parts[3].startswith("_")):
        return None if parts[-1] == "_info" else QUERY
    if parts[1] in _UNMETERED:
        return None
    return READ if method in ("GET", "HEAD") else WRITE


def units_of(method: str, path: str, body: bytes) -> int:
    """What a request costs its class before it is answered: `_bulk_docs` as many as it holds documents."""
    if path.endswith("/_bulk_docs"):
        return max(1, body.count(b'"_id"'))
    return 1


class Throttle:
    """The last second of an account."""

    def __init__(self, plan: Plan, clock: Callable[[], float] = time.monotonic) -> None:
        self.plan, self._clock = plan, clock
        self._used: dict[str, deque[tuple[float, int]]] = {name: deque() for name in plan._fields}
        self.refused: dict[str, int] = dict.fromkeys(plan._fields, 0)

    def admit(self, method: str, path: str, body: bytes) -> None:
        """Counts a request. Errors: 429 with its class and the class's rate."""
        name = request_class(method, path)
        if name is None:
            return
        rate: int = getattr(self.plan, name)
        if self._in_window(name) >= rate:
            self.refused[name] += 1
            raise TooManyRequests(name, rate)
        self.count(name, units_of(method, path, body))

    def count(self, name: str, units: int) -> None:
        if units:
            self._used[name].append((self._clock(), units))

    def counted(self, path: str, response: Response) -> Response:
        """The answer to a partition query: each row after the first one, which came with the request, is a read more."""
        if "/_partition/" in path:
            body = response.body
            if isinstance(body, bytes):
                self.count(READ, body.count(NEXT_ROW))
            else:
                response.body = self._counted_pieces(body)
        return response

    async def _counted_pieces(self, pieces: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
        async for piece in pieces:
            self.count(READ, piece.count(NEXT_ROW))
            yield piece

    def _in_window(self, name: str) -> int:
        used, begin = self._used[name], self._clock() - WINDOW_SECONDS
        while used and used[0][0] <= begin:
            used.popleft()
        return sum(units for _, units in used)


class TooManyRequests(CouchError):
    """429 as Cloudant words it; it says no time to wait."""

    def __init__(self, name: str, rate: int) -> None:
        reason = f"You've exceeded your current limit of {rate} requests per second for {name} class. Please try later."
        super().__init__(429, "too_many_requests", reason)
        self.members = {"class": name, "rate": rate}
