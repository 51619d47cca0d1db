"""An order as the provider's payment page shows it: made of its documents alone, and adding up to its total."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from services.orders.declarations.order import Order
from services.orders.declarations.parts import net_price
from services.orders.rules.assembly import OrderDocuments
from services.orders.rules.credits import to_charge
from shared.clock import parse
from shared.money import Money

MAX_LINES: Final = 100
MAX_NAME: Final = 120
EXCHANGE_PAGE_SECONDS: Final = 20 * 3600.0
"""With what `page_lifetime` adds as long as providers allow a page to be open: a day."""


@dataclass(frozen=True)
class PurchaseLine:
    """A line as the payment page shows it."""

    name: str
    quantity: int
    unit_price: int


@dataclass(frozen=True)
class Purchase:
    """An order as its payment page needs it: made of the order's documents alone, so that it is the same every time.

    `customer`: the provider's reference of a customer who keeps cards there; `saves_card`: this card is to be kept too.
    `captures` is False where the money is only reserved, and taken when the goods go out; with `several_captures` the provider is asked
    to let it be taken in parts.
    """

    orderid: str
    total: Money
    lines: tuple[PurchaseLine, ...]
    email: str
    expires: datetime
    paid_url: str
    cancelled_url: str
    customer: str = ""
    saves_card: bool = False
    captures: bool = True
    several_captures: bool = False


def page_lifetime(seconds: float) -> timedelta:
    """`seconds`, and some for a checkout that is slow or has to be repeated: a provider refuses a page that is too short."""
    return timedelta(seconds=seconds * 7 / 6)


def page_expires(order: Order, seconds: float) -> datetime:
    """When an order's page ends, to the second. That of an exchange is sent by e-mail."""
    seconds = EXCHANGE_PAGE_SECONDS if order.get("exchange_of") else seconds
    return (parse(order["date"]) + page_lifetime(seconds)).replace(microsecond=0)


def purchase_of(
    found: OrderDocuments,
    storefront_url: str,
    seconds: float,
    *,
    captures: bool,
    several_captures: bool,
    customer: str,
) -> Purchase:
    """Always the same for an order, whoever asks."""
    order, buyer = found.order, found.customer
    base = f"{storefront_url.rstrip('/')}/checkout"
    return Purchase(
        order["orderid"],
        to_charge(order),
        purchase_lines(order),
        buyer["email"] if buyer else "",
        page_expires(order, seconds),
        f"{base}/paid/{order['orderid']}",
        f"{base}/cancelled/{order['orderid']}",
        customer,
        bool(order.get("saves_card")),
        captures,
        several_captures,
    )


def purchase_lines(order: Order) -> tuple[PurchaseLine, ...]:
    """The order's lines less discounts, its delivery and what is added to them (tax); a single line where they are too many, or
    cost more than what is charged because something was deducted: a discount of all, or what a gift card pays."""
    lines = [
        _line(line["name"], line["quantity"], line["unitPrice"]["amount"], net_price(line))
        for line in order["basket"]
    ]
    if order["delivery"]["amount"]:
        lines.append(PurchaseLine("Delivery", 1, order["delivery"]["amount"]))
    charged = to_charge(order)["amount"]
    rest = charged - sum(line.quantity * line.unit_price for line in lines)
    if rest > 0:
        lines.append(PurchaseLine(order["tax"]["name"] or "Tax", 1, rest))
    if rest < 0 or len(lines) > MAX_LINES:
        return (PurchaseLine(f"Order {order['orderid']}", 1, charged),)
    return tuple(lines)


def _line(name: str, quantity: int, unit_price: int, total: int) -> PurchaseLine:
    """By the piece where that makes the line's total, else as one."""
    short = name[:MAX_NAME]
    if quantity * unit_price == total:
        return PurchaseLine(short, quantity, unit_price)
    return PurchaseLine(f"{quantity} × {short}", 1, total)
