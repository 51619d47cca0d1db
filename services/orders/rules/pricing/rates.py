"""What shipping methods charge for an order, in one parcel or several."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from services.orders.rules.pricing.carriers import CarrierRate, NoRates
from services.orders.rules.pricing.terms import Parcel


@dataclass(frozen=True)
class FlatRate:
    """The same for every parcel, by currency."""

    prices: Mapping[str, int]

    provider: ClassVar[str] = ""

    def price(self, parcel: Parcel) -> int | None:
        price = self.prices.get(parcel.currency)
        return None if price is None else price * len(parcel.weights)

    def lowest_prices(self) -> dict[str, int]:
        return dict(self.prices)


@dataclass(frozen=True)
class Band:
    """A price from so many grams or minor units on."""

    start: int
    price: int
    currency: str


@dataclass(frozen=True)
class WeightRate:
    """By each parcel's weight; goods without a weight weigh nothing."""

    bands: tuple[Band, ...]

    provider: ClassVar[str] = ""

    def price(self, parcel: Parcel) -> int | None:
        prices = [_reached(self.bands, parcel.currency, grams) for grams in parcel.weights]
        known = [price for price in prices if price is not None]
        return sum(known) if len(known) == len(prices) else None

    def lowest_prices(self) -> dict[str, int]:
        return _lowest(self.bands)


@dataclass(frozen=True)
class ValueRate:
    """By what the goods cost."""

    bands: tuple[Band, ...]

    provider: ClassVar[str] = ""

    def price(self, parcel: Parcel) -> int | None:
        return _reached(self.bands, parcel.currency, parcel.value)

    def lowest_prices(self) -> dict[str, int]:
        return _lowest(self.bands)


@dataclass(frozen=True)
class ProductCharges:
    """The products' own delivery charges, counted `per` line, per unit, or only the highest of them."""

    per: str = "line"

    provider: ClassVar[str] = ""

    def price(self, parcel: Parcel) -> int:
        if self.per == "highest":
            return max(charge for charge, _ in parcel.charges)
        return sum(charge * (quantity if self.per == "unit" else 1) for charge, quantity in parcel.charges)

    def lowest_prices(self) -> dict[str, int]:
        return {}


@dataclass(frozen=True)
class ProviderRate:
    """What a rate provider says of a carrier's `service`, the cheapest where it fits several; the `fallback` price of each parcel while it has no answer."""

    provider: str
    service: str
    fallback: Mapping[str, int]

    def carrier_rate(self, parcel: Parcel) -> CarrierRate | None:
        return parcel.carrier_rates.cheapest(self.provider, self.service, parcel.currency, parcel.weights)

    def problem(self, parcel: Parcel) -> NoRates | None:
        """Why the provider has no answer."""
        return parcel.carrier_rates.problems.get(self.provider)

    def price(self, parcel: Parcel) -> int | None:
        if self.problem(parcel):
            return FlatRate(self.fallback).price(parcel)
        found = self.carrier_rate(parcel)
        return found.price if found else None

    def lowest_prices(self) -> dict[str, int]:
        return {}


def _reached(bands: tuple[Band, ...], currency: str, measure: int) -> int | None:
    """The price of the highest band of the currency that `measure` reaches."""
    reached = [band for band in bands if band.currency == currency and band.start <= measure]
    return max(reached, key=lambda band: band.start).price if reached else None


def _lowest(bands: tuple[Band, ...]) -> dict[str, int]:
    found: dict[str, int] = {}
    for band in bands:
        found[band.currency] = min(band.price, found.get(band.currency, band.price))
    return found
