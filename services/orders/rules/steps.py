"""What an order's documents still call for: the worker does these steps, in any order, as often as it likes."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from services.orders.rules.assembly import OrderDocuments
from services.orders.rules.captures import pays_for_gift_cards, reserved
from services.orders.rules.parcel_labels import parcel_labels, spare_shipments
from services.orders.rules.progress import (
    PAYMENT_LINK,
    Progress,
    are_all_notified,
    cost_nothing,
    in_transit,
    is_dispatched,
    is_finished,
)
from shared.clock import parse

RECONCILE = "reconcile"
REFRESH_PAYMENT = "refresh_payment"
PAY_BACK = "pay_back"
CONFIRM = "confirm"
SETTLE_REFUNDS = "settle_refunds"
FINISH_CANCELLATION = "finish_cancellation"
NOTIFY_CANCELLATION = "notify_cancellation"
NOTIFY_PAYMENT_FAILED = "notify_payment_failed"
SEND_PAYMENT_LINK = "send_payment_link"
CHECK_STOCK = "check_stock"
DISPATCH = "dispatch"
NOTIFY_DISPATCH = "notify_dispatch"
DELIVER = "deliver"
NOTIFY_DELIVERY = "notify_delivery"
RESTOCK = "restock"
ISSUE_GIFT_CARDS = "issue_gift_cards"
NOTIFY_RETURNS = "notify_returns"
BUY_LABELS = "buy_labels"
GIVE_BACK_LABELS = "give_back_labels"
BUY_PARCEL_LABELS = "buy_parcel_labels"
GIVE_BACK_PARCEL_LABELS = "give_back_parcel_labels"
GIVE_BACK_SPARE_LABELS = "give_back_spare_labels"
KEEP_EXCHANGES = "keep_exchanges"
PAY_EXCHANGE = "pay_exchange"
REPORT_EXCHANGE = "report_exchange"
FINISH_LINE_CANCELLATIONS = "finish_line_cancellations"
NOTIFY_LINE_CANCELLATIONS = "notify_line_cancellations"
NOTIFY_REFUNDS = "notify_refunds"
CAPTURE = "capture"


FEED_GRACE = timedelta(seconds=5)
"""The changes feed gets so long before the sweep looks after a paid order."""
DEEP_SWEEP_MINUTE = 17
"""Of every hour. The provider is asked then, too, about money that takes days, should its event be lost."""
CAPTURE_AHEAD = timedelta(days=1)
"""Money for goods that have gone out is taken so long before the bank would let it go."""
PAGE_GRACE_SECONDS = 5.0
"""A payment page that has ended is looked at so much later: the provider may count the seconds otherwise."""


@dataclass(frozen=True)
class Policy:
    """How long things take, and what the courier does: see `clients.couriers.Courier`. `sends_parts`: what is here of an order goes out while
    the rest waits for goods."""

    courier: str
    attempt_seconds: float = 30.0
    books_parcels: bool = True
    reports_arrival: bool = False
    dispatch_seconds: float = 5.0
    delivery_seconds: float = 10.0
    page_seconds: float = 2100.0
    link_seconds: float = 84000.0
    sends_parts: bool = True


@dataclass(frozen=True)
class Plan:
    """Steps to do now, and the seconds until another falls due (None: nothing is waited for)."""

    due: tuple[str, ...] = ()
    wait: float | None = None


def plan(found: OrderDocuments, moment: datetime, policy: Policy) -> Plan:
    """What to do for this order at `moment`."""
    if not found.exists:
        return Plan()
    ordered, labels = _order_plan(found, moment, policy), parcel_labels(found)
    waits = [label.seconds_to_refund(moment) for label in labels if label.owes_refund]
    unused = [back for back in found.order_returns if back.owes_label_refund]
    due = [BUY_PARCEL_LABELS] if any(label.is_being_bought for label in labels) else []
    due += [GIVE_BACK_PARCEL_LABELS] if any(wait <= 0 for wait in waits) else []
    due += [GIVE_BACK_SPARE_LABELS] if spare_shipments(found) else []
    waits += [back.seconds_to_label_refund(moment) for back in unused]
    later = [wait for wait in (ordered.wait, *waits) if wait is not None and wait > 0]
    return Plan((*ordered.due, *due), min(later, default=None))


def _order_plan(found: OrderDocuments, moment: datetime, policy: Policy) -> Plan:
    if found.payment is None:
        return _attempt(found, moment, policy)
    due = [SETTLE_REFUNDS] if _owes_refunds(found) else []
    due += _labels(found, moment)
    if found.payment.get("imported"):
        return Plan(tuple(due))
    if found.is_paid_after_the_end:
        due.append(PAY_BACK)
    if not found.noticed("payment"):
        due += [REPORT_EXCHANGE, CONFIRM] if found.order.get("exchange_of") else [CONFIRM]
    elif any(not found.restocked(back) for back in found.returns):
        due.append(RESTOCK)
    if found.return_notices:
        offers = any(back.offer for back in found.order_returns)
        due += [KEEP_EXCHANGES, NOTIFY_RETURNS] if offers else [NOTIFY_RETURNS]
    due += _line_cancellations(found)
    due += [NOTIFY_REFUNDS] if refund_notices(found) else []
    if found.may_wait and not found.waits and found.noticed("payment"):
        due.append(CHECK_STOCK)
    if found.cancellation is not None:
        return Plan((*due, *([] if found.noticed("cancellation") else [NOTIFY_CANCELLATION])))
    if found.is_being_cancelled:
        return Plan((*due, FINISH_CANCELLATION))
    if found.owes_gift_cards and pays_for_gift_cards(found) and found.noticed("payment"):
        due.append(ISSUE_GIFT_CARDS)
    return _parcels(found, due, moment, policy)


def refund_notices(found: OrderDocuments) -> list[str]:
    """The kinds of the e-mails about refunds that were not sent yet."""
    references = (refund["reference"] for refund in found.refunds if refund.get("notify"))
    return [kind for kind in references if not found.noticed(kind)]


def _owes_refunds(found: OrderDocuments) -> bool:
    unsettled = (each for each in found.refunds if each["total"]["amount"] and not found.settled(each))
    if any(not each.get("by_hand") for each in unsettled):
        return True
    remaining: int = found.require_payment()["total"]["amount"] - sum(
        refund["total"]["amount"] for refund in found.refunds
    )
    return remaining > 0 and any(not cost_nothing({"lines": back.lines}) for back in found.unrefunded_returns)


def _attempt(found: OrderDocuments, moment: datetime, policy: Policy) -> Plan:
    if found.cancellation is not None:
        failed = found.processing is not None and not found.noticed("payment_failed")
        reports = (REPORT_EXCHANGE,) if found.order.get("exchange_of") else ()
        return Plan((*reports, *((NOTIFY_PAYMENT_FAILED,) if failed else ())))
    if found.processing is not None:
        return Plan((REFRESH_PAYMENT,))
    if found.session is not None:
        unsent = found.session.get("link") and not found.noticed(PAYMENT_LINK)
        due = [SEND_PAYMENT_LINK] if unsent else []
        return _when_due(found.session["expires"], PAGE_GRACE_SECONDS, moment, due, RECONCILE)
    if found.order.get("exchange_of"):
        return Plan((PAY_EXCHANGE,))
    return _when_due(found.order["date"], policy.attempt_seconds, moment, [], RECONCILE)


def _labels(found: OrderDocuments, moment: datetime) -> list[str]:
    """Before the e-mails: that of a label goes out with the one of the approval."""
    returns = found.order_returns
    due = [BUY_LABELS] if any(back.buys_label for back in returns) else []
    owed = (back for back in returns if back.owes_label_refund)
    return (
        [*due, GIVE_BACK_LABELS] if any(each.seconds_to_label_refund(moment) <= 0 for each in owed) else due
    )


def _line_cancellations(found: OrderDocuments) -> list[str]:
    due = [FINISH_LINE_CANCELLATIONS] if found.unfinished_line_cancellations else []
    notified = all(found.noticed(each["reference"]) for each in found.line_cancellations)
    return due if notified else [*due, NOTIFY_LINE_CANCELLATIONS]


def _parcels(found: OrderDocuments, due: list[str], moment: datetime, policy: Policy) -> Plan:
    """Goods go out once they are surely sold: as the payment says, or as the confirmation has seen to. What is left of an order of
    which a part has gone out waits for people."""
    payment, parcels = found.require_payment(), found.parcels
    if found.goes_by_email and found.noticed("payment"):
        if not parcels or parcels[0].delivery is None:
            return Plan((*due, DELIVER if parcels else DISPATCH))
    elif any("courier" in decision for decision in found.unwritten_parcels.values()):
        due.append(DISPATCH)
    elif found.has_waited or (found.may_wait and not parcels):
        if not parcels and (seconds := _remaining(payment["date"], policy.dispatch_seconds, moment)) > 0:
            return Plan(tuple(due), seconds)
        if policy.books_parcels and can_send(found, policy):
            due.append(DISPATCH)
    elif not parcels:
        if not policy.books_parcels or not (payment.get("sold") or found.noticed("payment")):
            return Plan(tuple(due))
        return _when_due(payment["date"], policy.dispatch_seconds, moment, due, DISPATCH)
    if any(not found.noticed(parcel.kind) for parcel in parcels):
        due.append(NOTIFY_DISPATCH)
    if any(parcel.delivery and not found.noticed(parcel.delivery_kind) for parcel in parcels):
        due.append(NOTIFY_DELIVERY)
    waits = [*_seconds_to_arrival(found, moment, policy).values()]
    if any(wait <= 0 for wait in waits):
        due.append(DELIVER)
    if parcels and (ending := _reservation_ends(found)):
        waits.append(_remaining(ending, -CAPTURE_AHEAD.total_seconds(), moment))
        due += [CAPTURE] if waits[-1] <= 0 else []
    return Plan(tuple(due), min((wait for wait in waits if wait > 0), default=None))


def can_send(found: OrderDocuments, policy: Policy) -> bool:
    """Whether something of an order with goods that may wait can go out: at once, or all of it together."""
    return bool(found.ready_to_send) and (policy.sends_parts or not found.waiting)


def _reservation_ends(found: OrderDocuments) -> str:
    """Until when the money must be taken for what has gone out; empty where it is taken or more goes out by then."""
    payment = found.require_payment()
    if not found.was_reserved or payment.get("several_captures") or not found.left_to_send:
        return ""
    return "" if reserved(found).final else payment.get("capture_before", "")


def due_arrivals(found: OrderDocuments, moment: datetime, policy: Policy) -> list[int]:
    """The numbers of the parcels that have arrived by now, where nobody reports that."""
    if found.goes_by_email:
        return [parcel.number for parcel in found.parcels if parcel.delivery is None]
    return [number for number, wait in _seconds_to_arrival(found, moment, policy).items() if wait <= 0]


def _seconds_to_arrival(found: OrderDocuments, moment: datetime, policy: Policy) -> dict[int, float]:
    """By number, of the parcels on their way that the courier brings without a word."""
    if policy.reports_arrival:
        return {}
    return {
        parcel.number: _remaining(parcel.dispatch["date"], policy.delivery_seconds, moment)
        for parcel in found.parcels
        if parcel.delivery is None and parcel.dispatch["courier"] == policy.courier
    }


def _when_due(since: str, seconds: float, moment: datetime, due: list[str], step: str) -> Plan:
    remaining = _remaining(since, seconds, moment)
    return Plan((*due, step)) if remaining <= 0 else Plan(tuple(due), remaining)


def _remaining(since: str, seconds: float, moment: datetime) -> float:
    return (parse(since) + timedelta(seconds=seconds) - moment).total_seconds()


def may_be_due(progress: Progress, placed: str, moment: datetime, policy: Policy) -> bool | None:
    """From the sums of a list row alone: None for a finished order, else whether something may be due by now."""
    if is_finished(progress):
        return None
    if not progress.payments:
        return _attempt_may_be_due(progress, placed, moment, policy)
    moment -= FEED_GRACE
    waits_for_parcel = progress.notices == 1 and not progress.dispatches
    notified = progress.dispatches > 0 and are_all_notified(progress)
    waits_for_arrival = notified and in_transit(progress) > 0
    waits_for_people = notified and not in_transit(progress) and not is_dispatched(progress)
    owes = progress.refunds != progress.settlements or progress.returns > 0 or progress.unissued > 0
    owes = owes or progress.unnotified > 0 or progress.restocks < 0 or progress.label_work > 0
    owes = owes or (progress.dispatches > 0 and progress.decisions > progress.dispatches)
    waits = waits_for_parcel or waits_for_arrival or waits_for_people
    if progress.waits and (waits_for_parcel or waits_for_people) and not owes and not progress.cancellations:
        return (
            policy.books_parcels
            and _is_here(progress, policy)
            and _passed(placed, policy.dispatch_seconds, moment)
        )
    if owes or progress.cancellations or not waits:
        return _passed(placed, 0, moment)
    if waits_for_people or (waits_for_arrival and policy.reports_arrival):
        return False
    if waits_for_parcel and not policy.books_parcels:
        return bool(progress.decisions)
    seconds = policy.dispatch_seconds + (policy.delivery_seconds if waits_for_arrival else 0)
    return _passed(placed, seconds, moment)


def _is_here(progress: Progress, policy: Policy) -> bool:
    """Whether goods that can go out are left of an order of which some wait, or waited."""
    if progress.waiting and not policy.sends_parts:
        return False
    return progress.units > progress.parcel_units + progress.cancelled_units + progress.waiting


def is_settled(placed: str, moment: datetime) -> bool:
    """Whether the changes feed has had its time for an order that was placed then."""
    return _passed(placed, FEED_GRACE.total_seconds(), moment)


def _attempt_may_be_due(progress: Progress, placed: str, moment: datetime, policy: Policy) -> bool:
    if progress.cancellations:
        return True
    if progress.processing:
        return moment.minute in (DEEP_SWEEP_MINUTE, parse(placed).minute)
    if progress.links > 0:
        return True
    if progress.sessions:
        seconds = policy.link_seconds if progress.link_pages else policy.page_seconds
        return _passed(placed, seconds + PAGE_GRACE_SECONDS, moment)
    return _passed(placed, policy.attempt_seconds, moment)


def _passed(since: str, seconds: float, moment: datetime) -> bool:
    return parse(since) + timedelta(seconds=seconds) <= moment
