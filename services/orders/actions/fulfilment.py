"""After the sale: confirmation, dispatch, delivery and the e-mails about them, each written once whatever is retried."""

import logging
from collections.abc import Callable, Sequence

from services.orders.actions import claims, emails
from services.orders.actions.backorders import check_stock
from services.orders.actions.cancellation import cancel_unfulfillable, finish_cancellation
from services.orders.actions.captures import capture_dispatched
from services.orders.actions.checkout import pay_back, reconcile
from services.orders.actions.emails import Composer
from services.orders.actions.exchanges import keep_kept, pay_exchange, report_exchange
from services.orders.actions.gift_card_sales import issue_bought
from services.orders.actions.hosted_payments import refresh_payment
from services.orders.actions.line_cancellations import compose_line_cancellation, finish_line_cancellations
from services.orders.actions.parcel_emails import compose_parcel
from services.orders.actions.parcel_labels import (
    buy_parcel_labels,
    give_back_parcel_labels,
    give_back_spare_labels,
)
from services.orders.actions.parcels import complete_parcels, deliver_order, dispatch_order
from services.orders.actions.refund_emails import compose_refund
from services.orders.actions.return_emails import compose_return
from services.orders.actions.return_labels import buy_labels, give_back_labels
from services.orders.actions.returns import refund_returns, restock_returns
from services.orders.actions.summaries import add_with_summary, summarise
from services.orders.clients.services import ReservationClosed
from services.orders.declarations.parts import line_key
from services.orders.dependencies import Dependencies
from services.orders.documents import GIFT_CARDS_SENT, order_key
from services.orders.rules import steps
from services.orders.rules.assembly import OrderDocuments
from services.orders.rules.parcels import Parcel
from services.orders.rules.progress import PAYMENT_LINK
from services.orders.rules.writing import event_fields, notice_of
from shared.clock import now
from shared.errors import AisleError

BY_EMAIL = "e-mail"
log = logging.getLogger(__name__)

Step = Callable[[Dependencies, OrderDocuments], OrderDocuments]


def advance_order(deps: Dependencies, orderid: str) -> float | None:
    """Does all that an order's documents call for now; seconds until more falls due, or None.

    One step that fails does not hold up the others; the first error is raised when all were tried. What the desk lists of the
    order is written with the notice of an e-mail, else once, after them all. Raises OrderBehind: the job comes again.
    """
    found = deps.orders.confirmed_order(orderid)
    done: set[str] = set()
    failures: list[AisleError] = []
    while True:
        plan = steps.plan(found, now(), deps.policy)
        todo = [step for step in plan.due if step not in done]
        if not todo:
            break
        for step in todo:
            done.add(step)
            try:
                found = STEPS[step](deps, found)
            except AisleError as error:
                log.warning("order %s: %s: %s", orderid, step, error.code)
                failures.append(error)
    summarise(deps, found)
    if failures:
        raise failures[0]
    return plan.wait


def _confirm(deps: Dependencies, found: OrderDocuments) -> OrderDocuments:
    order = found.order
    claims.record(deps, found)
    if (
        not found.require_payment().get("sold")
        and found.cancellation is None
        and not found.is_being_cancelled
    ):
        try:
            deps.products.confirm(order["orderid"], order["basket"])
        except ReservationClosed:
            found = cancel_unfulfillable(deps, found)
    found = check_stock(deps, found)
    if order["userid"] is not None:
        bought = {line_key(line): line["quantity"] for line in order["basket"]}
        deps.users.clear_basket(order["userid"], bought, order["date"])
    return _notify(deps, found, "payment")


def _dispatch(deps: Dependencies, found: OrderDocuments) -> OrderDocuments:
    if found.unwritten_parcels:
        return complete_parcels(deps, found)
    if found.goes_by_email:
        return dispatch_order(deps, found, BY_EMAIL, "gift cards", "worker")
    found = check_stock(deps, found)
    if found.may_wait and not steps.can_send(found, deps.policy):
        return found
    parcel = deps.courier.book(found.order["orderid"], len(found.dispatch_decisions) + 1)
    return dispatch_order(deps, found, deps.courier.name, parcel, "worker")


def _notify(deps: Dependencies, found: OrderDocuments, kind: str) -> OrderDocuments:
    """Sends the e-mail, then writes that it was sent: a crash in between sends it twice, under one Message-ID, rather than never."""
    return add_with_summary(deps, found, lambda: notice_of(found.order, kind, emails.send(deps, found, kind)))


def _notify_composed(
    deps: Dependencies, found: OrderDocuments, kind: str, composed: Composer
) -> OrderDocuments:
    """The same of an e-mail that is composed in its own way."""
    return add_with_summary(
        deps, found, lambda: notice_of(found.order, kind, emails.deliver(deps, found, kind, composed))
    )


def _notify_each(kinds: Callable[[OrderDocuments], Sequence[str]], composed: Composer) -> Step:
    """The e-mails of these kinds that were not sent yet, in their order."""

    def step(deps: Dependencies, found: OrderDocuments) -> OrderDocuments:
        for kind in kinds(found):
            if not found.noticed(kind):
                found = _notify_composed(deps, found, kind, composed)
        return found

    return step


def _notify_parcels(kinds: Callable[[Parcel], str | None]) -> Step:
    """The e-mails about parcels that were not sent yet. That of a whole order in one parcel says nothing of its lines."""

    def step(deps: Dependencies, found: OrderDocuments) -> OrderDocuments:
        for parcel in found.parcels:
            kind = kinds(parcel)
            if kind is None or found.noticed(kind):
                continue
            if "lines" in parcel.dispatch:
                found = _notify_composed(deps, found, kind, compose_parcel)
            else:
                found = _notify(deps, found, kind)
        return found

    return step


def _deliver(deps: Dependencies, found: OrderDocuments) -> OrderDocuments:
    """The parcels that the courier has brought by now."""
    for number in steps.due_arrivals(found, now(), deps.policy):
        found = deliver_order(deps, found, number=number)
    return found


def _issue_gift_cards(deps: Dependencies, found: OrderDocuments) -> OrderDocuments:
    """Which cards is written first, each card once, and last that they were sent: a crash in between sends them twice."""
    found, codes = issue_bought(deps, found)
    if not codes:
        return found
    sent = GIFT_CARDS_SENT.build(
        order_key(found.order["orderid"], "giftcardssent"),
        **event_fields(found.order),
        message_id=emails.send_gift_cards(deps, found, codes),
    )
    return found.with_document(deps.orders.add(sent)[0])


def _notification(kind: str) -> Step:
    return lambda deps, found: _notify(deps, found, kind)


STEPS: dict[str, Step] = {
    steps.PAY_BACK: pay_back,
    steps.RECONCILE: reconcile,
    steps.REFRESH_PAYMENT: refresh_payment,
    steps.NOTIFY_PAYMENT_FAILED: _notification("payment_failed"),
    steps.SEND_PAYMENT_LINK: _notify_each(lambda found: [PAYMENT_LINK], emails.compose_payment_link),
    steps.CONFIRM: _confirm,
    steps.SETTLE_REFUNDS: refund_returns,
    steps.RESTOCK: restock_returns,
    steps.FINISH_LINE_CANCELLATIONS: finish_line_cancellations,
    steps.NOTIFY_LINE_CANCELLATIONS: _notify_each(
        lambda found: [each["reference"] for each in found.line_cancellations], compose_line_cancellation
    ),
    steps.NOTIFY_REFUNDS: _notify_each(steps.refund_notices, compose_refund),
    steps.BUY_LABELS: buy_labels,
    steps.GIVE_BACK_LABELS: give_back_labels,
    steps.BUY_PARCEL_LABELS: buy_parcel_labels,
    steps.GIVE_BACK_PARCEL_LABELS: give_back_parcel_labels,
    steps.GIVE_BACK_SPARE_LABELS: give_back_spare_labels,
    steps.KEEP_EXCHANGES: keep_kept,
    steps.PAY_EXCHANGE: pay_exchange,
    steps.REPORT_EXCHANGE: report_exchange,
    steps.NOTIFY_RETURNS: _notify_each(lambda found: found.return_notices, compose_return),
    steps.ISSUE_GIFT_CARDS: _issue_gift_cards,
    steps.FINISH_CANCELLATION: finish_cancellation,
    steps.NOTIFY_CANCELLATION: _notification("cancellation"),
    steps.CHECK_STOCK: check_stock,
    steps.DISPATCH: _dispatch,
    steps.NOTIFY_DISPATCH: _notify_parcels(lambda parcel: parcel.kind),
    steps.DELIVER: _deliver,
    steps.CAPTURE: capture_dispatched,
    steps.NOTIFY_DELIVERY: _notify_parcels(lambda parcel: parcel.delivery_kind if parcel.delivery else None),
}
