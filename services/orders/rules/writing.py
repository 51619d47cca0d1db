"""The documents that steps of an order write; whoever writes one, its id and content are the same."""

from typing import Any

from services.orders.documents import (
    CANCELLATION,
    DECISION,
    DELIVERY,
    DISPATCH,
    LINE_ITEM,
    NOTICE,
    PAYMENT,
    order_key,
)
from services.orders.rules.assembly import line_of
from shared.clock import timestamp
from shared.couch import Doc
from shared.money import Money


def event_fields(order: Doc, date: str = "") -> dict[str, Any]:
    """What every later document repeats of its order; dated now unless told otherwise."""
    return {
        "orderid": order["orderid"],
        "userid": order["userid"],
        "placed": order["date"],
        "currency": order["total"]["currency"],
        "date": date or timestamp(),
    }


def items_of(order: Doc) -> list[Doc]:
    """The lines of an order as documents; the order's basket holds all of them."""
    orderid = order["orderid"]
    mark = {"imported": True} if order.get("imported") else {}
    return [
        LINE_ITEM.new(
            order_key(orderid, f"item{line['line']}"), orderid=orderid, userid=order["userid"], date=order["date"],
            **line_of(line), **mark,
        )
        for line in order["basket"]
    ]  # fmt: skip


def payment_of(order: Doc, provider: str, ref: str, total: Money, date: str, *, sold: bool = False) -> Doc:
    """`sold`: the stock is marked as sold already."""
    mark = {"imported": True} if order.get("imported") else {"sold": sold}
    return PAYMENT.new(
        order_key(order["orderid"], "payment"), **event_fields(order, date), paid=True, provider=provider,
        provider_ref=ref, total=total, units=sum(line["quantity"] for line in order["basket"]),
        lines=[sold_line(line) for line in order["basket"]], **mark,
    )  # fmt: skip


def sold_line(line: Doc) -> Doc:
    """What reports need to know of a line."""
    return {
        "productid": line["productid"],
        "name": line["name"],
        "quantity": line["quantity"],
        "amount": line["total"]["amount"],
    }


def dispatch_of(order: Doc, payment: Doc, courier: str, courierid: str, date: str = "") -> Doc:
    mark = {"imported": True} if order.get("imported") else {}
    return DISPATCH.new(
        order_key(order["orderid"], "dispatch"), **event_fields(order, date), dispatched=True, courier=courier,
        courierid=courierid, payment_date=payment["date"], **mark,
    )  # fmt: skip


def delivery_of(order: Doc, dispatch: Doc, date: str = "") -> Doc:
    mark = {"imported": True} if order.get("imported") else {}
    return DELIVERY.new(
        order_key(order["orderid"], "delivery"), **event_fields(order, date), delivered=True,
        courier=dispatch["courier"], courierid=dispatch["courierid"], dispatch_date=dispatch["date"], **mark,
    )  # fmt: skip


def decision_of(order: Doc, decision: str, reason: str, by: str) -> Doc:
    """`dispatch` or `cancel`: one id for both, so that only one of them can ever be taken."""
    return DECISION.new(
        order_key(order["orderid"], "decision"),
        **event_fields(order),
        decision=decision,
        reason=reason,
        by=by,
    )


def cancellation_of(order: Doc, reason: str, detail: str, by: str, *, was_paid: bool) -> Doc:
    return CANCELLATION.new(
        order_key(order["orderid"], "cancellation"), **event_fields(order), reason=reason, detail=detail, by=by,
        was_paid=was_paid,
    )  # fmt: skip


def notice_of(order: Doc, kind: str, message_id: str) -> Doc:
    return NOTICE.new(
        order_key(order["orderid"], f"notice-{kind}"), **event_fields(order), kind=kind, message_id=message_id
    )
