"""Goods that came back: their refund and the units back in stock follow from the documents of the returns, once each."""

from services.orders.actions.refunds import MAX_ATTEMPTS, OrderBusy, refund_of, refundable, settle_refunds
from services.orders.declarations.events import Refund
from services.orders.declarations.returns import DAMAGED
from services.orders.dependencies import Dependencies
from services.orders.documents import RESTOCK, order_key
from services.orders.rules.assembly import OrderDocuments
from services.orders.rules.refund_taxes import taxes_of_lines
from services.orders.rules.returns import goods_value, stock_lines
from services.orders.rules.writing import event_fields
from shared.money import money


def refund_returns(deps: Dependencies, found: OrderDocuments) -> OrderDocuments:
    """The refund of every return whose goods are here (or that is paid back before), never more than remains of the payment."""
    for _ in range(MAX_ATTEMPTS):
        refund = _next_refund(found)
        while refund is not None:
            written, created = deps.orders.add(refund)
            if not created:
                break
            found = found.with_document(written)
            refund = _next_refund(found)
        else:
            return settle_refunds(deps, found)
        found = deps.orders.order(found.order["orderid"])
    raise OrderBusy


def _next_refund(found: OrderDocuments) -> Refund | None:
    """Of the first return without one. What comes back in parts is worth together what it is worth at once: each part what it adds
    to those that were refunded."""
    waiting = found.unrefunded_returns
    done = {back.reference for back in found.order_returns} - {back.reference for back in waiting}
    counted = [line for back in found.order_returns if back.reference in done for line in back.refunded_lines]
    for back in waiting:
        remaining, lines = refundable(found), list(back.refunded_lines)
        value = goods_value(found.order, [*counted, *lines]) - goods_value(found.order, counted)
        if amount := min(value, remaining["amount"]):
            total, reason = money(amount, remaining["currency"]), f"Return {back.number}"
            taxes = taxes_of_lines(found.order, counted, lines)
            return refund_of(found, total, reason, back.reference, back.reference, returned=taxes)
        counted += lines
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
