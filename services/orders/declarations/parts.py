"""Groups of fields within an order: line items, shipping, taxes."""

from collections.abc import Mapping
from typing import Annotated, Any, Final, NotRequired, TypedDict

from services.orders.declarations.common import MAX_LINES, MAX_QUANTITY, ReadOnlyText, Sku
from shared.fields import Amount, Boolean, Declaration, Group, Integer, Number, Text, TextList, TextMap
from shared.money import Money


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


class CarrierService(TypedDict):
    name: Annotated[str, Text(0, 100)]
    service: Annotated[str, Text(0, 100)]


class UnpricedShipping(TypedDict):
    """A shipping method that goes there, and cannot be chosen now because its carrier has no rate."""

    id: Annotated[str, Text(1, 40, writable=False)]
    name: Annotated[str, ReadOnlyText]
    reason: Annotated[str, Text(1, 40, writable=False, description="carrier_unavailable or weight_unknown")]


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
    carrier: NotRequired[
        Annotated[
            CarrierService,
            Group(
                Declaration(CarrierService).fields,
                default=None,
                show_default=False,
                description="whose rate the price is",
            ),
        ]
    ]
    parcels: NotRequired[
        Annotated[
            int,
            Integer(
                2,
                20,
                default=None,
                show_default=False,
                description="how many the price is for, where the order is too heavy for one",
            ),
        ]
    ]
    fallback: NotRequired[
        Annotated[
            bool,
            Boolean(
                default=False,
                show_default=False,
                description="the carrier did not answer: this is the shop's fixed price for then",
            ),
        ]
    ]


class Shipping(ShippingOffer):
    """The shipping method of an order."""

    tax: Annotated[AppliedTax, Group(APPLIED_TAX_FIELDS.fields)]


EMAIL_SHIPPING: Final = "email"
"""The shipping method of an order of nothing but gift cards."""


class ManualPrice(TypedDict):
    """What one would cost without the price that staff agreed with the customer, and why."""

    regular: Annotated[Money, Amount()]
    reason: Annotated[str, Text(0, 200)]


class Backorder(TypedDict):
    """That a line was ordered beyond the stock, or might have been: `waiting` pieces were not there when it was priced."""

    waiting: Annotated[
        int, Integer(0, MAX_QUANTITY, description="how many were not in stock when it was ordered")
    ]
    date: Annotated[
        str, Text(0, 10, description="from when they are expected to be sent; empty: nobody knows")
    ]
    limit: NotRequired[
        Annotated[
            int,
            Integer(
                1,
                10**9,
                default=None,
                show_default=False,
                description="how many of it may wait; left out: any number",
            ),
        ]
    ]


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
    gift_card: NotRequired[
        Annotated[
            bool,
            Boolean(
                default=False,
                show_default=False,
                description="a gift card worth the unit price; its code goes out by e-mail",
            ),
        ]
    ]
    taxonomy: Annotated[list[str], TextList(Text(0, 200), 0, 12)]
    name: Annotated[str, Text(1, 1000)]
    quantity: Annotated[int, Integer(1, MAX_QUANTITY)]
    unitPrice: Annotated[Money, Amount()]
    manual_price: NotRequired[
        Annotated[
            ManualPrice,
            Group(
                Declaration(ManualPrice).fields,
                default=None,
                show_default=False,
                description="the unit price was agreed with staff",
            ),
        ]
    ]
    backorder: NotRequired[
        Annotated[
            Backorder,
            Group(
                Declaration(Backorder).fields,
                default=None,
                show_default=False,
                description="it is sold beyond its stock, and sent when it is here again",
            ),
        ]
    ]
    delivery: Annotated[Money, Amount()]
    total: Annotated[Money, Amount()]
    discount: NotRequired[
        Annotated[
            Money,
            Amount(
                default=None,
                show_default=False,
                description="its share of the order's discounts, off `total`",
            ),
        ]
    ]
    tax: NotRequired[
        Annotated[AppliedTax, Group(APPLIED_TAX_FIELDS.fields, default=None, show_default=False)]
    ]
    payable: NotRequired[
        Annotated[
            Money,
            Amount(default=None, show_default=False, description="its share of what is paid, tax and all"),
        ]
    ]


class AppliedDiscount(TypedDict):
    """What a promotion took off the goods; nothing where all that it does is to make delivery free."""

    promotion: Annotated[str, Text(1, 40, writable=False)]
    version: Annotated[int, Integer(1, 10**9)]
    code: NotRequired[
        Annotated[str, Text(0, 40, default="", show_default=False, description="none: it applied by itself")]
    ]
    name: Annotated[str, ReadOnlyText]
    amount: Annotated[Money, Amount()]
    free_delivery: NotRequired[Annotated[bool, Boolean(default=False, show_default=False)]]


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
APPLIED_DISCOUNT_FIELDS: Final = Declaration(AppliedDiscount)
SHIPPING_OFFER_FIELDS: Final = Declaration(ShippingOffer)
UNPRICED_SHIPPING_FIELDS: Final = Declaration(UnpricedShipping)
SHIPPING_FIELDS: Final = Declaration(Shipping)
SOLD_LINE_FIELDS: Final = Declaration(SoldLine)


def net_price(line: Mapping[str, Any]) -> int:
    """What a line costs after discounts, without a tax that is added."""
    discount = line.get("discount")
    return int(line["total"]["amount"]) - (discount["amount"] if discount else 0)
