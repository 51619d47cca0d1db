"""How far an order is: counts of its documents, the status they mean, and the table of what may happen next.

The counts are the very numbers that the `progress` view sums, so a list and a single order can never disagree.
"""

from collections.abc import Sequence
from typing import Final, NamedTuple

from services.orders.declarations.returns import REFUSE
from services.orders.documents import (
    DELIVERY,
    DISPATCH,
    GIFT_CARDS_SENT,
    LABEL_PROBLEM,
    LABEL_REFUND,
    LINE_CANCELLATION,
    NUMBER_PREFIX,
    ORDER_SUMMARY,
    PARCEL_LABEL,
    PARCEL_LABEL_END,
    PARCEL_SHIPMENT,
    PAYMENT,
    RETURN_DECISION,
    RETURN_EXCHANGE,
    RETURN_LABEL,
    RETURN_REQUEST,
    RETURN_SHIPMENT,
    SPARE_SHIPMENT,
    STOCK_WAIT,
)
from shared.couch import Document
from shared.errors import Conflict


class Progress(NamedTuple):
    """One number per kind of document, in the order of views/progress.js."""

    orders: int = 0
    ordered: int = 0
    paid: int = 0
    units: int = 0
    payments: int = 0
    dispatches: int = 0
    deliveries: int = 0
    cancellations: int = 0
    decisions: int = 0
    refunds: int = 0
    refunded: int = 0
    settlements: int = 0
    returns: int = 0
    notices: int = 0
    imported: int = 0
    restocks: int = 0
    repaid: int = 0
    sessions: int = 0
    processing: int = 0
    unissued: int = 0
    returned_units: int = 0
    unnotified: int = 0
    open_returns: int = 0
    order_number: int = 0
    payment_number: int = 0
    parcel_units: int = 0
    cancelled_units: int = 0
    unsummarised: int = 0
    link_pages: int = 0
    links: int = 0
    waits: int = 0
    waiting: int = 0
    label_work: int = 0


_COUNTED: Final = {
    "order": "orders",
    PAYMENT.name: "payments",
    DISPATCH.name: "dispatches",
    DELIVERY.name: "deliveries",
    "cancellation": "cancellations",
    "decision": "decisions",
    "refund": "refunds",
    "settlement": "settlements",
    "return": "returns",
    "restock": "restocks",
    "paymentsession": "sessions",
    "paymentprocessing": "processing",
}

SUMMARISED: Final = (
    "order",
    "paymentsession",
    "paymentprocessing",
    PAYMENT.name,
    DISPATCH.name,
    DELIVERY.name,
    "cancellation",
    LINE_CANCELLATION.name,
    STOCK_WAIT.name,
    "refund",
    RETURN_REQUEST.name,
    RETURN_DECISION.name,
    RETURN_EXCHANGE.name,
    RETURN_SHIPMENT.name,
    RETURN_LABEL.name,
    "return",
    PARCEL_SHIPMENT.name,
    PARCEL_LABEL.name,
    PARCEL_LABEL_END.name,
    LABEL_PROBLEM.name,
    LABEL_REFUND.name,
    SPARE_SHIPMENT.name,
)
"""The documents that an order's summary is made from; `unsummarised` is nothing once it has seen all of them."""

PAYMENT_LINK: Final = "payment-link"
"""The kind of the e-mail with an order's payment page. `links` counts those that are to be sent, `link_pages` the pages."""

PLACED, PAID, DISPATCHED, DELIVERED = "placed", "paid", "dispatched", "delivered"
PARTLY_DISPATCHED, PARTLY_DELIVERED = "partly_dispatched", "partly_delivered"
CANCELLED, RETURNED = "cancelled", "returned"
NONE, PART, WHOLE = "none", "part", "whole"
STATUSES: Final = (
    PLACED,
    PAID,
    PARTLY_DISPATCHED,
    DISPATCHED,
    PARTLY_DELIVERED,
    DELIVERED,
    CANCELLED,
    RETURNED,
)

CANCELLED_LINES: Final = "cancelled"
"""How the references of cancelled lines begin."""
REFUND: Final = "refund"
"""How the references of refunds begin that staff decided."""
UNCOUNTED_NOTICES: Final = ("return-", f"{CANCELLED_LINES}-", f"{REFUND}-")
"""How the kinds of notices about returns, cancelled lines and refunds begin: they are counted apart, for their number is not known before."""

TRANSITIONS: Final = {
    (PLACED, "pay"): PAID,
    (PLACED, "abandon"): CANCELLED,
    (PAID, "dispatch"): DISPATCHED,
    (PAID, "cancel"): CANCELLED,
    (PAID, "cancel_lines"): PAID,
    (PAID, "refund"): PAID,
    (PARTLY_DISPATCHED, "dispatch"): DISPATCHED,
    (PARTLY_DISPATCHED, "cancel_lines"): DISPATCHED,
    (PARTLY_DISPATCHED, "deliver"): PARTLY_DELIVERED,
    (PARTLY_DISPATCHED, "refund"): PARTLY_DISPATCHED,
    (PARTLY_DELIVERED, "dispatch"): PARTLY_DELIVERED,
    (PARTLY_DELIVERED, "cancel_lines"): DELIVERED,
    (PARTLY_DELIVERED, "deliver"): DELIVERED,
    (PARTLY_DELIVERED, "refund"): PARTLY_DELIVERED,
    (PARTLY_DELIVERED, "return"): PARTLY_DELIVERED,
    (DISPATCHED, "deliver"): DELIVERED,
    (DISPATCHED, "refund"): DISPATCHED,
    (DELIVERED, "return"): RETURNED,
    (DELIVERED, "refund"): DELIVERED,
    (RETURNED, "return"): RETURNED,
    (RETURNED, "refund"): RETURNED,
}


class NotPossible(Conflict):
    """The transition table has no such step from here."""

    code, title = "transition_not_allowed", "The order is not in a state that allows this"


def progress_of(documents: Sequence[Document]) -> Progress:
    """The counts of one order's documents."""
    counts = dict.fromkeys(Progress._fields, 0)
    for doc in documents:
        if name := _COUNTED.get(doc["type"]):
            counts[name] += 1
        if doc["type"] == "order":
            counts["ordered"] = doc["total"]["amount"]
            counts["order_number"] = digits_of(doc.get("number"))
        elif doc["type"] == PAYMENT.name:
            counts["paid"], counts["units"] = doc["total"]["amount"], doc["units"]
            counts["payment_number"] = digits_of(doc.get("number"))
            counts["imported"] = int(bool(doc.get("imported")))
            counts["unissued"] += int(bool(doc.get("gift_cards_sold")))
        elif doc["type"] == "refund":
            counts["refunded"] += doc["total"]["amount"]
            counts["repaid"] += int(doc["cause"].startswith("return"))
            counts["settlements"] += int(bool(doc.get("by_hand")))
            counts["unnotified"] += int(bool(doc.get("notify")))
        elif doc["type"] == "settlement":
            counts["settlements"] -= int("by" in doc)
        elif doc["type"] == "paymentsession":
            counts["link_pages"] += int(bool(doc.get("link")))
            counts["links"] += int(bool(doc.get("link")))
        elif doc["type"] == GIFT_CARDS_SENT.name:
            counts["unissued"] -= 1
        elif doc["type"] == "notice" and doc["kind"] == PAYMENT_LINK:
            counts["links"] -= 1
        elif doc["type"] == "notice":
            counts["notices"] += int(not doc["kind"].startswith(UNCOUNTED_NOTICES))
            counts["unnotified"] -= int(doc["kind"].startswith(UNCOUNTED_NOTICES))
        elif doc["type"] == DISPATCH.name:
            counts["parcel_units"] += doc.get("units", 0)
        elif doc["type"] == LINE_CANCELLATION.name:
            counts["restocks"] -= 1
            counts["unnotified"] += 1
            counts["cancelled_units"] += sum(line["quantity"] for line in doc["lines"])
        elif doc["type"] == STOCK_WAIT.name:
            counts["waits"] += int(bool(doc["change"]))
            counts["waiting"] += doc["change"]
        elif doc["type"] == ORDER_SUMMARY.name:
            counts["unsummarised"] -= doc["events"]
            counts["label_work"] += int(bool(doc.get("label_work")))
        counts["unsummarised"] += int(doc["type"] in SUMMARISED)
        _count_return(doc, counts)
    return Progress(**counts)


def digits_of(number: str | None) -> int:
    """Of an order's number, as rows of lists hold it; 0 without one."""
    return int(number.removeprefix(NUMBER_PREFIX)) if number else 0


def number_of(progress: Progress) -> str | None:
    """What people call the order by. A customer's list is of payments, the others are of orders: either holds it."""
    digits = progress.order_number or progress.payment_number
    return f"{NUMBER_PREFIX}{digits}" if digits else None


def _count_return(doc: Document, counts: dict[str, int]) -> None:
    """`repaid` is less by what an approval owes before the goods are here, and by that more once they are."""
    if doc["type"] == "return":
        counts["returned_units"] += sum(line["quantity"] for line in doc["lines"])
        counts["repaid"] += int(bool(doc.get("refund_first")) or cost_nothing(doc))
        counts["unnotified"] += int(bool(doc.get("requested")))
        counts["open_returns"] -= int(bool(doc.get("requested")))
    elif doc["type"] in (RETURN_EXCHANGE.name, RETURN_LABEL.name):
        counts["unnotified"] += 1
    elif doc["type"] in (RETURN_REQUEST.name, RETURN_DECISION.name):
        counts["unnotified"] += 1
        counts["open_returns"] += int(doc["type"] == RETURN_REQUEST.name) - int(doc.get("decision") == REFUSE)
        counts["repaid"] -= int(bool(doc.get("refund_first")))


def cost_nothing(back: Document) -> bool:
    """Whether all that comes back was free, so that no refund follows."""
    return not any(line["amount"] for line in back["lines"])


def status_of(progress: Progress) -> str:
    """The one status its documents mean; never stored. It is returned once all of it came back."""
    if progress.cancellations:
        return CANCELLED
    if returned_of(progress) == WHOLE:
        return RETURNED
    if progress.deliveries:
        return DELIVERED if is_dispatched(progress) and not in_transit(progress) else PARTLY_DELIVERED
    if progress.dispatches:
        return DISPATCHED if is_dispatched(progress) else PARTLY_DISPATCHED
    return PAID if progress.payments else PLACED


def is_dispatched(progress: Progress) -> bool:
    """Whether all that was not cancelled has left. A parcel that names no units holds the whole order."""
    if not progress.parcel_units:
        return bool(progress.dispatches)
    return progress.parcel_units + progress.cancelled_units >= progress.units


def in_transit(progress: Progress) -> int:
    """How many parcels are on their way."""
    return progress.dispatches - progress.deliveries


def refunded_of(progress: Progress) -> str:
    """`none`, `part` or `whole`: refunds stand beside the status, for a delivered order can be refunded too."""
    if not progress.refunds:
        return NONE
    return WHOLE if progress.refunded >= progress.paid else PART


def returned_of(progress: Progress) -> str:
    """`none`, `part` or `whole` of the goods that were bought and not cancelled."""
    if not progress.returns:
        return NONE
    return WHOLE if progress.returned_units + progress.cancelled_units >= progress.units else PART


def require(progress: Progress, verb: str) -> str:
    """The status that `verb` leads to. Raises NotPossible when the table has no such step."""
    status = status_of(progress)
    following = TRANSITIONS.get((status, verb))
    if following is None:
        allowed = sorted(action for state, action in TRANSITIONS if state == status)
        possible = f"possible: {', '.join(allowed)}" if allowed else "nothing more can be done with it"
        raise NotPossible(
            f"An order that is {status} cannot {verb}; {possible}.", order_status=status, allowed=allowed
        )
    return following


def is_failed(progress: Progress) -> bool:
    """Whether it never became an order: an attempt that ended without a payment."""
    return bool(progress.cancellations) and not progress.payments


def is_finished(progress: Progress) -> bool:
    """Nothing is left for the worker to do: the sweep may pass over it."""
    if progress.refunds != progress.settlements or progress.label_work:
        return False
    if progress.returns > progress.repaid and progress.refunded < progress.paid:
        return False
    if progress.imported:
        return True
    if progress.unnotified > 0:
        return False
    if progress.returns > progress.restocks:
        return False
    if progress.cancellations:
        return progress.notices >= (2 if progress.payments else progress.processing)
    arrived = bool(progress.deliveries) and is_dispatched(progress) and not in_transit(progress)
    return arrived and are_all_notified(progress) and not progress.unissued


def are_all_notified(progress: Progress) -> bool:
    """Whether the e-mails about the payment, each parcel and its arrival were sent."""
    return progress.notices >= 1 + progress.dispatches + progress.deliveries
