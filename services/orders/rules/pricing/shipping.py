"""The shipping step of a quote: what takes the cart to its destination, and the method chosen."""

from dataclasses import replace
from typing import Final

from services.orders.declarations.parts import EMAIL_SHIPPING
from services.orders.rules.pricing.cart import Cart, ShippingOption
from services.orders.rules.pricing.rates import FlatRate
from services.orders.rules.pricing.terms import Destination, Parcel, ShippingMethod, Terms
from shared.errors import Invalid

BY_EMAIL: Final = ShippingMethod(EMAIL_SHIPPING, "By e-mail", FlatRate({}))
"""How an order of nothing but gift cards arrives."""


class NotDelivered(Invalid):
    code, title = "not_delivered", "We do not deliver there"


class ShippingNotAvailable(Invalid):
    code, title = "shipping_not_available", "This shipping method is not available"


def with_shipping(cart: Cart, terms: Terms, destination: Destination, chosen: str = "") -> Cart:
    """With every method that takes the cart there, and the one chosen: without a choice the cheapest that delivers.

    Raises NotDelivered when there is none, ShippingNotAvailable when the one chosen is not among them.
    """
    options = shipping_options(cart, terms, destination)
    if not options:
        raise NotDelivered(
            f"Nothing that we have takes this order to {destination.postcode} {destination.country}.".replace(
                "  ", " "
            ),
            errors={"address": ["We do not deliver there."]},
        )
    only = BY_EMAIL in (option.method for option in options)
    return replace(cart, options=options, shipping=_chosen(options, "" if only else chosen))


def shipping_options(cart: Cart, terms: Terms, destination: Destination) -> tuple[ShippingOption, ...]:
    """Every method that takes the cart there, in the order of the terms."""
    if all(line.is_gift_card for line in cart.lines):
        return (ShippingOption(BY_EMAIL, 0, 0),)
    parcel = _parcel(cart)
    prices = [(method, _price(method, parcel)) for method in terms.methods if method.reaches(destination)]
    return tuple(
        ShippingOption(method, 0 if cart.is_delivered_free(method.id) else price, price)
        for method, price in prices
        if price is not None
    )


def _parcel(cart: Cart) -> Parcel:
    lines = [line for line in cart.lines if not line.is_gift_card]
    return Parcel(
        cart.currency,
        sum(line.price for line in lines),
        sum(line.grams * line.quantity for line in lines),
        tuple((line.delivery_charge, line.quantity) for line in lines),
    )


def _price(method: ShippingMethod, parcel: Parcel) -> int | None:
    """A method without a price in the cart's currency is not offered; it never costs 0 for want of one."""
    if method.max_grams is not None and parcel.grams > method.max_grams:
        return None
    price = method.rate.price(parcel)
    threshold = method.free_from.get(parcel.currency)
    return 0 if price is not None and threshold is not None and parcel.value >= threshold else price


def _chosen(options: tuple[ShippingOption, ...], chosen: str) -> ShippingOption:
    if not chosen:
        return min(
            options, key=lambda option: (bool(option.method.collect_from), option.price, option.regular_price)
        )
    found = next((option for option in options if option.method.id == chosen), None)
    if found is None:
        known = ", ".join(option.method.id for option in options)
        raise ShippingNotAvailable(
            f"There is {known} for this order.", errors={"shipping": [f"Choose one of: {known}."]}
        )
    return found
