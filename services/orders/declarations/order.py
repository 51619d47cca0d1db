"""What was bought and by whom: written once."""

from typing import Annotated, Any, Final, NotRequired

from services.orders.declarations.common import ORDERID, Date, ReadOnlyMoney
from services.orders.declarations.credits import CreditPayment
from services.orders.declarations.exchanges import EXCHANGE_OF_FIELDS, ExchangeOf
from services.orders.declarations.parts import (
    APPLIED_DISCOUNT_FIELDS,
    APPLIED_TAX_FIELDS,
    SHIPPING_FIELDS,
    TAX_FIELDS,
    AppliedDiscount,
    AppliedTax,
    Line,
    Shipping,
    Tax,
)
from services.orders.declarations.promotions import PlannedUse
from services.orders.declarations.stall import STALL_SALE_FIELDS, StallSale
from shared.couch import StoredDocument
from shared.fields import Boolean, Declaration, Group, GroupList, Text
from shared.language_codes import LANGUAGE
from shared.money import Money


class Order(StoredDocument):
    """What was bought, with which Idempotency-Key; never changed. The API shows `basket` as items and `delivery` as deliveryCharge.

    `goods` are before `discounts`; `uses` are those of promotions that are counted.
    `credits`: what gift cards and store credit pay of `total`.
    `placed_by`: the member of staff who placed it, from the `draft` with that id. `payment_link`: the customer gets the payment page by e-mail;
    `payment_reference`: of a payment that staff recorded.
    `stall`: it was sold and handed over there.
    `exchange_of`: the goods are sent for others that came back, which pay for them by `credits`.
    `hosted`: it is paid on a page of the provider; `saves_card`: which keeps the card for the next time, as the customer wishes.
    """

    orderid: Annotated[str, Text(1, 64, pattern=ORDERID, writable=False)]
    number: NotRequired[
        Annotated[
            str | None,
            Text(1, 40, default=None, writable=False, description="what people call it: A-100042"),
        ]
    ]
    language: NotRequired[
        Annotated[
            str,
            Text(
                0,
                20,
                pattern=f"|{LANGUAGE}",
                default="",
                show_default=False,
                description="what products, e-mails and invoices are in; empty: the shop's own",
            ),
        ]
    ]
    userid: Annotated[str | None, Text(1, 1000, default=None, writable=False)]
    basket: list[Line]
    goods: ReadOnlyMoney
    discounts: NotRequired[
        Annotated[
            list[AppliedDiscount],
            GroupList(
                APPLIED_DISCOUNT_FIELDS.fields,
                writable=False,
                default=[],
                description="goods less these, with delivery and added tax, are the total",
            ),
        ]
    ]
    uses: NotRequired[list[PlannedUse]]
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
    credits: NotRequired[list[CreditPayment]]
    exchange_of: NotRequired[
        Annotated[
            ExchangeOf,
            Group(
                EXCHANGE_OF_FIELDS.fields,
                writable=False,
                default=None,
                show_default=False,
                description="the order and return that these goods are sent for",
            ),
        ]
    ]
    date: Date
    provider: str
    fingerprint: str
    imported: NotRequired[bool]
    placed_by: NotRequired[
        Annotated[
            str,
            Text(
                0,
                100,
                default="",
                show_default=False,
                writable=False,
                description="the member of staff who placed it for the customer",
            ),
        ]
    ]
    draft: NotRequired[Annotated[str, Text(0, 40, default="", show_default=False, writable=False)]]
    payment_link: NotRequired[
        Annotated[
            bool,
            Boolean(
                default=False,
                show_default=False,
                writable=False,
                description="its payment page is sent to the customer by e-mail",
            ),
        ]
    ]
    payment_reference: NotRequired[str]
    stall: NotRequired[
        Annotated[
            StallSale,
            Group(
                STALL_SALE_FIELDS.fields,
                writable=False,
                default=None,
                show_default=False,
                description="it was sold at a stall, and handed over there",
            ),
        ]
    ]
    hosted: NotRequired[bool]
    saves_card: NotRequired[bool]


class Customer(StoredDocument):
    """Whom an order is for: the one document that erasing a person overwrites. `gift_recipient` {email, name, message} gets its gift cards,
    since `gift_recipient_since` where staff corrected the address; {erased} once that person was.

    `first`: of a guest who was erased, whether it was their first order.
    """

    orderid: str
    userid: str | None
    name: str
    email: str
    deliveryAddress: Any
    gift_recipient: NotRequired[dict[str, str]]
    gift_recipient_since: NotRequired[str]
    first: NotRequired[bool]
    erased: NotRequired[str]
    mail_limited: NotRequired[bool]


class OrderLineItem(Line, StoredDocument):
    """A line item as a document, for who reads only an order's lines."""

    orderid: str
    userid: str | None
    date: str
    imported: NotRequired[bool]


class OrderCosts(StoredDocument):
    """What goods of an order cost the shop when it was placed: minor units of the order's currency for one piece, by SKU or productid. Of
    what nobody knew the cost there is nothing. A document of its own, so that no answer to a customer can hold it."""

    orderid: str
    costs: dict[str, int]


class NumberBlock(StoredDocument):
    """Order numbers from `first` to `last`, for the one process that has written it."""

    first: int
    last: int
    date: str


class PaymentCustomer(StoredDocument):
    """What a provider knows a customer by who keeps cards there; `forgotten` once their account is erased."""

    userid: str
    provider: str
    provider_ref: str
    date: str
    forgotten: NotRequired[bool]


def name_of(order: Order) -> str:
    """What people call an order: its number, or its id where it has none."""
    return order.get("number") or order["orderid"]


ORDER_FIELDS: Final = Declaration(Order)
ORDER_CONTENT: Final = ORDER_FIELDS.select(*ORDER_FIELDS.writable)
"""What clients write of an order beside what is bought, at the checkout and in imports."""
