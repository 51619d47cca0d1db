"""Goods that come back: asked for, decided on, received, put back into stock; a document each."""

from typing import Annotated, Final, NotRequired

from services.orders.declarations.common import Reason
from services.orders.declarations.events import OrderEvent
from services.orders.declarations.exchanges import EXCHANGE_OUTCOMES, ExchangeOffer, WantedLine
from services.orders.declarations.parts import SoldLine, StockLine
from shared.fields import Choice, Declaration, Integer, Text

RESALEABLE, DAMAGED = "resaleable", "damaged"
APPROVE, REFUSE = "approve", "refuse"


class ReturnedLine(SoldLine):
    """So many of a product or variant that came back. Without a condition they can be sold again."""

    condition: NotRequired[
        Annotated[
            str,
            Choice(
                (RESALEABLE, DAMAGED),
                default=RESALEABLE,
                show_default=False,
                description="damaged goods do not go back into stock",
            ),
        ]
    ]


class ReturnRequest(OrderEvent):
    """What a customer wants to send back. `reference` is what it is known by, whatever number replicas give it.

    `exchange`: what the customer would like instead. `approved`: at once, as the shop's settings were. `refund_first`: it is paid back before the goods are here.
    `buy_label`: the worker buys a label for the parcel. Erasing the customer
    empties the note.
    """

    number: Annotated[int, Integer(1, 10**6, writable=False)]
    reference: str
    lines: list[SoldLine]
    reason: Annotated[str, Reason]
    note: Annotated[str, Text(0, 1000, default="", description="what else the shop should know")]
    request: list[str] | None
    by: str
    exchange: NotRequired[list[WantedLine]]
    approved: NotRequired[bool]
    refund_first: NotRequired[bool]
    buy_label: NotRequired[bool]
    erased: NotRequired[str]


class ReturnDecision(OrderEvent):
    """`approve` or `refuse`: of a request one id for both, so that only one of them is taken; the same type ends an approved one.

    `exchange`: what is sent for the goods.
    """

    reference: str
    decision: str
    reason: Annotated[str, Text(1, 500)]
    by: str
    exchange: NotRequired[ExchangeOffer]
    refund_first: NotRequired[bool]
    buy_label: NotRequired[bool]


class ReturnShipment(OrderEvent):
    """A label is to be bought for an approved return: the provider's id of the one `shipment` that may be bought for it."""

    reference: str
    provider: str
    shipment: str
    by: str


class LabelProblem(OrderEvent):
    """Why no label was bought at the approval, for the desk."""

    reference: str
    problem: str


class Return(OrderEvent):
    """Goods that came back: they are refunded, and in stock again unless damaged. `requested`: it answers a ReturnRequest."""

    number: Annotated[int, Integer(1, 10**6, writable=False)]
    reference: str
    lines: list[ReturnedLine]
    reason: Annotated[str, Reason]
    request: list[str] | None
    requested: NotRequired[bool]
    refund_first: NotRequired[bool]
    by: NotRequired[str]


class ReturnExchange(OrderEvent):
    """What became of an exchange: `offered` while its order waits to be paid, then how that ended."""

    reference: str
    outcome: Annotated[str, Choice(EXCHANGE_OUTCOMES)]
    exchange: str


class Restock(OrderEvent):
    """Returned goods are back in stock."""

    reference: str
    lines: list[StockLine]


RETURNED_LINE_FIELDS: Final = Declaration(ReturnedLine)
RETURN_REQUEST_FIELDS: Final = Declaration(ReturnRequest)
RETURN_REFUSAL_FIELDS: Final = Declaration(ReturnDecision)
