"""The bounded sweep behind the changes feed: whatever was lost on the way, an order that is not finished is found again."""

from datetime import datetime, timedelta

from services.orders.actions.summaries import are_complete
from services.orders.declarations.dead_letters import DeadLetter
from services.orders.dependencies import Dependencies
from services.orders.rules.periods import Span
from services.orders.rules.progress import Progress
from services.orders.rules.steps import CAPTURE_AHEAD, is_settled, may_be_due
from services.orders.settings import DISPATCH
from services.orders.store import Key
from services.orders.store.dead_letters import retry_id
from services.orders.store.orders import row_of
from shared.clock import iso, now

SWEEP, DEEP_SWEEP = "orders-sweep", "orders-deep-sweep"
PAGE = 1000
MAX_PAGES = 20
MAX_AUTHORIZATIONS = 500
OVERLAP = timedelta(minutes=10)
MAX_AGE = timedelta(days=7)
DEEP_MAX_AGE = timedelta(days=100)


def sweep(deps: Dependencies, skip: frozenset[str]) -> list[str]:
    """Ids of orders on which something may be due, from the oldest unfinished one on.

    What one sweep does not reach the next one goes on with; after the newest order it begins again at the oldest that
    was unfinished. Orders in `skip` (dead letters) are left alone. Last come orders of which nothing but the summary is behind:
    whatever was lost with the queue. 1 read, and 1 global query per thousand orders.
    """
    moment = now()
    floor = iso(moment - MAX_AGE)
    checkpoint = deps.orders.sweep_checkpoint(SWEEP)
    due, oldest, after = _due_since(
        deps, max(checkpoint.get("placed", floor), floor), checkpoint.get("after"), skip
    )
    oldest = checkpoint.get("oldest") or oldest
    if after is None:
        again = min(oldest or iso(moment), iso(moment - OVERLAP))
        deps.orders.set_sweep_checkpoint(SWEEP, placed=again, oldest=None, after=None)
    else:
        deps.orders.set_sweep_checkpoint(SWEEP, oldest=oldest, after=after)
    return due


def deep_sweep(deps: Dependencies, skip: frozenset[str]) -> list[str]:
    """The same over a hundred days, always from the first on: refunds and returns on old orders. And those whose reserved money
    has to be taken: 1 global query more where money is reserved."""
    checkpoint = deps.orders.sweep_checkpoint(DEEP_SWEEP)
    due, _, after = _due_since(deps, iso(now() - DEEP_MAX_AGE), checkpoint.get("after"), skip)
    deps.orders.set_sweep_checkpoint(DEEP_SWEEP, after=after)
    if deps.settings.capture_at == DISPATCH:
        moment = now()
        ending = deps.orders.authorizations(
            iso(moment), iso(moment + CAPTURE_AHEAD), limit=MAX_AUTHORIZATIONS
        )
        due += [orderid for orderid in ending if orderid not in skip and orderid not in due]
    return due


def open_dead_letters(deps: Dependencies) -> list[DeadLetter]:
    """Dead letters that were not sent again yet. 1 partition query."""
    dead_letters, retries = deps.dead_letters.all()
    retried = {doc["_id"] for doc in retries}
    return [doc for doc in dead_letters if retry_id(doc) not in retried]


def _due_since(
    deps: Dependencies, start: str, after: Key | None, skip: frozenset[str]
) -> tuple[list[str], str | None, Key | None]:
    """Ids of the orders from `start` (or behind the row `after`) on that may be due, when the oldest unfinished one was
    placed, and the last row seen if there are more."""
    due: list[str] = []
    behind: list[str] = []
    watched = are_complete(deps.summaries.state())
    oldest: str | None = None
    moment = now()
    for _ in range(MAX_PAGES):
        page = deps.orders.orders_placed_since(start, limit=PAGE, after=after)
        for item in page.items:
            orderid, placed, _, _, sums = row_of(item)
            unfinished, due_now = _state(deps, sums, placed, moment)
            if unfinished and oldest is None:
                oldest = placed
            if due_now and orderid not in skip:
                due.append(orderid)
            elif watched and sums.unsummarised and orderid not in skip and is_settled(placed, moment):
                behind.append(orderid)
        if page.next is None:
            return due + behind, oldest, None
        after = page.next
    return due + behind, oldest, after


def _state(deps: Dependencies, sums: Progress, placed: str, moment: datetime) -> tuple[bool, bool]:
    due_now = may_be_due(sums, placed, moment, deps.policy)
    return due_now is not None, bool(due_now)


def open_attempts_span() -> Span:
    """Where open orders are looked for when nobody says."""
    return Span(now() - DEEP_MAX_AGE, None)
