"""The bounded sweep behind the changes feed: whatever was lost on the way, an order that is not finished is found again."""

from datetime import datetime, timedelta
from typing import Any

from services.orders.actions.shop import Shop
from services.orders.rules.periods import Span
from services.orders.rules.progress import Progress
from services.orders.rules.steps import may_be_due
from services.orders.store import Key
from services.orders.store.orders import row_of
from shared.clock import iso, now

SWEEP, DEEP_SWEEP = "orders-sweep", "orders-deep-sweep"
PAGE = 1000
MOST_PAGES = 20
OVERLAP = timedelta(minutes=10)
LONGEST_AGO = timedelta(days=7)
DEEP_AGO = timedelta(days=100)


def sweep(shop: Shop, skip: frozenset[str]) -> list[str]:
    """Ids of orders on which something may be due, from the oldest unfinished one on.

    What one sweep does not reach the next one goes on with; after the newest order it begins again at the oldest that
    was unfinished. Orders in `skip` (dead letters) are left alone. 1 global query per thousand orders.
    """
    moment = now()
    floor = iso(moment - LONGEST_AGO)
    mark = shop.orders.sweep_mark(SWEEP)
    due, oldest, after = _due_since(shop, max(mark.get("placed", floor), floor), mark.get("after"), skip)
    oldest = mark.get("oldest") or oldest
    if after is None:
        again = min(oldest or iso(moment), iso(moment - OVERLAP))
        shop.orders.set_sweep_mark(SWEEP, placed=again, oldest=None, after=None)
    else:
        shop.orders.set_sweep_mark(SWEEP, oldest=oldest, after=after)
    return due


def deep_sweep(shop: Shop, skip: frozenset[str]) -> list[str]:
    """The same over a hundred days, always from the first on: refunds and returns on old orders."""
    mark = shop.orders.sweep_mark(DEEP_SWEEP)
    due, _, after = _due_since(shop, iso(now() - DEEP_AGO), mark.get("after"), skip)
    shop.orders.set_sweep_mark(DEEP_SWEEP, after=after)
    return due


def open_letters(shop: Shop) -> list[dict[str, Any]]:
    """Dead letters that nobody sent again yet."""
    docs = shop.deadletters.all()
    retried = {doc["_id"].removesuffix(".retried") for doc in docs if doc["type"] == "deadletterretried"}
    return [doc for doc in docs if doc["type"] == "deadletter" and doc["_id"] not in retried]


def _due_since(
    shop: Shop, start: str, after: Key | None, skip: frozenset[str]
) -> tuple[list[str], str | None, Key | None]:
    """Ids of the orders from `start` (or behind the row `after`) on that may be due, when the oldest unfinished one was
    placed, and the last row seen if there are more."""
    due: list[str] = []
    oldest: str | None = None
    moment = now()
    for _ in range(MOST_PAGES):
        page = shop.orders.orders_placed_since(start, limit=PAGE, after=after)
        for item in page.items:
            orderid, placed, _, _, sums = row_of(item)
            unfinished, ripe = _state(shop, sums, placed, moment)
            if unfinished and oldest is None:
                oldest = placed
            if ripe and orderid not in skip:
                due.append(orderid)
        if page.next is None:
            return due, oldest, None
        after = page.next
    return due, oldest, after


def _state(shop: Shop, sums: Progress, placed: str, moment: datetime) -> tuple[bool, bool]:
    ripe = may_be_due(sums, placed, moment, shop.policy)
    return ripe is not None, bool(ripe)


def attempts_span() -> Span:
    """Where open orders are looked for when nobody says."""
    return Span(now() - DEEP_AGO, None)
