"""Cloudant's limits as a switch: what a plan lets through in a second, and how large things may be.

Sources: Cloudant's pages "Limits", "Usage and charges" (of 6 July 2026) and "Provisioned throughput capacity model FAQ", and its article on
HTTP 429. A class is used up once its requests of the last 1,000 ms are as many as the plan sells; the next one is refused until some of
them are older. A request is let through whole, and may count for many: each document of `_bulk_docs` is a write, each one of `_bulk_get` a
read; a partition query is a read for each hundred rows of its index that are begun, and one for each document that is read.
"""

import time
from collections import deque
from collections.abc import AsyncIterator, Callable
from typing import Final, NamedTuple

import orjson

from ..errors import CouchError
from ..http.messages import Request, Response

WINDOW_SECONDS: Final = 1.0
MAX_DOCUMENT: Final = 1_000_000
MAX_BODY: Final = 64_000_000

NEXT_ROW: Final = b",\r\n"
"""Between two rows of an answer."""

ROWS_OF_A_READ: Final = 100

READ, WRITE, QUERY = "read", "write", "query"
CLASSES: Final = (READ, WRITE, QUERY)
REQUEST_CLASS: Final = "X-Cloudant-Request-Class"
UNLIMITED: Final = "unlimited"
_GLOBAL_QUERIES: Final = frozenset({"_all_docs", "_find"})
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
    """How many requests of each class an account may make in a second, how many databases it may have, and how many bytes in them."""

    read: int
    write: int
    query: int
    databases: int = 200
    storage: int | None = None


PLANS: Final = {
    "lite": Plan(20, 10, 5, databases=20, storage=1_000_000_000),
    "standard": Plan(100, 50, 5),
}


def parse_plan(text: str) -> Plan:
    """`lite`, `standard`, or the numbers of a second, and of bytes: "200,100,10" or "200,100,10,1000000". Raises ValueError."""
    if text in PLANS:
        return PLANS[text]
    numbers = [int(part) for part in text.split(",")]
    if len(numbers) not in (3, 4) or min(numbers) < 1:
        raise ValueError(text)
    return Plan(*numbers[:3], storage=numbers[3] if len(numbers) == 4 else None)


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
    if parts[1] == "_bulk_get":
        return READ
    if parts[1] in _GLOBAL_QUERIES or (parts[1] == "_design" and len(parts) > 3 and parts[3].startswith("_")):
        return None if parts[-1] == "_info" else QUERY
    if parts[1] in _UNMETERED:
        return None
    return READ if method in ("GET", "HEAD") else WRITE


def units_of(path: str, body: bytes) -> int:
    """What a request costs its class before it is answered: `_bulk_docs` and `_bulk_get` as many as they name documents."""
    if path.endswith("/_bulk_docs"):
        return max(1, body.count(b'"_id"'))
    if path.endswith("/_bulk_get"):
        return max(1, body.count(b'"id"'))
    return 1


class Throttle:
    """The last second of an account, and what it has used since the start: `total`, by class."""

    def __init__(self, plan: Plan, clock: Callable[[], float] = time.monotonic) -> None:
        self.plan, self._clock = plan, clock
        self._used: dict[str, deque[tuple[float, int]]] = {name: deque() for name in CLASSES}
        self.total: dict[str, int] = dict.fromkeys(CLASSES, 0)
        self.refused: dict[str, int] = dict.fromkeys(CLASSES, 0)

    def admit(self, method: str, path: str, body: bytes) -> None:
        """Counts a request. Errors: 429 with its class and the class's rate."""
        name = request_class(method, path)
        if name is None:
            return
        rate: int = getattr(self.plan, name)
        if self._in_window(name) >= rate:
            self.refused[name] += 1
            raise TooManyRequests(name, rate)
        self.count(name, units_of(path, body))

    def count(self, name: str, units: int) -> None:
        if units > 0:
            self._used[name].append((self._clock(), units))
            self.total[name] += units

    def counted(self, request: Request, response: Response) -> Response:
        """The answer with its class; of a partition query what it has read is counted, the first read came with the request."""
        name = request_class(request.method, request.path)
        response.headers.append((REQUEST_CLASS, name or UNLIMITED))
        if "/_partition/" in request.path and response.status == 200:
            body = response.body
            if isinstance(body, bytes):
                rows, docs = response.read or _read_by(request, body.count(NEXT_ROW) + 1)
                self.count(READ, _reads(rows) + docs - 1)
            else:
                response.body = self._counted_pieces(request, body)
        return response

    async def _counted_pieces(self, request: Request, pieces: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
        rows = 1
        async for piece in pieces:
            rows += piece.count(NEXT_ROW)
            yield piece
        rows, docs = _read_by(request, rows)
        self.count(READ, _reads(rows) + docs - 1)

    def _in_window(self, name: str) -> int:
        used, begin = self._used[name], self._clock() - WINDOW_SECONDS
        while used and used[0][0] <= begin:
            used.popleft()
        return sum(units for _, units in used)


def _reads(rows: int) -> int:
    """Of an index: one at least."""
    return max(1, -(-rows // ROWS_OF_A_READ))


def _read_by(request: Request, rows: int) -> tuple[int, int]:
    """Rows and documents that an answer with so many rows has read."""
    return rows, rows if _with_documents(request) else 0


def _with_documents(request: Request) -> bool:
    if request.query.get("include_docs") == "true":
        return True
    if request.method != "POST" or b"include_docs" not in request.body:
        return False
    body = orjson.loads(request.body)
    return isinstance(body, dict) and body.get("include_docs") is True


class TooManyRequests(CouchError):
    """429 as Cloudant words it; it says no time to wait."""

    def __init__(self, name: str, rate: int) -> None:
        reason = f"You've exceeded your current limit of {rate} requests per second for {name} class. Please try later."
        super().__init__(429, "too_many_requests", reason)
        self.members = {"class": name, "rate": rate}
