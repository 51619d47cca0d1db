"""The shipping step of a quote: what takes the cart to its destination, and the method chosen."""

from dataclasses import replace
from typing import Final

from services.orders.declarations.parts import EMAIL_SHIPPING
from services.orders.rules.pricing.carriers import CarrierParcel, CarrierRates, Destination, NoRates
from services.orders.rules.pricing.cart import Cart, ShippingOption
from services.orders.rules.pricing.packing import weights_of_parcels
from services.orders.rules.pricing.rates import FlatRate, ProviderRate
from services.orders.rules.pricing.terms import Parcel, ShippingMethod, Terms
from shared.errors import Invalid, Unavailable

BY_EMAIL: Final = ShippingMethod(EMAIL_SHIPPING, "By e-mail", FlatRate({}))
"""How an order of nothing but gift cards arrives."""


class NotDelivered(Invalid):
    code, title = "not_delivered", "We do not deliver there"


class ShippingNotAvailable(Invalid):
    code, title = "shipping_not_available", "This shipping method is not available"


class CarrierUnavailable(Unavailable):
    code, title = "carrier_unavailable", "The carrier cannot tell its price just now"


def with_shipping(
    cart: Cart,
    terms: Terms,
    destination: Destination,
    chosen: str = "",
    carrier_rates: CarrierRates | None = None,
) -> Cart:
    """With every method that takes the cart there, and the one chosen: without a choice the cheapest that delivers.

    Raises NotDelivered when there is none, ShippingNotAvailable when the one chosen is not among them, CarrierUnavailable when that
    is only because its carrier does not answer.
    """
    if all(line.is_gift_card for line in cart.lines):
        option = ShippingOption(BY_EMAIL, 0, 0)
        return replace(cart, options=(option,), shipping=option)
    packed = _packed(cart, terms, destination, carrier_rates or CarrierRates())
    found = [(method, parcel, _option(method, parcel, cart)) for method, parcel in packed]
    options = tuple(option for _, _, option in found if option is not None)
    unpriced = tuple(
        (method, problem)
        for method, parcel, option in found
        if option is None and (problem := _problem(method, parcel))
    )
    if not options:
        _refuse(unpriced, destination)
    return replace(cart, options=options, unpriced=unpriced, shipping=_chosen(options, unpriced, chosen))


def carrier_parcels(
    cart: Cart, terms: Terms, destination: Destination
) -> dict[str, tuple[CarrierParcel, ...] | None]:
    """What each rate provider that methods there depend on is asked, a weight once; None where that of a product is not known."""
    goods = [line for line in cart.lines if not line.is_gift_card]
    if not goods:
        return {}
    weights: dict[str, set[int]] = {}
    for method, parcel in _packed(cart, terms, destination, CarrierRates()):
        if isinstance(method.rate, ProviderRate):
            weights.setdefault(method.rate.provider, set()).update(parcel.weights)
    if not all(line.grams for line in goods):
        return dict.fromkeys(weights)
    return {
        provider: tuple(CarrierParcel(terms.home, destination, grams) for grams in sorted(each))
        for provider, each in weights.items()
    }


def _packed(
    cart: Cart, terms: Terms, destination: Destination, carrier_rates: CarrierRates
) -> list[tuple[ShippingMethod, Parcel]]:
    """The methods that take the cart there, each with the parcels that it goes in."""
    lines = [line for line in cart.lines if not line.is_gift_card]
    grams = sum(line.grams * line.quantity for line in lines)
    parcel = Parcel(
        cart.currency,
        sum(line.price for line in lines),
        grams,
        tuple((line.delivery_charge, line.quantity) for line in lines),
        (grams,),
        carrier_rates,
    )
    found = []
    for method in terms.methods:
        is_light = method.max_grams is None or grams <= method.max_grams
        if is_light and method.reaches(destination):
            pieces = ((line.grams, line.quantity) for line in lines)
            weights = weights_of_parcels(pieces, method.parcel_grams)
            if weights is not None:
                found.append((method, replace(parcel, weights=weights)))
    return found


def _option(method: ShippingMethod, parcel: Parcel, cart: Cart) -> ShippingOption | None:
    """A method without a price in the cart's currency is not offered; it never costs 0 for want of one."""
    price = method.rate.price(parcel)
    if price is None:
        return None
    threshold = method.free_from.get(parcel.currency)
    if threshold is not None and parcel.value >= threshold:
        price = 0
    problem = _problem(method, parcel)
    return ShippingOption(
        method,
        0 if cart.is_delivered_free(method.id) else price,
        price,
        method.rate.carrier_rate(parcel) if isinstance(method.rate, ProviderRate) and not problem else None,
        is_fallback=problem is not None,
        parcels=len(parcel.weights),
    )


def _problem(method: ShippingMethod, parcel: Parcel) -> NoRates | None:
    return method.rate.problem(parcel) if isinstance(method.rate, ProviderRate) else None


def _refuse(unpriced: tuple[tuple[ShippingMethod, NoRates], ...], destination: Destination) -> None:
    """Raises what is wrong when no method is left."""
    if any(problem is NoRates.CARRIER_UNAVAILABLE for _, problem in unpriced):
        raise _away(", ".join(method.name for method, _ in unpriced))
    place = " ".join(filter(None, (destination.postcode, destination.country)))
    why = "; the weight of a product is not known" if unpriced else ""
    raise NotDelivered(
        f"Nothing that we have takes this order to {place}{why}.",
        errors={"address": ["We do not deliver there."]},
    )


def _away(name: str) -> CarrierUnavailable:
    return CarrierUnavailable(f"What {name} costs cannot be found out just now.", retry_after=5)


def _chosen(
    options: tuple[ShippingOption, ...], unpriced: tuple[tuple[ShippingMethod, NoRates], ...], chosen: str
) -> ShippingOption:
    if not chosen:
        return min(
            options, key=lambda option: (bool(option.method.collect_from), option.price, option.regular_price)
        )
    found = next((option for option in options if option.method.id == chosen), None)
    if found is None:
        for method, problem in unpriced:
            if method.id == chosen and problem is NoRates.CARRIER_UNAVAILABLE:
                raise _away(method.name)
        known = ", ".join(option.method.id for option in options)
        raise ShippingNotAvailable(
            f"There is {known} for this order.", errors={"shipping": [f"Choose one of: {known}."]}
        )
    return found
