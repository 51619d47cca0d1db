"""Goods that come back after delivery: a numbered return document; the refund and the units back in stock follow from it."""

from typing import Any

from services.orders.actions.refunds import (
    MAX_ATTEMPTS,
    OrderBusy,
    add_refund,
    refundable,
    require_provider,
    same_request,
    settle_refunds,
)
from services.orders.declarations.events import Return
from services.orders.declarations.parts import SoldLine
from services.orders.dependencies import Dependencies
from services.orders.documents import RESTOCK, RETURN, order_key
from services.orders.rules.assembly import OrderDocuments
from services.orders.rules.identity import new_reference
from services.orders.rules.progress import require
from services.orders.rules.refund_taxes import taxes_of_lines
from services.orders.rules.returns import goods_value, returned_lines, stock_lines
from services.orders.rules.writing import event_fields
from shared.money import money


def return_items(
    deps: Dependencies,
    found: OrderDocuments,
    requested: list[dict[str, Any]],
    reason: str,
    request: tuple[str, str] | None,
) -> OrderDocuments:
    """Takes back `requested` [{productid, quantity}] and refunds their price. Raises NotPossible before delivery, Invalid for too many."""
    for _ in range(MAX_ATTEMPTS):
        if request is not None and any(same_request(back, request) for back in found.returns):
            return found
        require(found.progress, "return")
        require_provider(deps, found)
        back, created = deps.orders.add(_return_document(found, requested, reason, request))
        if created:
            return refund_returns(deps, found.with_document(back))
        found = deps.orders.order(found.order["orderid"])
    raise OrderBusy


def refund_returns(deps: Dependencies, found: OrderDocuments) -> OrderDocuments:
    """The refund of every return, once each, never more than remains of the payment.

    What comes back in parts is worth together what it is worth at once: each part what it adds to those before.
    """
    earlier_lines: list[SoldLine] = []
    for back in found.returns:
        remaining, before = refundable(found), goods_value(found.order, earlier_lines)
        taxes = taxes_of_lines(found.order, earlier_lines, back["lines"])
        earlier_lines += back["lines"]
        value = min(goods_value(found.order, earlier_lines) - before, remaining["amount"])
        if value:
            total = money(value, remaining["currency"])
            reason = f"Return {back['number']}"
            found = add_refund(deps, found, total, reason, back["reference"], returned=taxes)
    return settle_refunds(deps, found)


def restock_returns(deps: Dependencies, found: OrderDocuments) -> OrderDocuments:
    """Puts the units of every return back into stock, once each; the document that says so comes last."""
    order = found.order
    for back in found.returns:
        if found.restocked(back):
            continue
        lines = stock_lines(order["basket"], back["lines"])
        deps.products.take_back(order["orderid"], lines, back["reference"])
        key = order_key(order["orderid"], f"{back['reference']}restocked")
        restock = RESTOCK.build(key, **event_fields(order), reference=back["reference"], lines=lines)
        found = found.with_document(deps.orders.add(restock)[0])
    return found


def _return_document(
    found: OrderDocuments, requested: list[dict[str, Any]], reason: str, request: tuple[str, str] | None
) -> Return:
    number = len(found.returns) + 1
    return RETURN.build(
        order_key(found.order["orderid"], f"return{number}"),
        **event_fields(found.order),
        number=number,
        reference=new_reference("return", request),
        lines=returned_lines(found.order["basket"], found.returns, requested),
        reason=reason,
        request=list(request) if request else None,
    )
