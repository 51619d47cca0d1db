"""Which paid order was its customer's first: a claim for each customer names it, and moves to an earlier one that comes later, by an import for example.

The first is the one that was paid first, of two in one moment the lower id: whatever the order of the jobs, and however often they run, it is
the same. An account is known by its id. Of a guest's e-mail the claim holds a hash, as the users database does of addresses, and is
removed when the guest is erased: what their orders said then stays with them (`Customer.first`).
"""

from collections.abc import Sequence
from typing import Final

from services.orders.declarations.summaries import FirstOrder
from services.orders.documents import FIRST_ORDER, first_order_key
from services.orders.rules.assembly import OrderDocuments
from services.orders.rules.first_orders import comes_first, customer_key, guest_customer, turn
from services.orders.rules.summaries import is_current, summary_document
from services.orders.store import SummaryStore
from shared.couch import Doc, UpdateConflict
from shared.errors import Unavailable

MAX_ATTEMPTS: Final = 10


def first_orders(store: SummaryStore, orders: Sequence[OrderDocuments]) -> dict[str, bool]:
    """By order id, whether it is its customer's first; nothing of orders that are not paid, of those that are sent for returned goods (nobody
    has come back to buy), or whose customer nobody knows any more.

    1 read and 1 write for all of them, and some more for each that came before a customer's first one. May be repeated. Those that were
    paid first claim first: none of these orders displaces another, whose summary is about to be written.
    """
    bought = (found for found in orders if found.payment is not None and not found.order.get("exchange_of"))
    paid = sorted(bought, key=turn)
    keys = {found.order["orderid"]: customer_key(found) for found in paid}
    claims = store.first_orders({key for key in keys.values() if key})
    new = {keys[each.order["orderid"]]: each for each in reversed(paid)}
    claims |= store.claim_new(
        {key: _taken(key, found, None) for key, found in new.items() if key and key not in claims}
    )
    decided: dict[str, bool] = {}
    for found in paid:
        orderid, customer = found.order["orderid"], found.customer
        if key := keys[orderid]:
            claim = claims.get(key)
            if claim is None or claim.get("displaced") or comes_first(found, claim):
                claim = claims[key] = _claimed(store, key, found, claim)
            decided[orderid] = claim["orderid"] == orderid
        elif customer is not None and "first" in customer:
            decided[orderid] = customer["first"]
    return decided


def forget_guest(store: SummaryStore, email: str) -> None:
    """Removes what says that the orders of this e-mail were one guest's. 1 read, 1 write."""
    key = guest_customer(email)
    if claim := store.first_orders({key}).get(key):
        store.remove(claim)


def settle(store: SummaryStore, leaves: Sequence[FirstOrder]) -> int:
    """Of several revisions of a claim the one with the earliest order stays; how many went. Raises OrderBehind while there is still something
    to settle, so that the next one says of each order whether it is the first."""
    _, *going = sorted(leaves, key=lambda leaf: (leaf["paid"], leaf["orderid"]))
    orderids = {leaf["orderid"] for leaf in leaves}
    for orderid in orderids:
        store.order(orderid)
    for leaf in going:
        store.remove(leaf)
    for orderid in orderids:
        restate(store, orderid)
    return len(going)


def restate(store: SummaryStore, orderid: str) -> None:
    """Has the summary of an order say again whether it is the first."""
    for _ in range(MAX_ATTEMPTS):
        found = store.order(orderid)
        if not found.exists:
            return
        summary = summary_document(found, first_orders(store, [found]).get(orderid))
        if is_current(found, summary):
            return
        try:
            return store.put(summary)
        except UpdateConflict:
            continue
    raise Unavailable("Others are changing this order just now.")


def _claimed(store: SummaryStore, key: str, found: OrderDocuments, claim: FirstOrder | None) -> FirstOrder:
    """The claim, read as `claim` before, as it is once this order has taken it, unless an earlier one has it. The summary of an order that
    gives way is written before the claim forgets it, so that a killed job is finished by the next."""
    for attempt in range(MAX_ATTEMPTS):
        if attempt:
            claim = store.first_orders({key}).get(key)
        try:
            if claim is None or comes_first(found, claim):
                claim = store.claim_first(_taken(key, found, claim))
            if not claim.get("displaced"):
                return claim
            for orderid in claim["displaced"]:
                _restate_displaced(store, orderid)
            kept: Doc = {name: value for name, value in claim.items() if name != "displaced"}
            return store.claim_first(kept)  # type: ignore[arg-type]  # a claim without one field
        except UpdateConflict:
            continue
    raise Unavailable("Others look for this customer's first order just now.")


def _taken(key: str, found: OrderDocuments, claim: FirstOrder | None) -> FirstOrder:
    payment = found.require_payment()
    fresh = FIRST_ORDER.build(first_order_key(key), orderid=payment["orderid"], paid=payment["date"])
    if claim is None:
        return fresh
    displaced = [*claim.get("displaced", ()), claim["orderid"]]
    return {**fresh, "_rev": claim["_rev"], "displaced": displaced}


def _restate_displaced(store: SummaryStore, orderid: str) -> None:
    """A summary that is not there yet is written too: a job that has still to write it was told that this order is the first."""
    for _ in range(MAX_ATTEMPTS):
        found = store.order(orderid)
        if not found.exists or (found.summary is not None and not found.summary.get("first")):
            return
        try:
            return store.put(summary_document(found, first=False))
        except UpdateConflict:
            continue
    raise Unavailable("Others are changing this order just now.")
