"""The tax step by a tax provider: what it is asked about a cart, and the cart with its answer."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from services.orders.rules.pricing.carriers import Destination
from services.orders.rules.pricing.cart import Cart, Share
from services.orders.rules.pricing.tax import NO_TAX, rate_for, taxed_at
from services.orders.rules.pricing.terms import TaxRate, Terms
from shared.errors import Invalid, Unavailable


class TaxUnavailable(Unavailable):
    code, title = "tax_unavailable", "The tax cannot be worked out just now"


class TaxLocationInvalid(Invalid):
    code, title = "tax_location_invalid", "The tax of this place is not known"


@dataclass(frozen=True)
class TaxItem:
    """A line of goods, or shipping: what all of it costs, whether the tax is `included` in that."""

    amount: int
    quantity: int
    tax_class: str
    included: bool


@dataclass(frozen=True)
class TaxQuestion:
    """Which taxes are due on these at `place` on `date`, sent from `origin`; lines first, shipping last."""

    currency: str
    origin: Destination
    place: Destination
    date: str
    items: tuple[TaxItem, ...]


@dataclass(frozen=True)
class TaxedItem:
    """The tax of an item, and its rate in parts per million; without a name it is not taxed."""

    amount: int
    name: str = ""
    parts_per_million: int = 0


def tax_question(
    cart: Cart, terms: Terms, destination: Destination, date: str, *, included: bool
) -> TaxQuestion:
    """Gift cards are left out. Whether prices hold the tax is what the shop's own rate for the place says; `included` where it has none."""
    if cart.shipping is None:
        raise TypeError("tax comes after shipping")
    place, method = taxed_at(cart, terms, destination), cart.shipping.method

    def item(amount: int, quantity: int, tax_class: str) -> TaxItem:
        rate = rate_for(terms.tax_rates, tax_class, place, date)
        return TaxItem(amount, quantity, tax_class, rate.included if rate else included)

    goods = [item(line.price, line.quantity, line.tax_class) for line in cart.lines if not line.is_gift_card]
    shipping = item(cart.shipping.price, 1, method.tax_class)
    return TaxQuestion(cart.currency, terms.home, place, date, (*goods, shipping))


def with_answer(cart: Cart, question: TaxQuestion, answer: Sequence[TaxedItem]) -> Cart:
    """The cart with the taxes that `answer` names, item by item."""
    place = question.place
    shares = iter(_share(item, taxed, place) for item, taxed in zip(question.items, answer, strict=True))
    lines = tuple(
        replace(
            line,
            tax=Share(NO_TAX, place.country, place.region, line.price, 0)
            if line.is_gift_card
            else next(shares),
        )
        for line in cart.lines
    )
    return replace(cart, lines=lines, shipping_tax=next(shares))


def _share(item: TaxItem, taxed: TaxedItem, place: Destination) -> Share:
    rate = TaxRate(
        taxed.name, taxed.parts_per_million, item.included, item.tax_class, place.country, place.region
    )
    base = item.amount - (taxed.amount if item.included else 0)
    return Share(rate if taxed.name else None, place.country, place.region, base, taxed.amount)
