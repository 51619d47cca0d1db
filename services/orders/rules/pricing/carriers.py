"""What carriers charge for parcels: asked of their rate services before a quote, which reads the answers without I/O."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum


@dataclass(frozen=True)
class Destination:
    """Where an order goes, as far as prices depend on it. `country`: ISO 3166-1 alpha-2."""

    country: str
    region: str = ""
    postcode: str = ""


@dataclass(frozen=True)
class CarrierParcel:
    """What a carrier is asked to price."""

    origin: Destination
    destination: Destination
    grams: int


@dataclass(frozen=True)
class CarrierRate:
    """One service of a carrier for a parcel, in minor units; `days` in transit where the carrier says so."""

    carrier: str
    service: str
    price: int
    currency: str
    days: int | None = None

    def is_named(self, service: str) -> bool:
        """Whether `service` means this one: "USPS/Priority", all of a carrier by its name, or any when empty."""
        names = ("", self.carrier, f"{self.carrier}/{self.service}")
        return service.casefold() in map(str.casefold, names)


class NoRates(StrEnum):
    """Why a rate provider has no answer."""

    CARRIER_UNAVAILABLE = "carrier_unavailable"
    WEIGHT_UNKNOWN = "weight_unknown"


@dataclass(frozen=True)
class CarrierRates:
    """What each provider answered for a parcel of so many grams (nothing: it does not take it), and why the others did not."""

    answers: Mapping[str, Mapping[int, tuple[CarrierRate, ...]]] = field(default_factory=dict)
    problems: Mapping[str, NoRates] = field(default_factory=dict)

    def cheapest(
        self, provider: str, service: str, currency: str, weights: Sequence[int]
    ) -> CarrierRate | None:
        """Of the services that take every parcel of these weights: what one charges for all, and the days of the slowest."""
        answers = self.answers.get(provider, {})
        by_parcel = [
            _cheapest_of_each(
                rate
                for rate in answers.get(grams, ())
                if rate.currency == currency and rate.is_named(service)
            )
            for grams in weights
        ]
        fitting = [
            _for_all([rates[name] for rates in by_parcel])
            for name in by_parcel[0]
            if all(name in rates for rates in by_parcel)
        ]
        return min(fitting, key=lambda rate: (rate.price, rate.days or 0), default=None)


def _cheapest_of_each(rates: Iterable[CarrierRate]) -> dict[tuple[str, str], CarrierRate]:
    found: dict[tuple[str, str], CarrierRate] = {}
    for rate in rates:
        known = found.setdefault((rate.carrier, rate.service), rate)
        if (rate.price, rate.days or 0) < (known.price, known.days or 0):
            found[rate.carrier, rate.service] = rate
    return found


def _for_all(rates: Sequence[CarrierRate]) -> CarrierRate:
    """One service's rates for several parcels as one."""
    days = [rate.days for rate in rates if rate.days is not None]
    return replace(
        rates[0],
        price=sum(rate.price for rate in rates),
        days=max(days) if len(days) == len(rates) else None,
    )
