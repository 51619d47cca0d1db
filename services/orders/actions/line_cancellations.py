"""Cancelling some of an order's goods before they go out: the decision takes them from what is left to send, the rest can be repeated."""

from typing import Any

from services.orders.actions.cancellation import cancel_order
from services.orders.actions.captures import close_captures
from services.orders.actions.emails import compose_mail, goods_list
from services.orders.actions.line_refunds import refund_cancelled
from services.orders.actions.refunds import (
    MAX_ATTEMPTS,
    OrderBusy,
    require_provider,
    same_request,
    settle_refunds,
)
from services.orders.declarations.events import LineCancellation
from services.orders.declarations.order import name_of
from services.orders.declarations.parts import SoldLine
from services.orders.dependencies import Dependencies
from services.orders.documents import LINE_CANCELLATION, RESTOCK, order_key
from services.orders.rules.assembly import OrderDocuments
from services.orders.rules.identity import new_reference
from services.orders.rules.parcels import chosen_lines, is_everything
from services.orders.rules.progress import CANCELLED_LINES, require
from services.orders.rules.returns import stock_lines
from services.orders.rules.writing import event_fields, numbered_key
from shared.errors import Unavailable
from shared.mail import Email
from shared.money_text import localized
from shared.translation import gettext

REFUND_REASON = "Goods were cancelled."


def cancel_lines(
    deps: Dependencies,
    found: OrderDocuments,
    items: list[dict[str, Any]],
    actor: str,
    reason: str,
    request: tuple[str, str] | None,
) -> OrderDocuments:
    """Cancels so many of these goods and pays them back; where nothing would be left to send and nothing has left, the whole order.

    Raises NotPossible once all of it is on its way, Invalid for more than is left to send.
    """
    for _ in range(MAX_ATTEMPTS):
        known = [each for each in found.line_cancellations if request and same_request(each, request)]
        if known:
            return _finished(deps, found, known[0])
        if found.cancellation is not None and found.payment is not None:
            return found
        require(found.progress, "cancel_lines")
        require_provider(deps, found)
        lines = chosen_lines(found.order["basket"], found.left_to_send, items, "cancelled")
        if not found.dispatch_decisions and is_everything(found.left_to_send, lines):
            return cancel_order(deps, found, actor, reason)
        _mark_sold(deps, found)
        stored, created = deps.orders.add(_cancellation_of(found, lines, actor, reason, request))
        if created:
            return _finished(deps, found.with_document(stored), stored)
        found = deps.orders.order(found.order["orderid"])
    raise OrderBusy


def finish_line_cancellations(deps: Dependencies, found: OrderDocuments) -> OrderDocuments:
    """Everything that follows from each decision; the document that the goods are in stock again comes last and proves the rest."""
    for cancelled in found.unfinished_line_cancellations:
        reference, order = cancelled["reference"], found.order
        found = refund_cancelled(
            deps, found, cancelled["lines"], cancelled["reason"] or REFUND_REASON, reference
        )
        lines = [] if order.get("imported") else stock_lines(order["basket"], cancelled["lines"])
        if lines:
            deps.products.take_back(order["orderid"], lines, reference)
        found = close_captures(deps, found)
        key = order_key(order["orderid"], f"{reference}restocked")
        restock = RESTOCK.build(key, **event_fields(order), reference=reference, lines=lines)
        found = found.with_document(deps.orders.add(restock)[0])
    return settle_refunds(deps, found)


def compose_line_cancellation(deps: Dependencies, found: OrderDocuments, kind: str) -> Email:
    """The e-mail of which the reference is the `kind`."""
    cancelled = next(each for each in found.line_cancellations if each["reference"] == kind)
    refund = next((each for each in found.refunds if each["cause"] == kind), None)
    total = localized(refund["total"]) if refund else ""
    text = [
        gettext("these goods of your order were cancelled:"),
        goods_list(found, cancelled["lines"]),
        *([gettext("%(total)s are paid back the way you paid.", total=total)] if total else []),
        gettext("The rest of it goes on as before."),
    ]
    subject = gettext("A part of your order %(order)s was cancelled", order=name_of(found.order))
    return compose_mail(deps, found, subject, "\n\n".join(text), kind)


def _finished(deps: Dependencies, found: OrderDocuments, cancelled: LineCancellation) -> OrderDocuments:
    """What a service that does not answer leaves undone is left to the worker."""
    if found.is_restocked(cancelled["reference"]):
        return found
    try:
        return finish_line_cancellations(deps, found)
    except (Unavailable, OrderBusy):
        return deps.orders.order(found.order["orderid"])


def _mark_sold(deps: Dependencies, found: OrderDocuments) -> None:
    """Goods that are only reserved are sold first: a part of a reservation cannot be given back. Raises ReservationClosed."""
    order = found.order
    if not (found.require_payment().get("sold") or found.noticed("payment") or order.get("imported")):
        deps.products.confirm(order["orderid"], order["basket"])


def _cancellation_of(
    found: OrderDocuments,
    lines: list[SoldLine],
    actor: str,
    reason: str,
    request: tuple[str, str] | None,
) -> LineCancellation:
    return LINE_CANCELLATION.build(
        order_key(found.order["orderid"], numbered_key("decision", found.next_decision)),
        **event_fields(found.order),
        number=len(found.line_cancellations) + 1,
        reference=new_reference(CANCELLED_LINES, request),
        lines=lines,
        reason=reason,
        by=actor,
        request=list(request) if request else None,
    )
