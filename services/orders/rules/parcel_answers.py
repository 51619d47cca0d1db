"""Parcels and cancelled lines as the API shows them, with what they mean for each line and for the timeline."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from services.orders.declarations.events import (
    DISPATCH_FIELDS,
    LINE_CANCELLATION_FIELDS,
    LineCancellation,
    Refund,
)
from services.orders.declarations.parts import SOLD_LINE_FIELDS, Line, line_key
from services.orders.documents import (
    DELIVERY,
    DISPATCH,
    LINE_CANCELLATION,
    PAYMENT,
    RETURN_REQUEST,
)
from services.orders.rules.order_returns import OrderReturn, came_back
from services.orders.rules.parcels import Parcel, line_numbers
from services.orders.rules.progress import (
    CANCELLED,
    DELIVERED,
    DISPATCHED,
    PAID,
    PARTLY_DELIVERED,
    PARTLY_DISPATCHED,
    PLACED,
)
from services.orders.rules.returns import quantities_by_key
from shared.couch import Document

_TIMELINE: Final = {
    "order": PLACED,
    PAYMENT.name: "paid",
    DISPATCH.name: "dispatched",
    DELIVERY.name: "delivered",
    "cancellation": "cancelled",
    LINE_CANCELLATION.name: "partly_cancelled",
    "refund": "refunded",
    RETURN_REQUEST.name: "return_requested",
    "return": "returned",
}
_RANKS: Final = (*_TIMELINE.values(), PARTLY_DISPATCHED, PARTLY_DELIVERED)


WAITING: Final = "waiting"
"""The status of a line of which nothing is here yet."""


def parcel_answer(parcel: Parcel) -> dict[str, Any]:
    return {
        **DISPATCH_FIELDS.shown(parcel.dispatch),
        "number": parcel.number,
        "tracking_url": parcel.dispatch.get("tracking_url") or None,
        "delivered": parcel.delivery["date"] if parcel.delivery else None,
        "lines": [SOLD_LINE_FIELDS.shown(line) for line in parcel.lines],
    }


def line_cancellation_answer(cancelled: LineCancellation, refunds: Iterable[Refund]) -> dict[str, Any]:
    """With what is paid back for it, once that is decided."""
    refund = next((each for each in refunds if each["cause"] == cancelled["reference"]), None)
    return {
        **LINE_CANCELLATION_FIELDS.shown(cancelled),
        "lines": [SOLD_LINE_FIELDS.shown(line) for line in cancelled["lines"]],
        "refund": refund["total"] if refund else None,
    }


def line_progress(
    line: Line,
    order_status: str,
    parcels: Sequence[Parcel],
    cancellations: Sequence[LineCancellation],
    returns: Iterable[OrderReturn],
    waiting: Mapping[str, int],
) -> dict[str, Any]:
    """What became of a line, where that is not what became of the whole order."""
    found: dict[str, Any] = {}
    if cancellations or any("lines" in parcel.dispatch for parcel in parcels):
        numbers = line_numbers(line, parcels, cancellations)
        found |= numbers
        status = _status(line["quantity"], **numbers)
        if status != order_status and not line.get("gift_card"):
            found["status"] = status
    if waits := waiting.get(line_key(line)):
        found["waiting"] = waits
        if waits == line["quantity"] - found.get("cancelled", 0):
            found["status"] = WAITING
    returned = quantities_by_key(came_back(returns)).get(line_key(line), 0)
    if not returned:
        return found
    whole = returned + found.get("cancelled", 0) >= line["quantity"]
    return {**found, "returned": returned, "status": "returned" if whole else "partly_returned"}


def _status(quantity: int, dispatched: int, delivered: int, cancelled: int) -> str:
    """The word that an order would have of which this was the only line."""
    due = quantity - cancelled
    if not due:
        return CANCELLED
    if delivered:
        return DELIVERED if delivered >= due else PARTLY_DELIVERED
    if dispatched:
        return DISPATCHED if dispatched >= due else PARTLY_DISPATCHED
    return PAID


def timeline(
    documents: Iterable[Document], parcels: Sequence[Parcel], *, all_sent: bool
) -> list[dict[str, str]]:
    """What happened when, oldest first; of several parcels the last one completes the order.

    Providers tell of a payment to the second, which begins before an order that is paid within it: nothing comes before it is placed.
    """
    part = _parts(parcels, all_sent)
    steps = [
        {"status": part.get(doc["_id"], _TIMELINE[doc["type"]]), "date": doc["date"]}
        for doc in documents
        if doc["type"] in _TIMELINE
    ]
    return sorted(
        steps, key=lambda step: (step["status"] != PLACED, step["date"], _RANKS.index(step["status"]))
    )


def _parts(parcels: Sequence[Parcel], all_sent: bool) -> dict[str, str]:
    """By document id, the step of each parcel after which others were still to come."""
    if len(parcels) == 1 and all_sent:
        return {}
    deliveries = sorted((each.delivery for each in parcels if each.delivery), key=lambda each: each["date"])
    all_arrived = all_sent and len(deliveries) == len(parcels)
    sent = parcels[:-1] if all_sent else parcels
    return {each.dispatch["_id"]: PARTLY_DISPATCHED for each in sent} | {
        each["_id"]: PARTLY_DELIVERED for each in (deliveries[:-1] if all_arrived else deliveries)
    }
