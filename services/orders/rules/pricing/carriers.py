"""What carriers charge for a parcel: asked of their rate services before a quote, which reads the answers without I/O."""

from collections.abc import Mapping
from dataclasses import dataclass, field
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
    """What each provider answered (nothing: it does not take this parcel), and why the others did not."""

    answers: Mapping[str, tuple[CarrierRate, ...]] = field(default_factory=dict)
    problems: Mapping[str, NoRates] = field(default_factory=dict)

    def cheapest(self, provider: str, service: str, currency: str) -> CarrierRate | None:
        known = self.answers.get(provider, ())
        fitting = [rate for rate in known if rate.currency == currency and rate.is_named(service)]
        return min(fitting, key=lambda rate: (rate.price, rate.days or 0), default=None)
