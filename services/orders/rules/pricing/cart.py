"""What the steps of a quote hand on: lines, shipping and their taxes, in minor units of one currency."""

from dataclasses import dataclass

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
class CartLine:
    """A line: so many of a product or variant. `price` is what all of them cost, `delivery_charge` the product's own."""

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


@dataclass(frozen=True)
class ShippingOption:
    """A method that takes this cart to its destination, at a price."""

    method: ShippingMethod
    price: int


@dataclass(frozen=True)
class Cart:
    """An order on its way through the steps; each returns a new one with what it found out."""

    currency: str
    lines: tuple[CartLine, ...]
    options: tuple[ShippingOption, ...] = ()
    shipping: ShippingOption | None = None
    shipping_tax: Share | None = None

    @property
    def goods(self) -> int:
        return sum(line.price for line in self.lines)
