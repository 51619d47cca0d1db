"""Goods that come back after delivery: a numbered return document; the refund and the units back in stock follow from it."""

from typing import Any

from services.orders.actions.refunds import (
    TRIES,
    Busy,
    add_refund,
    left_to_refund,
    same_request,
    settle_refunds,
)
from services.orders.actions.shop import Shop
from services.orders.documents import RESTOCK, RETURN, order_key
from services.orders.rules.assembly import OrderDocuments
from services.orders.rules.identity import new_reference
from services.orders.rules.progress import require
from services.orders.rules.returns import goods_value, returned_lines, stock_lines
from services.orders.rules.writing import event_fields
from shared.couch import Doc
from shared.money import money


def return_items(
    shop: Shop,
    found: OrderDocuments,
    wanted: list[dict[str, Any]],
    reason: str,
    request: tuple[str, str] | None,
) -> OrderDocuments:
    """Takes back `wanted` [{productid, quantity}] and refunds their price. Raises NotPossible before delivery, Invalid for too many."""
    for _ in range(TRIES):
        if request is not None and any(same_request(back, request) for back in found.returns):
            return found
        require(found.progress, "return")
        shop.provider(found.require_payment()["provider"])
        back, ours = shop.orders.add(_return_document(found, wanted, reason, request))
        if ours:
            return refund_returns(shop, found.with_document(back))
        found = shop.orders.order(found.order["orderid"])
    raise Busy


def refund_returns(shop: Shop, found: OrderDocuments) -> OrderDocuments:
    """The refund of every return, once each, never more than is left of the payment.

    What comes back in parts is worth together what it is worth at once: each part what it adds to those before.
    """
    back_already: list[Doc] = []
    for back in found.returns:
        left, before = left_to_refund(found), goods_value(found.order, back_already)
        back_already += back["lines"]
        value = min(goods_value(found.order, back_already) - before, left["amount"])
        if value:
            total = money(value, left["currency"])
            found = add_refund(shop, found, total, f"Return {back['number']}", back["reference"])
    return settle_refunds(shop, found)


def restock_returns(shop: Shop, found: OrderDocuments) -> OrderDocuments:
    """Puts the units of every return back into stock, once each; the document that says so comes last."""
    order = found.order
    for back in found.returns:
        if found.restocked(back):
            continue
        lines = stock_lines(order["basket"], back["lines"])
        shop.products.take_back(order["orderid"], lines, back["reference"])
        key = order_key(order["orderid"], f"{back['reference']}restocked")
        restock = RESTOCK.new(key, **event_fields(order), reference=back["reference"], lines=lines)
        found = found.with_document(shop.orders.add(restock)[0])
    return found


def _return_document(
    found: OrderDocuments, wanted: list[dict[str, Any]], reason: str, request: tuple[str, str] | None
) -> Doc:
    number = len(found.returns) + 1
    return RETURN.new(
        order_key(found.order["orderid"], f"return{number}"), **event_fields(found.order), number=number,
        reference=new_reference("return", request), lines=returned_lines(found.order["basket"], found.returns, wanted), reason=reason,
        request=list(request) if request else None,
    )  # fmt: skip
