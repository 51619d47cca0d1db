"""After the sale: confirmation, dispatch, delivery and the e-mails about them, each written once whatever is retried."""

import logging
from collections.abc import Callable

from services.orders.actions import emails
from services.orders.actions.cancellation import cancel_unfulfillable, finish_cancellation
from services.orders.actions.captures import capture_payment
from services.orders.actions.checkout import pay_back, reconcile
from services.orders.actions.gift_card_sales import issue_bought
from services.orders.actions.hosted_payments import refresh_payment
from services.orders.actions.return_emails import compose_return
from services.orders.actions.returns import refund_returns, restock_returns
from services.orders.clients.services import ReservationClosed
from services.orders.declarations.parts import line_key
from services.orders.dependencies import Dependencies
from services.orders.documents import GIFT_CARDS_SENT, order_key
from services.orders.rules import steps
from services.orders.rules.assembly import OrderDocuments
from services.orders.rules.progress import NotPossible, require
from services.orders.rules.writing import decision_of, delivery_of, dispatch_of, event_fields, notice_of
from shared.clock import now
from shared.errors import AisleError

BY_EMAIL = "e-mail"
log = logging.getLogger(__name__)

Step = Callable[[Dependencies, OrderDocuments], OrderDocuments]


def advance_order(deps: Dependencies, orderid: str) -> float | None:
    """Does all that an order's documents call for now; seconds until more falls due, or None.

    One step that fails does not hold up the others; the first error is raised when all were tried.
    """
    found = deps.orders.order(orderid)
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
    if failures:
        raise failures[0]
    return plan.wait


def dispatch_order(
    deps: Dependencies, found: OrderDocuments, courier: str, courierid: str, actor: str, date: str = ""
) -> OrderDocuments:
    """Hands the order over, its money being taken before if it was only reserved.

    Raises NotPossible when it is cancelled, not paid, or with another parcel already, PaymentClosed when the bank does not hold
    the money any more.
    """
    if found.dispatch is not None and (found.dispatch["courier"], found.dispatch["courierid"]) == (
        courier,
        courierid,
    ):
        return found
    require(found.progress, "dispatch")
    if found.is_being_cancelled:
        raise NotPossible("The order is being cancelled.", order_status="paid")
    found = capture_payment(deps, found)
    decision, _ = deps.orders.add(decision_of(found.order, "dispatch", f"{courier} {courierid}", actor))
    if decision["decision"] != "dispatch":
        raise NotPossible("The order is being cancelled.", order_status="paid")
    dispatch, created = deps.orders.add(
        dispatch_of(found.order, found.require_payment(), courier, courierid, date)
    )
    if not created and (dispatch["courier"], dispatch["courierid"]) != (courier, courierid):
        raise NotPossible(
            f"The order went out with {dispatch['courier']} already.", order_status="dispatched"
        )
    return found.with_document(dispatch)


def deliver_order(deps: Dependencies, found: OrderDocuments, date: str = "") -> OrderDocuments:
    """The parcel arrived. Raises NotPossible when it never went out; a second time changes nothing."""
    if found.delivery is not None:
        return found
    require(found.progress, "deliver")
    delivery, _ = deps.orders.add(delivery_of(found.order, found.require_dispatch(), date))
    return found.with_document(delivery)


def _confirm(deps: Dependencies, found: OrderDocuments) -> OrderDocuments:
    order = found.order
    if (
        not found.require_payment().get("sold")
        and found.cancellation is None
        and not found.is_being_cancelled
    ):
        try:
            deps.products.confirm(order["orderid"], order["basket"])
        except ReservationClosed:
            found = cancel_unfulfillable(deps, found)
    if order["userid"] is not None:
        keys = [line_key(line) for line in order["basket"]]
        deps.users.clear_basket(order["userid"], keys, order["date"])
    return _notify(deps, found, "payment")


def _dispatch(deps: Dependencies, found: OrderDocuments) -> OrderDocuments:
    if found.goes_by_email:
        return dispatch_order(deps, found, BY_EMAIL, "gift cards", "worker")
    parcel = deps.courier.book(found.order["orderid"])
    return dispatch_order(deps, found, deps.courier.name, parcel, "worker")


def _notify(deps: Dependencies, found: OrderDocuments, kind: str) -> OrderDocuments:
    """Sends the e-mail, then writes that it was sent: a crash in between sends it twice, under one Message-ID, rather than never."""
    message_id = emails.send(deps, found, kind)
    return found.with_document(deps.orders.add(notice_of(found.order, kind, message_id))[0])


def _notify_returns(deps: Dependencies, found: OrderDocuments) -> OrderDocuments:
    """The e-mails about returns that were not sent yet, in their order."""
    for kind in found.return_notices:
        message_id = emails.deliver(deps, found, kind, compose_return)
        found = found.with_document(deps.orders.add(notice_of(found.order, kind, message_id))[0])
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
    steps.CONFIRM: _confirm,
    steps.SETTLE_REFUNDS: refund_returns,
    steps.RESTOCK: restock_returns,
    steps.NOTIFY_RETURNS: _notify_returns,
    steps.ISSUE_GIFT_CARDS: _issue_gift_cards,
    steps.FINISH_CANCELLATION: finish_cancellation,
    steps.NOTIFY_CANCELLATION: _notification("cancellation"),
    steps.DISPATCH: _dispatch,
    steps.NOTIFY_DISPATCH: _notification("dispatch"),
    steps.DELIVER: deliver_order,
    steps.NOTIFY_DELIVERY: _notification("delivery"),
}
