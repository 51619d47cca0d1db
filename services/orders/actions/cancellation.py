"""Cancelling a paid order before it is handed over: one decision document excludes the courier, the rest can be repeated."""

from services.orders.actions.refunds import add_refund, left_to_refund, settle_refunds
from services.orders.actions.shop import Shop
from services.orders.rules.assembly import OrderDocuments
from services.orders.rules.progress import NotPossible, require
from services.orders.rules.writing import cancellation_of, decision_of
from shared.errors import Unavailable


def cancel_order(shop: Shop, found: OrderDocuments, by: str, reason: str) -> OrderDocuments:
    """Cancels and pays back. Raises NotPossible once the order is on its way; a second time changes nothing."""
    if found.cancellation is not None and found.payment is not None:
        return found
    require(found.progress, "cancel")
    shop.provider(found.require_payment()["provider"])
    decision, _ = shop.orders.add(decision_of(found.order, "cancel", reason, by))
    if decision["decision"] != "cancel":
        raise NotPossible(
            "The order is being handed to the courier; return it when it arrives.", order_status="paid"
        )
    return finish_cancellation(shop, found.with_document(decision))


def finish_cancellation(shop: Shop, found: OrderDocuments) -> OrderDocuments:
    """Everything that follows from the decision to cancel; the cancellation document comes last and proves the rest."""
    order, decision = found.order, found.decision or {}
    if left_to_refund(found)["amount"]:
        found = add_refund(shop, found, None, "The order was cancelled.", "cancellation")
    if not order.get("imported"):
        shop.products.release(order["orderid"], order["basket"])
    cancellation, _ = shop.orders.add(
        cancellation_of(order, decision["reason"], decision["reason"], decision["by"], was_paid=True)
    )
    found = found.with_document(cancellation)
    try:
        return settle_refunds(shop, found)
    except Unavailable:
        return found


def cancel_unfulfillable(shop: Shop, found: OrderDocuments) -> OrderDocuments:
    """Paid, but the goods are gone: cancelled by the shop and paid back, unless they are with the courier already."""
    decision, _ = shop.orders.add(decision_of(found.order, "cancel", "out_of_stock", "shop"))
    found = found.with_document(decision)
    return finish_cancellation(shop, found) if found.is_being_cancelled else found
