"""Cancelling a paid order before it is handed over: one decision document excludes the courier, the rest can be repeated."""

from services.orders.actions import code_uses
from services.orders.actions.gift_card_sales import check_unused, take_back
from services.orders.actions.refunds import (
    MAX_ATTEMPTS,
    OrderBusy,
    add_refund,
    refundable,
    require_provider,
    settle_refunds,
)
from services.orders.dependencies import Dependencies
from services.orders.rules.assembly import OrderDocuments
from services.orders.rules.progress import NotPossible, require
from services.orders.rules.writing import cancellation_of, decision_of
from shared.errors import Unavailable


def cancel_order(deps: Dependencies, found: OrderDocuments, actor: str, reason: str) -> OrderDocuments:
    """Cancels and pays back. Raises NotPossible once the order is on its way; a second time changes nothing."""
    if found.cancellation is not None and found.payment is not None:
        return found
    require(found.progress, "cancel")
    require_provider(deps, found)
    check_unused(deps, found)
    found = decide_to_cancel(deps, found, reason, actor)
    if not found.is_being_cancelled:
        raise NotPossible(
            "The order is being handed to the courier; return it when it arrives.", order_status="paid"
        )
    return finish_cancellation(deps, found)


def decide_to_cancel(deps: Dependencies, found: OrderDocuments, reason: str, actor: str) -> OrderDocuments:
    """The decision, unless a parcel is decided on: then the order with that. Lines that were cancelled before stay so."""
    for _ in range(MAX_ATTEMPTS):
        if found.is_being_cancelled or found.dispatch_decisions:
            return found
        decision = decision_of(found.order, "cancel", reason, actor, number=found.next_decision)
        stored, created = deps.orders.add(decision)
        if created:
            return found.with_document(stored)
        found = deps.orders.order(found.order["orderid"])
    raise OrderBusy


def finish_cancellation(deps: Dependencies, found: OrderDocuments) -> OrderDocuments:
    """Everything that follows from the decision to cancel; the cancellation document comes last and proves the rest."""
    order, decision = found.order, found.require_cancel_decision()
    left = refundable(found)
    left["amount"] -= take_back(deps, found) if left["amount"] else 0
    if left["amount"] > 0:
        found = add_refund(deps, found, left, "The order was cancelled.", "cancellation")
    code_uses.give_back(deps, found)
    if not order.get("imported"):
        deps.products.release(order["orderid"], found.kept_lines)
    cancellation, _ = deps.orders.add(
        cancellation_of(order, decision["reason"], decision["reason"], decision["by"], was_paid=True)
    )
    found = found.with_document(cancellation)
    try:
        return settle_refunds(deps, found)
    except Unavailable:
        return found


def cancel_unfulfillable(
    deps: Dependencies, found: OrderDocuments, reason: str = "out_of_stock"
) -> OrderDocuments:
    """Paid, but the goods (or what a gift card was to pay: `balance_spent`) are gone: cancelled by the shop and paid back, unless they are with
    the courier already."""
    found = decide_to_cancel(deps, found, reason, "shop")
    return finish_cancellation(deps, found) if found.is_being_cancelled else found
