"""What happens to an order afterwards: a document each."""

from typing import Annotated, Final, NotRequired

from services.orders.declarations.common import Date, ReadOnlyMoney, ReadOnlyText, Reason
from services.orders.declarations.credits import CREDIT_PAYMENT_FIELDS, CreditPayment
from services.orders.declarations.exchanges import ExchangeShare
from services.orders.declarations.parts import AppliedTax, SoldLine
from shared.couch import StoredDocument
from shared.fields import Boolean, Declaration, GroupList, Integer, Text
from shared.money import Money


class OrderEvent(StoredDocument):
    """What every later document repeats of its order, so that a view row tells its customer and when it was placed."""

    orderid: str
    userid: str | None
    placed: str
    currency: str
    date: Date


class PaymentSession(OrderEvent):
    """The provider's page on which an order can be paid until `expires`; `link`: the customer gets it by e-mail."""

    provider: str
    provider_ref: str
    url: str
    expires: str
    link: NotRequired[bool]


class PaymentProcessing(OrderEvent):
    """The customer has paid by a method that takes days (bank debits, vouchers); the provider tells later how it ended."""

    provider: str
    provider_ref: str


class OrderPayment(OrderEvent):
    """The charge. `number`: the order's, for lists of payments. `sold`: the stock was marked as sold before it was written. `taxes` are the order's, for the tax report.

    `credits` are what gift cards and store credit paid of `total`, `charged` what the provider took: all of it without these.
    `gift_cards_sold`: what of it is for gift cards, which the shop owes and has not earned.
    `captured` is False for money that the bank has only reserved, until `capture_before`; `PaymentCaptured` tells that it was taken.
    `several_captures`: the provider takes it in as many parts as there are parcels; otherwise once.
    """

    paid: bool
    number: NotRequired[str | None]
    provider: Annotated[str, ReadOnlyText]
    provider_ref: Annotated[str, ReadOnlyText]
    total: ReadOnlyMoney
    units: int
    lines: list[SoldLine]
    credits: NotRequired[
        Annotated[
            list[CreditPayment],
            GroupList(CREDIT_PAYMENT_FIELDS.fields, default=[], writable=False, show_default=False),
        ]
    ]
    charged: NotRequired[Money]
    gift_cards_sold: NotRequired[int]
    taxes: NotRequired[list[AppliedTax]]
    imported: NotRequired[bool]
    sold: NotRequired[bool]
    captured: NotRequired[
        Annotated[
            bool,
            Boolean(default=True, writable=False, description="whether the money was taken or only reserved"),
        ]
    ]
    several_captures: NotRequired[bool]
    capture_before: NotRequired[
        Annotated[
            str, Text(0, 40, default="", writable=False, description="until when reserved money can be taken")
        ]
    ]


class PaymentCapture(OrderEvent):
    """A decision about reserved money, numbered: `total` of it is taken, and with a `final` one the rest is let go.

    `refunds` (references) are settled by it: they are not taken, but for what `paid_back` says of one, in minor units, which was taken
    before. One of an older version is `final`.
    """

    total: Money
    refunds: list[str]
    paid_back: NotRequired[dict[str, int]]
    final: NotRequired[bool]


class PaymentCaptured(OrderEvent):
    """Reserved money was taken as decided; or it was `lost`, as the bank had let it go."""

    total: Money
    provider: str
    provider_ref: str
    lost: NotRequired[bool]


class Decision(OrderEvent):
    """`dispatch` or `cancel`: one id for both, so that only one of them is ever taken; numbered where goods go out in several parcels.

    A dispatch says what the parcel will be, so that it is completed after a crash. Without `lines` it is everything that is left.
    """

    decision: str
    reason: str
    by: str
    courier: NotRequired[str]
    courierid: NotRequired[str]
    tracking_url: NotRequired[str]
    lines: NotRequired[list[SoldLine]]


class StockWait(OrderEvent):
    """So many of its pieces are sold and not here yet, by SKU: what the stock's chain said then. The last one counts; none later says more.

    `change`: in all, against the one before, so that a sum over them tells how many wait.
    """

    number: int
    waiting: dict[str, int]
    change: int


class LineCancellation(OrderEvent):
    """Some of the goods do not go out: they are paid back and for sale again. A number of the same chain as the decisions."""

    number: Annotated[int, Integer(1, 10**6, writable=False)]
    reference: str
    lines: list[SoldLine]
    reason: Annotated[str, Reason]
    by: Annotated[str, ReadOnlyText]
    request: list[str] | None


class OrderDispatch(OrderEvent):
    """A parcel left. Without `lines` it holds the whole order; `units` are those of its lines, for lists of orders."""

    dispatched: bool
    courier: Annotated[str, Text(1, 100)]
    courierid: Annotated[str, Text(1, 200)]
    tracking_url: NotRequired[
        Annotated[
            str,
            Text(
                0,
                1000,
                pattern=r"|https?://[!-~]+",
                pattern_message="Write an address like https://example.com/track/123.",
                default="",
                show_default=False,
                description="where the customer can see how far the parcel is",
            ),
        ]
    ]
    payment_date: str
    lines: NotRequired[list[SoldLine]]
    units: NotRequired[int]
    imported: NotRequired[bool]


class OrderDelivery(OrderEvent):
    """The parcel arrived."""

    delivered: bool
    courier: Annotated[str, ReadOnlyText]
    courierid: Annotated[str, ReadOnlyText]
    dispatch_date: str
    imported: NotRequired[bool]


class Cancellation(OrderEvent):
    """The order ended before it went out, `by` whom and why."""

    reason: Annotated[str, Reason]
    detail: Annotated[str, ReadOnlyText]
    by: Annotated[str, ReadOnlyText]
    was_paid: bool


class Refund(OrderEvent):
    """Money to pay back, with its share of the taxes. `reference` is what the provider knows it by, whatever number replicas give it.

    `lines`: the goods that it is for, where it is not for a return. `exchange`: how much of it pays for other goods instead.
    `by_hand`: staff pay it back, as they took the money, and record that they did. `notify`: an e-mail tells the customer; what follows
    from a return or a cancellation stands in the e-mail about that.
    """

    number: Annotated[int, Integer(1, 10**6, writable=False)]
    reference: str
    total: ReadOnlyMoney
    reason: Annotated[str, Reason]
    cause: str
    request: list[str] | None
    by_hand: NotRequired[
        Annotated[
            bool,
            Boolean(
                default=False,
                show_default=False,
                writable=False,
                description="staff pay it back, and record it",
            ),
        ]
    ]
    notify: NotRequired[
        Annotated[
            bool,
            Boolean(
                default=False,
                show_default=False,
                writable=False,
                description="the customer gets an e-mail about it",
            ),
        ]
    ]
    lines: NotRequired[list[SoldLine]]
    taxes: NotRequired[list[AppliedTax]]
    gift_cards_sold: NotRequired[int]
    exchange: NotRequired[ExchangeShare]
    credits: NotRequired[
        Annotated[
            list[CreditPayment],
            GroupList(
                CREDIT_PAYMENT_FIELDS.fields,
                default=[],
                writable=False,
                show_default=False,
                description="what of it went to gift cards and store credit",
            ),
        ]
    ]


class Settlement(OrderEvent):
    """The provider paid a refund back; or staff did, and `by` says who recorded it, `after_failure` of what the provider could not."""

    reference: str
    total: Money
    provider: str
    provider_ref: str
    by: NotRequired[str]
    after_failure: NotRequired[bool]


class RefundFailure(OrderEvent):
    """Money that the provider was asked to pay back has not arrived: staff pay it back another way, and record that they did.
    `provider_ref`: the provider's refund that failed."""

    reference: str
    total: Money
    provider: str
    provider_ref: str


class GiftCardIssue(OrderEvent):
    """The gift cards that an order bought, by their ids, decided before they are issued."""

    cards: list[str]


class AttemptOutcome(OrderEvent):
    """Of an order that leaves nothing to pay: whether the checkout or the end of the attempt came first, as a provider says of a charge."""

    paid: bool


class GiftCardsSent(OrderEvent):
    """The codes of an order's gift cards went out."""

    message_id: str


class OrderNote(OrderEvent):
    """What staff note for each other; customers do not see it. Erasing the customer empties it."""

    text: Annotated[str, Text(1, 2000, description="for the people of the shop alone")]
    by: Annotated[str, ReadOnlyText]
    erased: NotRequired[str]


class Notice(OrderEvent):
    """The customer was notified; `kind` is what of."""

    kind: str
    message_id: str


class ResentEmail(OrderEvent):
    """Staff had an e-mail sent again."""

    kind: str
    by: str


PAYMENT_FIELDS: Final = Declaration(OrderPayment)
DISPATCH_FIELDS: Final = Declaration(OrderDispatch)
DELIVERY_FIELDS: Final = Declaration(OrderDelivery)
LINE_CANCELLATION_FIELDS: Final = Declaration(LineCancellation)
CANCELLATION_FIELDS: Final = Declaration(Cancellation)
NOTE_FIELDS: Final = Declaration(OrderNote)
REFUND_FIELDS: Final = Declaration(Refund)
