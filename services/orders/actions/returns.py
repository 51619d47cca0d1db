"""Goods that came back: their refund and the units back in stock follow from the documents of the returns, once each."""

from services.orders.actions.exchanges import settle_exchanges, share_for
from services.orders.actions.refunds import (
    MAX_ATTEMPTS,
    OrderBusy,
    refund_of,
    refundable,
    settle_refunds,
    share_of,
)
from services.orders.declarations.events import Refund
from services.orders.declarations.returns import DAMAGED
from services.orders.dependencies import Dependencies
from services.orders.documents import RESTOCK, order_key
from services.orders.rules.assembly import OrderDocuments
from services.orders.rules.returns import stock_lines
from services.orders.rules.writing import event_fields
from shared.money import money


def refund_returns(deps: Dependencies, found: OrderDocuments) -> OrderDocuments:
    """The refund of every return whose goods are here (or that is paid back before), never more than remains of the payment; a part of
    it may pay for other goods."""
    for _ in range(MAX_ATTEMPTS):
        refund = _next_refund(deps, found)
        while refund is not None:
            written, created = deps.orders.add(refund)
            if not created:
                break
            found = found.with_document(written)
            refund = _next_refund(deps, found)
        else:
            return settle_refunds(deps, settle_exchanges(deps, found))
        found = deps.orders.order(found.order["orderid"])
    raise OrderBusy


def _next_refund(deps: Dependencies, found: OrderDocuments) -> Refund | None:
    """Of the first return without one that is worth anything."""
    for back in found.unrefunded_returns:
        remaining = refundable(found)
        value, taxes = share_of(found, back.refunded_lines)
        if amount := min(value, remaining["amount"]):
            total, reason = money(amount, remaining["currency"]), f"Return {back.number}"
            share = share_for(deps, found, back, amount)
            return refund_of(
                found, total, reason, back.reference, back.reference, returned=taxes, exchange=share
            )
    return None


def restock_returns(deps: Dependencies, found: OrderDocuments) -> OrderDocuments:
    """Puts what came back undamaged into stock again, once for each return; the document that says so comes last."""
    order = found.order
    for back in found.returns:
        if found.restocked(back):
            continue
        good = [line for line in back["lines"] if line.get("condition") != DAMAGED]
        lines = stock_lines(order["basket"], good)
        if lines:
            deps.products.take_back(order["orderid"], lines, back["reference"])
        key = order_key(order["orderid"], f"{back['reference']}restocked")
        restock = RESTOCK.build(key, **event_fields(order), reference=back["reference"], lines=lines)
        found = found.with_document(deps.orders.add(restock)[0])
    return found
