"""What people may know of the terms of sale before they order."""

from typing import Any

from services.orders.rules.pricing import Terms
from services.orders.rules.pricing.terms import ShippingMethod


def offered_methods(terms: Terms) -> dict[str, Any]:
    """The shop's own country, the countries that it delivers to (none named: all), and its methods."""
    delivering = [method for method in terms.methods if not method.collect_from]
    everywhere = any(not method.zones for method in delivering)
    countries = {zone.country for method in delivering for zone in method.zones}
    return {
        "country": terms.country,
        "countries": [] if everywhere else sorted(countries),
        "items": [_method(method) for method in terms.methods],
    }


def _method(method: ShippingMethod) -> dict[str, Any]:
    found: dict[str, Any] = {
        "id": method.id,
        "name": method.name,
        "countries": sorted({zone.country for zone in method.zones}),
        "prices_from": method.rate.lowest_prices(),
        "free_from": dict(method.free_from),
    }
    if method.min_days is not None and method.max_days is not None:
        found["days"] = {"min": method.min_days, "max": method.max_days}
    if method.parcel_grams is not None:
        found["parcel_grams"] = method.parcel_grams
    if method.collect_from:
        found["collect_from"] = method.collect_from
    return found
