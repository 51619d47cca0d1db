"""What shipping methods charge for a parcel."""

from collections.abc import Mapping
from dataclasses import dataclass

from services.orders.rules.pricing.terms import Parcel


@dataclass(frozen=True)
class FlatRate:
    """The same for every parcel, by currency."""

    prices: Mapping[str, int]

    def price(self, parcel: Parcel) -> int | None:
        return self.prices.get(parcel.currency)

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
    """By the parcel's weight; goods without a weight weigh nothing."""

    bands: tuple[Band, ...]

    def price(self, parcel: Parcel) -> int | None:
        return _reached(self.bands, parcel.currency, parcel.grams)

    def lowest_prices(self) -> dict[str, int]:
        return _lowest(self.bands)


@dataclass(frozen=True)
class ValueRate:
    """By what the goods cost."""

    bands: tuple[Band, ...]

    def price(self, parcel: Parcel) -> int | None:
        return _reached(self.bands, parcel.currency, parcel.value)

    def lowest_prices(self) -> dict[str, int]:
        return _lowest(self.bands)


@dataclass(frozen=True)
class ProductCharges:
    """The products' own delivery charges, counted `per` line, per unit, or only the highest of them."""

    per: str = "line"

    def price(self, parcel: Parcel) -> int:
        if self.per == "highest":
            return max(charge for charge, _ in parcel.charges)
        return sum(charge * (quantity if self.per == "unit" else 1) for charge, quantity in parcel.charges)

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
