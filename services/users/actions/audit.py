"""The audit trail of all services as one: each keeps its own, newest entry first."""

import heapq
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from itertools import islice
from operator import itemgetter
from typing import Any, Protocol

from services.users.dependencies import Dependencies
from shared.audit import AuditQuery
from shared.errors import TooLarge

MAX_ROWS = 50_000
"""Of a trail that is handed out as a whole."""
_ROWS_AT_ONCE = 1000
SERVICES = ("users", "products", "orders")

Entries = list[dict[str, Any]]


class Source(Protocol):
    """A service's own part of the trail."""

    def entries(self, query: AuditQuery, limit: int, before: str | None) -> Entries: ...


def audit_trail(
    deps: Dependencies, query: AuditQuery, service: str | None, limit: int, before: str | None
) -> tuple[Entries, str | None]:
    """The newest entries of one service or of all, older than the id `before`, and where the next page begins.

    Raises Unavailable when a service is away: a trail with gaps would not say so.
    """
    parts = _parts(deps, query, service, limit + 1, before)
    merged = heapq.merge(*parts, key=itemgetter("id"), reverse=True)
    entries = list(islice(merged, limit + 1))
    return entries[:limit], entries[limit - 1]["id"] if len(entries) > limit else None


def whole_trail(deps: Dependencies, query: AuditQuery, service: str | None) -> Entries:
    """Every entry that is asked for. Raises TooLarge for more than MAX_ROWS: ask for a shorter time."""
    found: Entries = []
    before: str | None = None
    while True:
        entries, before = audit_trail(deps, query, service, _ROWS_AT_ONCE - 1, before)
        found += entries
        if before is None:
            return found
        if len(found) > MAX_ROWS:
            raise TooLarge(f"There are more than {MAX_ROWS} entries: ask for a shorter time.")


def _parts(
    deps: Dependencies, query: AuditQuery, service: str | None, limit: int, before: str | None
) -> list[Entries]:
    """Of each service that is asked, all at once."""
    sources: dict[str, Source] = {"users": deps.audit, "products": deps.products, "orders": deps.orders}
    asked = [service] if service else SERVICES
    with ThreadPoolExecutor(len(asked)) as pool:
        answers = {
            name: pool.submit(copy_context().run, sources[name].entries, query, limit, before)
            for name in asked
        }
    return [[{**entry, "service": name} for entry in answered.result()] for name, answered in answers.items()]
