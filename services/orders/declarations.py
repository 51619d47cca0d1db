"""What each document of an order holds: every field once, with what may be in it.

A field with an annotation is answered by the API; schemas, validation, imports and OpenAPI follow from it. One that clients send is
`writable`. A field without an annotation is internal. `services.orders.documents` says where the documents lie.
"""

from collections.abc import Mapping
from typing import Annotated, Any, Final, NotRequired, TypedDict

from shared.couch import StoredDocument
from shared.fields import (
    Amount,
    Boolean,
    Choice,
    Declaration,
    Group,
    GroupList,
    Integer,
    Moment,
    Number,
    Text,
    TextList,
    TextMap,
)
from shared.money import Money

MAX_QUANTITY, MAX_LINES = 1_000_000, 200
ORDERID: Final = r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}"

ReadOnlyText = Text(0, 1000, writable=False)
REGION: Final = Text(1, 100)
Reason = Text(0, 500, default="")
Date = Annotated[str, Moment(writable=False)]
ReadOnlyMoney = Annotated[Money, Amount(writable=False)]


Sku = Annotated[str, Text(1, 1000, default="", show_default=False, description="of a variant")]


class AppliedTax(TypedDict):
    """The tax of a line, of shipping, or of all that has one rate. Without a rate for the place its name is empty and it is 0.

    `base` is the price without the tax, `amount` the tax; both together are what is paid.
    """

    name: Annotated[str, ReadOnlyText]
    rate: Annotated[float, Number(description="percent")]
    included: Annotated[bool, Boolean(description="whether the price holds it already")]
    country: Annotated[str, Text(0, 2, writable=False, description="where it is due")]
    region: Annotated[str, Text(0, 200, writable=False)]
    base: Annotated[Money, Amount()]
    amount: Annotated[Money, Amount()]


APPLIED_TAX_FIELDS: Final = Declaration(AppliedTax)


class Days(TypedDict):
    min: Annotated[int, Integer(0, 365)]
    max: Annotated[int, Integer(0, 365)]


class ShippingOffer(TypedDict):
    """A shipping method at its price for an order."""

    id: Annotated[str, Text(1, 40, writable=False)]
    name: Annotated[str, ReadOnlyText]
    price: Annotated[Money, Amount()]
    days: NotRequired[
        Annotated[
            Days,
            Group(Declaration(Days).fields, default=None, show_default=False, description="until it arrives"),
        ]
    ]
    collect_from: NotRequired[
        Annotated[
            str, Text(0, 1000, default="", show_default=False, description="where the goods are fetched")
        ]
    ]


class Shipping(ShippingOffer):
    """The shipping method of an order."""

    tax: Annotated[AppliedTax, Group(APPLIED_TAX_FIELDS.fields)]


class Line(TypedDict):
    """A line item as the order's basket holds it: product and price as they were."""

    line: Annotated[int, Integer(1, MAX_LINES)]
    productid: Annotated[str, Text(1, 1000)]
    sku: NotRequired[Sku]
    options: NotRequired[
        Annotated[
            dict[str, str],
            TextMap(
                Text(1, 60),
                Text(1, 100),
                3,
                default={},
                show_default=False,
                description="of the variant, such as Size: M",
            ),
        ]
    ]
    taxonomy: Annotated[list[str], TextList(Text(0, 200), 0, 12)]
    name: Annotated[str, Text(1, 1000)]
    quantity: Annotated[int, Integer(1, MAX_QUANTITY)]
    unitPrice: Annotated[Money, Amount()]
    delivery: Annotated[Money, Amount()]
    total: Annotated[Money, Amount()]
    tax: NotRequired[
        Annotated[AppliedTax, Group(APPLIED_TAX_FIELDS.fields, default=None, show_default=False)]
    ]
    payable: NotRequired[
        Annotated[
            Money,
            Amount(default=None, show_default=False, description="its share of what is paid, tax and all"),
        ]
    ]


class Tax(TypedDict):
    name: Annotated[str, ReadOnlyText]
    basisPoints: Annotated[int, Integer(0, 10_000)]
    included: Annotated[bool, Boolean()]
    total: Annotated[Money, Amount()]


class SoldLine(TypedDict):
    """What reports and returns need to know of a line item."""

    productid: Annotated[str, Text(1, 1000)]
    sku: NotRequired[Sku]
    name: Annotated[str, Text(1, 1000)]
    quantity: Annotated[int, Integer(1, MAX_QUANTITY)]
    amount: Annotated[int, Integer(0, 10**13)]


class StockLine(TypedDict):
    """So many of a product or variant, as the stock ledger takes them."""

    productid: str
    sku: NotRequired[str]
    taxonomy: list[str]
    quantity: int


def line_key(line: Mapping[str, Any]) -> str:
    """What an order knows a line by: its SKU, which of a product without variants is the productid."""
    return str(line.get("sku") or line["productid"])


LINE_FIELDS: Final = Declaration(Line)
TAX_FIELDS: Final = Declaration(Tax)
SHIPPING_OFFER_FIELDS: Final = Declaration(ShippingOffer)
SHIPPING_FIELDS: Final = Declaration(Shipping)
SOLD_LINE_FIELDS: Final = Declaration(SoldLine)


class Order(StoredDocument):
    """What was bought, with which Idempotency-Key; never changed. The API shows `basket` as items and `delivery` as deliveryCharge.

    `hosted`: it is paid on a page of the provider; `saves_card`: which keeps the card for the next time, as the customer wishes.
    """

    orderid: Annotated[str, Text(1, 64, pattern=ORDERID, writable=False)]
    userid: Annotated[str | None, Text(1, 1000, default=None, writable=False)]
    basket: list[Line]
    goods: ReadOnlyMoney
    delivery: Money
    tax: Annotated[Tax, Group(TAX_FIELDS.fields, writable=False)]
    shipping: NotRequired[
        Annotated[
            Shipping,
            Group(SHIPPING_FIELDS.fields, writable=False, default=None, show_default=False),
        ]
    ]
    taxes: NotRequired[
        Annotated[
            list[AppliedTax],
            GroupList(
                APPLIED_TAX_FIELDS.fields,
                writable=False,
                default=[],
                show_default=False,
                description="by place and rate; their bases and amounts add up to the total",
            ),
        ]
    ]
    total: ReadOnlyMoney
    date: Date
    provider: str
    fingerprint: str
    imported: NotRequired[bool]
    hosted: NotRequired[bool]
    saves_card: NotRequired[bool]


class Customer(StoredDocument):
    """Whom an order is for: the one document that erasing a person overwrites."""

    orderid: str
    userid: str | None
    name: str
    email: str
    deliveryAddress: Any
    erased: NotRequired[str]
    mail_limited: NotRequired[bool]


class OrderLineItem(Line, StoredDocument):
    """A line item as a document, for who reads only an order's lines."""

    orderid: str
    userid: str | None
    date: str
    imported: NotRequired[bool]


class OrderEvent(StoredDocument):
    """What every later document repeats of its order, so that a view row tells its customer and when it was placed."""

    orderid: str
    userid: str | None
    placed: str
    currency: str
    date: Date


class PaymentSession(OrderEvent):
    """The provider's page on which an order can be paid until `expires`."""

    provider: str
    provider_ref: str
    url: str
    expires: str


class PaymentProcessing(OrderEvent):
    """The customer has paid by a method that takes days (bank debits, vouchers); the provider tells later how it ended."""

    provider: str
    provider_ref: str


class OrderPayment(OrderEvent):
    """The charge. `sold`: the stock was marked as sold before it was written. `taxes` are the order's, for the tax report.

    `captured` is False for money that the bank has only reserved, until `capture_before`; `PaymentCaptured` tells that it was taken.
    """

    paid: bool
    provider: Annotated[str, ReadOnlyText]
    provider_ref: Annotated[str, ReadOnlyText]
    total: ReadOnlyMoney
    units: int
    lines: list[SoldLine]
    taxes: NotRequired[list[AppliedTax]]
    imported: NotRequired[bool]
    sold: NotRequired[bool]
    captured: NotRequired[
        Annotated[
            bool,
            Boolean(default=True, writable=False, description="whether the money was taken or only reserved"),
        ]
    ]
    capture_before: NotRequired[
        Annotated[
            str, Text(0, 40, default="", writable=False, description="until when reserved money can be taken")
        ]
    ]


class PaymentCapture(OrderEvent):
    """The decision to take reserved money: `total` is the payment less the `refunds` (references) decided before."""

    total: Money
    refunds: list[str]


class PaymentCaptured(OrderEvent):
    """Reserved money was taken."""

    total: Money
    provider: str
    provider_ref: str


class Decision(OrderEvent):
    """`dispatch` or `cancel`: one id for both, so that only one of them is ever taken."""

    decision: str
    reason: str
    by: str


class OrderDispatch(OrderEvent):
    """The parcel left."""

    dispatched: bool
    courier: Annotated[str, Text(1, 100)]
    courierid: Annotated[str, Text(1, 200)]
    payment_date: str
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
    """Money to pay back, with its share of the taxes. `reference` is what the provider knows it by, whatever number replicas give it."""

    number: Annotated[int, Integer(1, 10**6, writable=False)]
    reference: str
    total: ReadOnlyMoney
    reason: Annotated[str, Reason]
    cause: str
    request: list[str] | None
    taxes: NotRequired[list[AppliedTax]]


class Settlement(OrderEvent):
    """The provider paid a refund back."""

    reference: str
    total: Money
    provider: str
    provider_ref: str


class Return(OrderEvent):
    """Goods that come back."""

    number: Annotated[int, Integer(1, 10**6, writable=False)]
    reference: str
    lines: Annotated[list[SoldLine], GroupList(SOLD_LINE_FIELDS.fields, writable=False)]
    reason: Annotated[str, Reason]
    request: list[str] | None


class Restock(OrderEvent):
    """Returned goods are back in stock."""

    reference: str
    lines: list[StockLine]


class Notice(OrderEvent):
    """The customer was notified; `kind` is what of."""

    kind: str
    message_id: str


class PaymentCustomer(StoredDocument):
    """What a provider knows a customer by who keeps cards there; `forgotten` once their account is erased."""

    userid: str
    provider: str
    provider_ref: str
    date: str
    forgotten: NotRequired[bool]


REPORT_KINDS: Final = ("sales", "best-sellers", "fulfilment")
GRANULARITIES: Final = ("total", "year", "month", "day", "hour")


class ReportRequest(StoredDocument):
    """A report for the worker to compute."""

    reportid: str
    kind: Annotated[str, Choice(REPORT_KINDS)]
    by: Annotated[str, Choice(GRANULARITIES, default="month")]
    start: str
    end: str
    currency: Annotated[str | None, Text(3, 3, pattern="[A-Z]{3}", default=None)]
    date: Date


class ReportPart(StoredDocument):
    """The rows of one of a report's `parts`, so that a killed worker goes on where it was."""

    reportid: str
    number: int
    parts: int
    rows: list[dict[str, Any]]
    date: str


class ReportResult(StoredDocument):
    """A whole report."""

    reportid: str
    status: str
    result: dict[str, Any]
    date: str


class Closing(StoredDocument):
    """The sales of a day or month after its end; another `number` where they have changed since."""

    reportid: str
    kind: Annotated[str, Choice(("day", "month"))]
    period: Annotated[
        str, Text(7, 10, pattern=r"\d{4}-\d{2}(-\d{2})?", pattern_message="Write 2026-11 or 2026-11-20.")
    ]
    number: int
    start: str
    end: str
    groups: list[dict[str, Any]]
    date: str


class DeadLetter(StoredDocument):
    """A job that failed for good, the `number`th time for its `subject`. `passing`: something was unavailable."""

    job: Annotated[str, ReadOnlyText]
    subject: str
    number: int
    error: Annotated[str, ReadOnlyText]
    detail: Annotated[str, ReadOnlyText]
    passing: bool
    date: Date


class DeadLetterRetried(StoredDocument):
    """A dead letter was sent again, `by` whom."""

    job: str
    subject: str
    number: int
    by: str
    date: str


class LedgerCharge(StoredDocument):
    """What the sandbox provider took for an order (`paid`), or that it takes nothing any more (`void`)."""

    orderid: str
    status: str
    total: Money | None
    ref: str
    date: str


class LedgerRefund(StoredDocument):
    """What the sandbox provider paid back, under its caller's key."""

    orderid: str
    key: str
    total: Money
    ref: str
    date: str


class LedgerFault(StoredDocument):
    """That a token of the sandbox failed for an order as it says, which it does once."""

    orderid: str
    kind: str
    date: str


ORDER_FIELDS: Final = Declaration(Order)
ORDER_CONTENT: Final = ORDER_FIELDS.select(*ORDER_FIELDS.writable)
"""What clients write of an order beside what is bought, at the checkout and in imports."""
PAYMENT_FIELDS: Final = Declaration(OrderPayment)
DISPATCH_FIELDS: Final = Declaration(OrderDispatch)
DELIVERY_FIELDS: Final = Declaration(OrderDelivery)
CANCELLATION_FIELDS: Final = Declaration(Cancellation)
REFUND_FIELDS: Final = Declaration(Refund)
RETURN_FIELDS: Final = Declaration(Return)
REPORT_REQUEST_FIELDS: Final = Declaration(ReportRequest)
CLOSING_FIELDS: Final = Declaration(Closing)
DEAD_LETTER_FIELDS: Final = Declaration(DeadLetter)
