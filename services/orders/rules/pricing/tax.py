"""The tax step of a quote: each line's and shipping's rate, base and amount.

What has one rate is taxed together and rounded once; each line gets its share by largest remainder, so that the lines
always add up to the tax of the whole.
"""

from dataclasses import replace
from itertools import repeat
from typing import Final

from services.orders.rules.pricing.carriers import Destination
from services.orders.rules.pricing.cart import Cart, Share
from services.orders.rules.pricing.terms import PARTS_PER_MILLION, STANDARD_CLASS, TaxRate, Terms
from shared.money import apportion, rounding_step

NO_TAX: Final = TaxRate("Gift card", 0, included=True)
"""Of a gift card: tax is due on what is bought with it."""


def with_tax(cart: Cart, terms: Terms, destination: Destination, date: str) -> Cart:
    """With the tax that is due at the destination on `date`; of what is collected, at the shop's own country."""
    shipping = cart.shipping
    if shipping is None:
        raise TypeError("tax comes after shipping")
    place = taxed_at(cart, terms, destination)
    shipping_rate = rate_for(terms.tax_rates, shipping.method.tax_class, place, date)
    prices = [*(line.price for line in cart.lines), shipping.price]
    rates = [
        *(
            NO_TAX if line.is_gift_card else rate_for(terms.tax_rates, line.tax_class, place, date)
            for line in cart.lines
        ),
        shipping_rate,
    ]
    shares = _shares(prices, rates, place, rounding_step(cart.currency, prices))
    lines = tuple(replace(line, tax=share) for line, share in zip(cart.lines, shares, strict=False))
    return replace(cart, lines=lines, shipping_tax=shares[-1])


def taxed_at(cart: Cart, terms: Terms, destination: Destination) -> Destination:
    """Where tax is due: what is collected is taxed at the shop."""
    is_collected = cart.shipping is not None and cart.shipping.method.collect_from
    return terms.home if is_collected else destination


def rate_for(rates: tuple[TaxRate, ...], tax_class: str, place: Destination, date: str) -> TaxRate | None:
    """The most specific rate for the place, the latest that is good on `date`. A class without one there has the standard class's."""
    found = [
        rate
        for rate in rates
        if rate.tax_class == tax_class
        and rate.country in ("", place.country)
        and rate.region.casefold() in ("", place.region.casefold())
        and rate.valid_from <= date
    ]
    if not found and tax_class != STANDARD_CLASS:
        return rate_for(rates, STANDARD_CLASS, place, date)
    return max(found, key=lambda rate: (bool(rate.country), bool(rate.region), rate.valid_from), default=None)


def tax_of(price: int, rate: TaxRate) -> int:
    """What is due on a price, half a minor unit rounded up."""
    divisor = PARTS_PER_MILLION + (rate.parts_per_million if rate.included else 0)
    return (price * rate.parts_per_million + divisor // 2) // divisor


def _shares(prices: list[int], rates: list[TaxRate | None], place: Destination, step: int) -> list[Share]:
    """Tax that is added on top comes in multiples of `step`, as the prices do; what they hold already changes no total."""
    amounts = list(repeat(0, len(prices)))
    for rate in {rate for rate in rates if rate is not None}:
        members = [index for index, each in enumerate(rates) if each == rate]
        taxed = [prices[index] for index in members]
        unit = 1 if rate.included else step
        tax = tax_of(sum(taxed) // unit, rate) * unit
        for index, amount in zip(members, apportion(tax, taxed, unit), strict=True):
            amounts[index] = amount
    return [
        Share(rate, place.country, place.region, price - (amount if rate and rate.included else 0), amount)
        for price, rate, amount in zip(prices, rates, amounts, strict=True)
    ]
