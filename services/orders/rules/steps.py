"""What an order's documents still call for: the worker does these steps, in any order, as often as it likes."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from services.orders.rules.assembly import OrderDocuments
from services.orders.rules.progress import Progress, cost_nothing, is_finished
from shared.clock import parse

RECONCILE = "reconcile"
REFRESH_PAYMENT = "refresh_payment"
PAY_BACK = "pay_back"
CONFIRM = "confirm"
SETTLE_REFUNDS = "settle_refunds"
FINISH_CANCELLATION = "finish_cancellation"
NOTIFY_CANCELLATION = "notify_cancellation"
NOTIFY_PAYMENT_FAILED = "notify_payment_failed"
DISPATCH = "dispatch"
NOTIFY_DISPATCH = "notify_dispatch"
DELIVER = "deliver"
NOTIFY_DELIVERY = "notify_delivery"
RESTOCK = "restock"
ISSUE_GIFT_CARDS = "issue_gift_cards"
NOTIFY_RETURNS = "notify_returns"


FEED_GRACE = timedelta(seconds=5)
"""The changes feed gets so long before the sweep looks after a paid order."""
DEEP_SWEEP_MINUTE = 17
"""Of every hour. The provider is asked then, too, about money that takes days, should its event be lost."""
PAGE_GRACE_SECONDS = 5.0
"""A payment page that has ended is looked at so much later: the provider may count the seconds otherwise."""


@dataclass(frozen=True)
class Policy:
    """How long things take, and what the courier does: see `clients.couriers.Courier`."""

    courier: str
    attempt_seconds: float = 30.0
    books_parcels: bool = True
    reports_arrival: bool = False
    dispatch_seconds: float = 5.0
    delivery_seconds: float = 10.0
    page_seconds: float = 2100.0


@dataclass(frozen=True)
class Plan:
    """Steps to do now, and the seconds until another falls due (None: nothing is waited for)."""

    due: tuple[str, ...] = ()
    wait: float | None = None


def plan(found: OrderDocuments, moment: datetime, policy: Policy) -> Plan:
    """What to do for this order at `moment`."""
    if not found.exists:
        return Plan()
    if found.payment is None:
        return _attempt(found, moment, policy)
    due = [SETTLE_REFUNDS] if _owes_refunds(found) else []
    if found.payment.get("imported"):
        return Plan(tuple(due))
    if found.is_paid_after_the_end:
        due.append(PAY_BACK)
    if not found.noticed("payment"):
        due.append(CONFIRM)
    elif any(not found.restocked(back) for back in found.returns):
        due.append(RESTOCK)
    if found.return_notices:
        due.append(NOTIFY_RETURNS)
    if found.cancellation is not None:
        return Plan((*due, *([] if found.noticed("cancellation") else [NOTIFY_CANCELLATION])))
    if found.is_being_cancelled:
        return Plan((*due, FINISH_CANCELLATION))
    if found.owes_gift_cards and found.is_captured and found.noticed("payment"):
        due.append(ISSUE_GIFT_CARDS)
    return _parcel(found, due, moment, policy)


def _owes_refunds(found: OrderDocuments) -> bool:
    if any(not found.settled(refund) for refund in found.refunds if refund["total"]["amount"]):
        return True
    remaining: int = found.require_payment()["total"]["amount"] - sum(
        refund["total"]["amount"] for refund in found.refunds
    )
    return remaining > 0 and any(not cost_nothing({"lines": back.lines}) for back in found.unrefunded_returns)


def _attempt(found: OrderDocuments, moment: datetime, policy: Policy) -> Plan:
    if found.cancellation is not None:
        failed = found.processing is not None and not found.noticed("payment_failed")
        return Plan((NOTIFY_PAYMENT_FAILED,) if failed else ())
    if found.processing is not None:
        return Plan((REFRESH_PAYMENT,))
    if found.session is not None:
        return _when_due(found.session["expires"], PAGE_GRACE_SECONDS, moment, [], RECONCILE)
    return _when_due(found.order["date"], policy.attempt_seconds, moment, [], RECONCILE)


def _parcel(found: OrderDocuments, due: list[str], moment: datetime, policy: Policy) -> Plan:
    """Goods go out once they are surely sold: as the payment says, or as the confirmation has seen to."""
    payment, dispatch, delivery = found.require_payment(), found.dispatch, found.delivery
    if found.goes_by_email and found.noticed("payment"):
        if dispatch is None or delivery is None:
            return Plan((*due, DISPATCH if dispatch is None else DELIVER))
    elif dispatch is None:
        if not policy.books_parcels or not (payment.get("sold") or found.noticed("payment")):
            return Plan(tuple(due))
        return _when_due(payment["date"], policy.dispatch_seconds, moment, due, DISPATCH)
    if not found.noticed("dispatch"):
        due.append(NOTIFY_DISPATCH)
    if delivery is not None:
        return Plan((*due, *([] if found.noticed("delivery") else [NOTIFY_DELIVERY])))
    if dispatch is None or policy.reports_arrival or dispatch["courier"] != policy.courier:
        return Plan(tuple(due))
    return _when_due(dispatch["date"], policy.delivery_seconds, moment, due, DELIVER)


def _when_due(since: str, seconds: float, moment: datetime, due: list[str], step: str) -> Plan:
    remaining = (parse(since) + timedelta(seconds=seconds) - moment).total_seconds()
    return Plan((*due, step)) if remaining <= 0 else Plan(tuple(due), remaining)


def may_be_due(progress: Progress, placed: str, moment: datetime, policy: Policy) -> bool | None:
    """From the sums of a list row alone: None for a finished order, else whether something may be due by now."""
    if is_finished(progress):
        return None
    if not progress.payments:
        return _attempt_may_be_due(progress, placed, moment, policy)
    moment -= FEED_GRACE
    waits_for_parcel = progress.notices == 1 and not progress.dispatches
    waits_for_arrival = progress.notices == 2 and progress.dispatches == 1 and not progress.deliveries
    owes = progress.refunds != progress.settlements or progress.returns > 0 or progress.unissued > 0
    owes = owes or progress.unnotified > 0
    if owes or progress.cancellations or not (waits_for_parcel or waits_for_arrival):
        return _passed(placed, 0, moment)
    if waits_for_arrival and policy.reports_arrival:
        return False
    if waits_for_parcel and not policy.books_parcels:
        return bool(progress.decisions)
    seconds = policy.dispatch_seconds + (policy.delivery_seconds if waits_for_arrival else 0)
    return _passed(placed, seconds, moment)


def _attempt_may_be_due(progress: Progress, placed: str, moment: datetime, policy: Policy) -> bool:
    if progress.cancellations:
        return True
    if progress.processing:
        return moment.minute in (DEEP_SWEEP_MINUTE, parse(placed).minute)
    if progress.sessions:
        return _passed(placed, policy.page_seconds + PAGE_GRACE_SECONDS, moment)
    return _passed(placed, policy.attempt_seconds, moment)


def _passed(since: str, seconds: float, moment: datetime) -> bool:
    return parse(since) + timedelta(seconds=seconds) <= moment
