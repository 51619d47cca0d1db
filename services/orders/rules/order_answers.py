"""An order as it is answered: whole, and as a line of a list."""

from typing import Any, Final

from services.orders.declarations.events import (
    CANCELLATION_FIELDS,
    DELIVERY_FIELDS,
    DISPATCH_FIELDS,
    PAYMENT_FIELDS,
)
from services.orders.declarations.invoices import INVOICE_FIELDS
from services.orders.declarations.order import ORDER_FIELDS
from services.orders.declarations.parts import LINE_FIELDS
from services.orders.rules.assembly import OrderDocuments
from services.orders.rules.captures import capturable, taken
from services.orders.rules.credits import credits_of, to_charge
from services.orders.rules.order_returns import OrderReturn, return_answer
from services.orders.rules.parcel_answers import (
    line_cancellation_answer,
    line_progress,
    parcel_answer,
    timeline,
)
from services.orders.rules.parcel_labels import label_answer, parcel_labels
from services.orders.rules.progress import (
    Progress,
    is_dispatched,
    number_of,
    refunded_of,
    returned_of,
    status_of,
)
from services.orders.rules.refund_failures import refund_answer
from services.orders.rules.stall import shown_oversold
from shared.couch import Document
from shared.fields import Declaration
from shared.money import money

PERSONAL_FIELDS: Final = ("name", "email", "deliveryAddress")


def whole_order(found: OrderDocuments, *, for_staff: bool = False) -> dict[str, Any]:
    """The order of api.md. Staff see the labels that were bought for its parcels, too."""
    order, customer, progress = found.order, found.customer, found.progress
    returns, parcels, cancelled = found.order_returns, found.parcels, found.line_cancellations
    status, waiting = status_of(progress), found.waiting
    return {
        **ORDER_FIELDS.shown(order),
        "status": status,
        "refunded": refunded_of(progress),
        "returned": returned_of(progress),
        "items": [
            LINE_FIELDS.shown(line) | line_progress(line, status, parcels, cancelled, returns, waiting)
            for line in order["basket"]
        ],
        "waiting": sum(waiting.values()),
        **({"oversold": lacking} if (lacking := shown_oversold(found)) else {}),
        "deliveryCharge": order["delivery"],
        "credits": credits_of(order),
        "to_pay": to_charge(order),
        **({name: customer[name] if customer else None for name in PERSONAL_FIELDS}),
        "payment": _shown_payment(found),
        "payment_page": payment_page(found),
        "payment_processing": found.is_open and found.processing is not None,
        "dispatch": _shown(DISPATCH_FIELDS, found.dispatch),
        "delivery": _shown(DELIVERY_FIELDS, found.delivery),
        "parcels": [parcel_answer(parcel) for parcel in parcels],
        "cancellation": _shown(CANCELLATION_FIELDS, found.cancellation),
        "line_cancellations": [line_cancellation_answer(each, found.refunds) for each in cancelled],
        "refunds": [refund_answer(found, refund) for refund in found.refunds],
        "returns": [shown_return(found, back, for_staff=for_staff) for back in returns],
        "invoice": _shown(INVOICE_FIELDS, found.invoice),
        "credit_notes": [
            {"number": note["number"], "refund": number, "date": note["date"]}
            for number, note in sorted(found.credit_notes.items())
        ],
        "timeline": timeline(found.documents, parcels, all_sent=is_dispatched(progress)),
        **({"labels": [label_answer(each) for each in parcel_labels(found)]} if for_staff else {}),
    }


def shown_return(found: OrderDocuments, back: OrderReturn, *, for_staff: bool = False) -> dict[str, Any]:
    restocked = found.is_restocked(back.reference)
    return return_answer(back, found.refunds, restocked=restocked, for_staff=for_staff)


def payment_page(found: OrderDocuments) -> dict[str, str] | None:
    """Where an order can still be paid; None for one that is paid, ended or waits for its money."""
    session = found.session
    if session is None or found.processing is not None or not found.is_open:
        return None
    return {"url": session["url"], "expires": session["expires"]}


def _shown_payment(found: OrderDocuments) -> dict[str, Any] | None:
    payment = _shown(PAYMENT_FIELDS, found.payment)
    if payment is None:
        return None
    held = found.was_reserved and not found.is_captured
    currency = payment["total"]["currency"]
    return {
        **payment,
        "captured": found.is_captured,
        "authorized_total": money(found.charged, currency),
        "captured_total": taken(found),
        "open_total": capturable(found) if held else money(0, currency),
    }


def summary_of(
    orderid: str, userid: str | None, placed: str, currency: str, progress: Progress
) -> dict[str, Any]:
    """One line of a list of orders, from the sums of a view row alone."""
    return {
        "orderid": orderid,
        "number": number_of(progress),
        "userid": userid,
        "date": placed,
        "status": status_of(progress),
        "refunded": refunded_of(progress),
        "returned": returned_of(progress),
        "open_returns": progress.open_returns,
        "waiting": 0 if progress.cancellations else progress.waiting,
        "total": money(progress.ordered or progress.paid, currency),
        "units": progress.units,
    }


def _shown(declaration: Declaration, doc: Document | None) -> dict[str, Any] | None:
    return None if doc is None else declaration.shown(doc)
