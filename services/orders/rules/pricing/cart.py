"""What the steps of a quote hand on: lines, shipping and their taxes, in minor units of one currency."""

from dataclasses import dataclass

from services.orders.declarations.parts import Backorder
from services.orders.rules.pricing.carriers import CarrierRate, NoRates
from services.orders.rules.pricing.promotions import FreeDelivery, Promotion
from services.orders.rules.pricing.terms import ShippingMethod, TaxRate


@dataclass(frozen=True)
class Share:
    """The tax of one line or of shipping: `base` is what it is due on, without it."""

    rate: TaxRate | None
    country: str
    region: str
    base: int
    amount: int

    @property
    def payable(self) -> int:
        return self.base + self.amount


@dataclass(frozen=True)
class AgreedPrice:
    """What staff agreed with the customer in the place of the `regular` price of one, and why."""

    regular: int
    reason: str


@dataclass(frozen=True)
class CartLine:
    """A line: so many of a product or variant. `price` is what all of them cost, less discounts; `delivery_charge` the product's own.

    A gift card is worth its price: nothing is taken off it, and it has neither delivery nor tax. `cost`: what one piece costs the shop, where
    that is known; never shown.
    """

    key: str
    productid: str
    taxonomy: list[str]
    name: str
    options: dict[str, str]
    quantity: int
    unit_price: int
    delivery_charge: int
    tax_class: str
    grams: int
    price: int
    tax: Share | None = None
    is_gift_card: bool = False
    agreed: AgreedPrice | None = None
    backorder: Backorder | None = None
    cost: int | None = None

    @property
    def regular_price(self) -> int:
        """Before discounts."""
        return self.unit_price * self.quantity

    @property
    def discount(self) -> int:
        return self.regular_price - self.price


@dataclass(frozen=True)
class Discount:
    """What a promotion took off the lines, by which code (empty: by itself), and whether it makes delivery free."""

    promotion: Promotion
    code: str
    amount: int
    free_delivery: tuple[FreeDelivery, ...] = ()


@dataclass(frozen=True)
class ShippingOption:
    """A method that takes this cart to its destination, at a price; `regular_price` is what it costs without promotions.

    `carrier_rate` is the carrier's own that it follows; `is_fallback`: the carrier has none, and this is the method's fixed price for then.
    `parcels`: how many it goes in, all of which the price is for.
    """

    method: ShippingMethod
    price: int
    regular_price: int
    carrier_rate: CarrierRate | None = None
    is_fallback: bool = False
    parcels: int = 1


@dataclass(frozen=True)
class Cart:
    """An order on its way through the steps; each returns a new one with what it found out.

    `unpriced` methods go there, and are left out because their carrier has no rate now.
    """

    currency: str
    lines: tuple[CartLine, ...]
    discounts: tuple[Discount, ...] = ()
    options: tuple[ShippingOption, ...] = ()
    unpriced: tuple[tuple[ShippingMethod, NoRates], ...] = ()
    shipping: ShippingOption | None = None
    shipping_tax: Share | None = None

    @property
    def goods(self) -> int:
        """What the lines cost, less discounts."""
        return sum(line.price for line in self.lines)

    def is_delivered_free(self, method: str) -> bool:
        return any(free.frees(method) for discount in self.discounts for free in discount.free_delivery)
