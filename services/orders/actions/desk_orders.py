"""The desk's list of orders by status, number, name, e-mail, product, day and open returns: 1 global query, and always a full page."""

import re
from dataclasses import dataclass
from typing import Any

from services.orders.actions.reading import bounds, history, orders_between
from services.orders.declarations.common import ORDERID
from services.orders.declarations.summaries import OrderSummary
from services.orders.dependencies import Dependencies
from services.orders.documents import NUMBER_PREFIX
from services.orders.rules.archive import archived_of
from services.orders.rules.assembly import OrderDocuments
from services.orders.rules.periods import Span
from services.orders.rules.summaries import channel_key, known_first, listed, search_key, summary_document
from services.orders.store import Choice, Key
from shared.couch import Page
from shared.errors import Invalid
from shared.money import money

_NUMBER = re.compile(rf"(?:{NUMBER_PREFIX})?(\d{{6,12}})", re.IGNORECASE | re.ASCII)
_SAID = {"first_order": "first", "stall": "stall"}
_ORDERID = re.compile(ORDERID)


@dataclass(frozen=True)
class Filters:
    """What a member of staff looks for; "" is any."""

    within: Span
    status: str = ""
    q: str = ""
    product: str = ""
    open_returns: bool = False
    waiting: bool = False
    channel: str = ""
    """`stall`, or `stall:` with the name of one; goes without `q`."""
    customer: str = ""
    """A userid: all orders of this customer; goes with no other filter."""

    @property
    def are_dates_alone(self) -> bool:
        chosen = (self.status, self.q, self.product, self.open_returns, self.waiting, self.channel)
        return not any(chosen)

    def __post_init__(self) -> None:
        """Raises Invalid."""
        if self.customer and not (self.are_dates_alone and self.within == Span(None, None)):
            raise Invalid(errors={"customer": ["All orders of a customer: leave the other filters out."]})
        if self.channel and self.q:
            raise Invalid(
                errors={"channel": ["Look for a stall, or for a name, e-mail or number: not both."]}
            )

    @property
    def choice(self) -> Choice:
        word = channel_key(self.channel) if self.channel else search_key(self.q)
        return Choice(self.status, word, self.product, self.open_returns, self.waiting)


def list_orders(deps: Dependencies, filters: Filters, limit: int, after: Key | None) -> Page:
    """Newest first. By number or id it is that one order, read whole; without filters the list is of the orders themselves,
    and up to date before the worker is: 1 read more for the names. So is the list of a customer's."""
    if filters.customer:
        return _with_names(deps, history(deps, filters.customer, limit, after))
    q = filters.q.strip()
    if q and after is None:
        number = _NUMBER.fullmatch(q)
        orderid = (deps.orders.order_of_number(f"{NUMBER_PREFIX}{number[1]}") if number else None) or q
        found = deps.orders.order(orderid) if _ORDERID.fullmatch(orderid) else OrderDocuments([])
        if found.exists or archived_of(found) or number:
            summary = _summary_of(found)
            return Page([listed(summary)] if summary and _fits(summary, filters) else [], None)
    if filters.are_dates_alone:
        return _with_names(deps, orders_between(deps, filters.within, limit, after))
    if q and not filters.choice.word:
        return Page([], None)
    start, end = bounds(filters.within)
    page = deps.summaries.orders_chosen(filters.choice, start, end, limit=limit, after=after)
    return Page([listed(summary) for summary in page.items], page.next)


def count_orders(deps: Dependencies, filters: Filters) -> dict[str, int]:
    """How many orders of each status the other filters but the days leave; "" is all of them. 1 global query."""
    choice = filters.choice
    return {} if filters.q and not choice.word else deps.summaries.counts(choice)


def spend(deps: Dependencies, *, customer: str = "", email: str = "") -> list[dict[str, Any]]:
    """What a customer, or who ordered as a guest with this e-mail, has paid and got back, by currency. 1 global query."""
    found = (
        deps.summaries.spend("user", customer)
        if customer
        else deps.summaries.spend("email", email.strip().lower())
    )
    return [
        {
            "orders": orders,
            "paid": money(paid, currency),
            "repaid": money(repaid, currency),
            "net": money(paid - repaid, currency),
        }
        for currency, (orders, paid, repaid) in sorted(found.items())
    ]


def _summary_of(found: OrderDocuments) -> OrderSummary | None:
    """As its documents say now; of an archived order as they said last, of none None."""
    return summary_document(found, known_first(found)) if found.exists else found.summary


def _fits(summary: OrderSummary, filters: Filters) -> bool:
    start, end = bounds(filters.within)
    return (
        start <= summary["placed"] < end
        and filters.status in ("", summary["status"])
        and (not filters.product or filters.product in summary["products"])
        and (not filters.open_returns or summary["open_returns"] > 0)
        and (not filters.waiting or summary.get("waiting", 0) > 0)
    )


def _with_names(deps: Dependencies, page: Page) -> Page:
    known = deps.summaries.named([row["orderid"] for row in page.items])
    return Page([{**row, **_names(known.get(row["orderid"]))} for row in page.items], page.next)


def _names(summary: Any) -> dict[str, Any]:
    """What the list of summaries says of it besides; None while the worker has not made one."""
    names = {name: (summary[name] or None) if summary else None for name in ("name", "email")}
    about = {name: summary.get(key) if summary else None for name, key in _SAID.items()}
    return {**names, **about}
