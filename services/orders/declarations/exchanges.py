"""Exchanges: other goods for those that come back, as a linked order which the value of the returned goods pays for."""

from typing import Annotated, Any, Final, NotRequired, TypedDict

from services.orders.declarations.common import ReadOnlyText
from shared.fields import Declaration, Integer, Text
from shared.money import Money

EXCHANGE: Final = "exchange"
"""The kind of credit that returned goods pay a linked order with: its id is the order whose provider took the money."""
EXCHANGE_NAME: Final = "Goods sent back"
OFFERED, PAID, UNPAID, SOLD_OUT = "offered", "paid", "unpaid", "sold_out"
EXCHANGE_OUTCOMES: Final = (OFFERED, PAID, UNPAID, SOLD_OUT)


class WantedLine(TypedDict):
    """So many of a line of the order (`key`: its SKU or productid) are to be exchanged for `wanted`, a SKU or productid."""

    key: str
    wanted: str
    quantity: int


class OfferedLine(WantedLine):
    """The same at the price that was fixed when it was approved, with what the stock and the tax need to know of the new goods.

    `unit_price` and `discount` (of all together) are minor units.
    """

    productid: str
    sku: NotRequired[str]
    options: NotRequired[dict[str, str]]
    taxonomy: list[str]
    name: str
    tax_class: str
    unit_price: int
    discount: int


class ExchangeOffer(TypedDict):
    """What an approval promises: the order under this id will hold these goods, or as many of them as came back.

    `difference`: by how many minor units all of them are dearer than what they are sent for; below 0 they are cheaper.
    """

    orderid: str
    lines: list[OfferedLine]
    difference: int


class ExchangeShare(TypedDict):
    """How much of a refund pays for a linked order; it is paid back like the rest where that order is never paid.

    `order`: its lines, taxes and total, as they were reckoned when the refund was decided.
    """

    orderid: str
    amount: Money
    order: dict[str, Any]


class ExchangeOf(TypedDict):
    """Which order and return an order is the exchange of."""

    orderid: Annotated[str, Text(1, 64, writable=False)]
    number: Annotated[str, ReadOnlyText]
    return_number: Annotated[int, Integer(1, 10**6, writable=False)]


EXCHANGE_OF_FIELDS: Final = Declaration(ExchangeOf)
