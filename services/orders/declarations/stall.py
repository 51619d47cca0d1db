"""Sales at a stall: what an order says of one, and what is kept of a day there."""

from typing import Annotated, Final, NotRequired, TypedDict

from services.orders.declarations.common import ReadOnlyText
from services.orders.declarations.events import OrderEvent
from services.orders.declarations.parts import SOLD_LINE_FIELDS, SoldLine
from shared.couch import StoredDocument
from shared.fields import Amount, Declaration, GroupList, Text
from shared.money import Money

RESTOCKED, DELIVERED_LATER, PAID_BACK = "restocked", "delivered_later", "paid_back"
OUTCOMES: Final = (RESTOCKED, DELIVERED_LATER, PAID_BACK)
"""Of oversold pieces: others came in, who waits for them gets them later, or got their money back."""


class StallSale(TypedDict):
    """Where goods changed hands, who sold them, and on which day of the shop's time zone. `given`: the cash that the customer gave."""

    name: Annotated[str, Text(1, 60, writable=False, description="of the stall")]
    sold_by: Annotated[str, Text(1, 100, writable=False, description="the member of staff who sold")]
    day: Annotated[str, Text(10, 10, writable=False, description="in the time zone of the shop")]
    given: NotRequired[
        Annotated[
            Money, Amount(default=None, show_default=False, description="the cash that the customer gave")
        ]
    ]


class Oversold(OrderEvent):
    """So many pieces of a sale at a stall were taken although the stock's chain had none left."""

    lines: Annotated[list[SoldLine], GroupList(SOLD_LINE_FIELDS.fields, writable=False)]


class OversoldSettlement(OrderEvent):
    """How those whom the pieces lacked were helped, one of OUTCOMES: said once, by whoever saw to it."""

    outcome: str
    by: Annotated[str, ReadOnlyText]


class StallEntry(StoredDocument):
    """A sale as the day of a stall lists it. `oversold`: pieces."""

    orderid: str
    number: str
    stall: str
    sold_by: str
    kind: str
    total: Money
    oversold: int
    price_changed: bool
    date: str


class OversoldEntry(StoredDocument):
    """An order with oversold goods, as the desk's list has it until that is settled."""

    orderid: str
    number: str
    stall: str
    sold_by: str
    lines: list[SoldLine]
    date: str


class CashUp(StoredDocument):
    """Cash counted at the end of a day: `expected` is the `opening` cash, with what was sold for cash and less what was paid out."""

    id: str
    day: str
    stall: str
    sold_by: str
    opening: Money
    sold: Money
    paid_out: Money
    expected: Money
    counted: Money
    difference: int
    note: str
    by: Annotated[str, ReadOnlyText]
    date: str


STALL_SALE_FIELDS: Final = Declaration(StallSale)
OVERSOLD_FIELDS: Final = Declaration(Oversold)
