"""The documents that steps of an order write; their ids and contents are fixed, so a repetition writes the same."""

from collections.abc import Mapping, Sequence
from typing import Any

from services.orders.declarations.credits import CreditPayment
from services.orders.declarations.events import (
    Cancellation,
    Decision,
    Notice,
    OrderDelivery,
    OrderDispatch,
    OrderPayment,
)
from services.orders.declarations.order import Order, OrderCosts, OrderLineItem
from services.orders.declarations.parts import LINE_FIELDS, Line, SoldLine, net_price
from services.orders.documents import (
    CANCELLATION,
    COSTS,
    DECISION,
    DELIVERY,
    DISPATCH,
    LINE_ITEM,
    NOTICE,
    PAYMENT,
    order_key,
)
from shared.clock import timestamp
from shared.money import Money, add


def event_fields(order: Order, date: str = "") -> dict[str, Any]:
    """What every later document repeats of its order; dated now without a `date`."""
    return {
        "orderid": order["orderid"],
        "userid": order["userid"],
        "placed": order["date"],
        "currency": order["total"]["currency"],
        "date": date or timestamp(),
    }


def items_of(order: Order) -> list[OrderLineItem]:
    """The lines of an order as documents; the order's basket holds all of them."""
    orderid = order["orderid"]
    mark = {"imported": True} if order.get("imported") else {}
    return [
        LINE_ITEM.build(
            order_key(orderid, f"item{line['line']}"),
            orderid=orderid,
            userid=order["userid"],
            date=order["date"],
            **LINE_FIELDS.shown(line),
            **mark,
        )
        for line in order["basket"]
    ]


def costs_of(orderid: str, costs: Mapping[str, int]) -> list[OrderCosts]:
    """The document of what one piece of each SKU or productid costs; none where no cost is known."""
    return [COSTS.build(order_key(orderid, "costs"), orderid=orderid, costs=dict(costs))] if costs else []


def payment_of(
    order: Order,
    provider: str,
    ref: str,
    total: Money,
    date: str,
    *,
    sold: bool = False,
    capture_before: str | None = None,
    several_captures: bool = False,
    credits: Sequence[CreditPayment] = (),
) -> OrderPayment:
    """`sold`: the stock is marked as sold already; `capture_before`: the money is only reserved, until then ("": nobody knows).

    `total` is what the provider took; what gift cards and store credit paid besides are `credits`.
    """
    mark: dict[str, Any] = {"imported": True} if order.get("imported") else {"sold": sold}
    if capture_before is not None:
        mark |= {"captured": False, "capture_before": capture_before}
        mark |= {"several_captures": True} if several_captures else {}
    paid = total
    if credits:
        paid = add(total, *(credit["amount"] for credit in credits))
        mark |= {"credits": list(credits), "charged": total}
    if sold_cards := value_of_gift_cards(order["basket"]):
        mark["gift_cards_sold"] = sold_cards
    return PAYMENT.build(
        order_key(order["orderid"], "payment"),
        **event_fields(order, date),
        paid=True,
        **({"number": order["number"]} if order.get("number") else {}),
        provider=provider,
        provider_ref=ref,
        total=paid,
        units=sum(line["quantity"] for line in order["basket"]),
        lines=[sold_line(line) for line in order["basket"]],
        **({"taxes": order["taxes"]} if order.get("taxes") else {}),
        **mark,
    )


def value_of_gift_cards(basket: Sequence[Line]) -> int:
    return sum(line["total"]["amount"] for line in basket if line.get("gift_card"))


def sold_line(line: Line) -> SoldLine:
    """What reports need to know of a line."""
    return sold(line, line["quantity"], net_price(line))


def sold(line: Line, quantity: int, amount: int) -> SoldLine:
    """So many of a line's product or variant, for that much."""
    found: SoldLine = {
        "productid": line["productid"],
        "name": line["name"],
        "quantity": quantity,
        "amount": amount,
    }
    if sku := line.get("sku"):
        found["sku"] = sku
    return found


def dispatch_of(
    order: Order,
    payment: OrderPayment,
    courier: str,
    courierid: str,
    date: str = "",
    *,
    number: int = 1,
    tracking_url: str = "",
    lines: Sequence[SoldLine] | None = None,
) -> OrderDispatch:
    """A parcel; without `lines` of the whole order. Gift cards, which go out by e-mail, are counted with the first one."""
    mark: dict[str, Any] = {"imported": True} if order.get("imported") else {}
    if lines is not None:
        by_email = [line for line in order["basket"] if line.get("gift_card") and number == 1]
        mark |= {
            "lines": list(lines),
            "units": sum(line["quantity"] for line in [*lines, *by_email]),
        }
    return DISPATCH.build(
        order_key(order["orderid"], numbered_key("dispatch", number)),
        **event_fields(order, date),
        dispatched=True,
        courier=courier,
        courierid=courierid,
        payment_date=payment["date"],
        **({"tracking_url": tracking_url} if tracking_url else {}),
        **mark,
    )


def delivery_of(order: Order, dispatch: OrderDispatch, date: str = "", *, number: int = 1) -> OrderDelivery:
    mark = {"imported": True} if order.get("imported") else {}
    return DELIVERY.build(
        order_key(order["orderid"], numbered_key("delivery", number)),
        **event_fields(order, date),
        delivered=True,
        courier=dispatch["courier"],
        courierid=dispatch["courierid"],
        dispatch_date=dispatch["date"],
        **mark,
    )


def decision_of(
    order: Order, decision: str, reason: str, by: str, *, number: int = 1, date: str = "", **parcel: Any
) -> Decision:
    """`dispatch` or `cancel`: one id for both, so that only one of them can ever be taken. `parcel`: what a dispatch will be."""
    return DECISION.build(
        order_key(order["orderid"], numbered_key("decision", number)),
        **event_fields(order, date),
        decision=decision,
        reason=reason,
        by=by,
        **parcel,
    )


def numbered_key(name: str, number: int) -> str:
    """`dispatch`, `dispatch2`, `dispatch3`: the first one has no number, as orders of older versions have but one."""
    return name if number == 1 else f"{name}{number}"


def cancellation_of(order: Order, reason: str, detail: str, by: str, *, was_paid: bool) -> Cancellation:
    return CANCELLATION.build(
        order_key(order["orderid"], "cancellation"),
        **event_fields(order),
        reason=reason,
        detail=detail,
        by=by,
        was_paid=was_paid,
    )


def notice_of(order: Order, kind: str, message_id: str) -> Notice:
    return NOTICE.build(
        order_key(order["orderid"], f"notice-{kind}"), **event_fields(order), kind=kind, message_id=message_id
    )
