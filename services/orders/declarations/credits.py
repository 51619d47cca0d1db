"""Gift cards and store credit: money that customers have with the shop, each a chain of numbered entries."""

from typing import Annotated, Final, NotRequired, TypedDict

from services.orders.declarations.exchanges import EXCHANGE
from shared.couch import StoredDocument
from shared.fields import Amount, Choice, Declaration, Integer, Moment, Text
from shared.money import Money

GIFT_CARD, STORE_CREDIT = "gift_card", "store_credit"
CREDIT_KINDS: Final = (GIFT_CARD, STORE_CREDIT)
PAYING_KINDS: Final = (*CREDIT_KINDS, EXCHANGE)
"""What can pay a part of an order: an exchange is no chain, the goods that came back pay."""

ISSUED, GRANTED, ADJUSTED = "issued", "granted", "adjusted"
SPENT, GIVEN_BACK, REFUNDED, CLOSED = "spent", "given_back", "refunded", "closed"
CANCELLED = "cancelled"
REASONS: Final = (ISSUED, GRANTED, ADJUSTED, SPENT, GIVEN_BACK, REFUNDED, CLOSED, CANCELLED)
"""`closed`: an attempt to order ended before it had spent anything, and may not spend any more."""

MAX_BALANCE: Final = 10**12


class CreditPayment(TypedDict):
    """What a gift card, a customer's store credit or goods that came back pay of an order, or what goes back that way of a refund."""

    kind: Annotated[str, Choice(PAYING_KINDS)]
    id: Annotated[
        str,
        Text(
            1,
            200,
            writable=False,
            description="of the gift card, the customer or the order that was exchanged",
        ),
    ]
    name: Annotated[str, Text(1, 100, writable=False, description="as customers read it")]
    amount: Annotated[Money, Amount()]
    expires: NotRequired[
        Annotated[
            str,
            Text(0, 10, writable=False, show_default=False, description="the last day of a gift card"),
        ]
    ]


class CreditEntry(StoredDocument):
    """One change of what a gift card or a customer's store credit holds; `balance` is what it holds afterwards.

    `reference` is what it is done once for; `mark` tells two writers of one number apart. What is known of the card itself
    (`name`, when it was `issued`, the last day it is good for) is in each entry, so that a sum over them tells it too.
    """

    kind: str
    id: str
    currency: str
    name: str
    issued: str
    expires: str
    number: Annotated[int, Integer(1, 10**6, writable=False)]
    delta: Annotated[int, Integer(-MAX_BALANCE, MAX_BALANCE, writable=False, description="minor units")]
    balance: Annotated[int, Integer(-MAX_BALANCE, MAX_BALANCE, writable=False, description="afterwards")]
    reason: Annotated[str, Choice(REASONS, writable=False)]
    reference: str
    mark: str
    date: Annotated[str, Moment(writable=False)]
    by: Annotated[str, Text(0, 100, writable=False, description="who did it")]
    note: Annotated[str, Text(0, 500, default="", writable=False)]
    orderid: NotRequired[Annotated[str, Text(0, 64, default="", show_default=False, writable=False)]]


CREDIT_PAYMENT_FIELDS: Final = Declaration(CreditPayment)
CREDIT_ENTRY_FIELDS: Final = Declaration(CreditEntry)
