"""The terms of sale: where the shop delivers for how much, and which tax is due where."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final, Protocol

from services.orders.rules.pricing.carriers import CarrierRates, Destination
from services.orders.rules.pricing.promotions import Promotions

STANDARD_CLASS: Final = "standard"
PARTS_PER_MILLION: Final = 1_000_000


@dataclass(frozen=True)
class Zone:
    """A country, or some regions or postcodes (by prefix) of it."""

    country: str
    regions: tuple[str, ...] = ()
    postcodes: tuple[str, ...] = ()
    excluded_postcodes: tuple[str, ...] = ()

    def holds(self, place: Destination) -> bool:
        postcode = compact(place.postcode)
        return (
            place.country == self.country
            and (not self.regions or place.region.casefold() in map(str.casefold, self.regions))
            and (not self.postcodes or _begins(postcode, self.postcodes))
            and not _begins(postcode, self.excluded_postcodes)
        )


@dataclass(frozen=True)
class Parcel:
    """What a rate looks at: `charges` are the products' own delivery charges, with how many of each. `weights`: of the parcels that it goes in."""

    currency: str
    value: int
    grams: int
    charges: tuple[tuple[int, int], ...]
    weights: tuple[int, ...]
    carrier_rates: CarrierRates = CarrierRates()


class Rate(Protocol):
    """What a shipping method charges. `provider` is who is asked for it, "" where the shop itself knows."""

    @property
    def provider(self) -> str: ...

    def price(self, parcel: Parcel) -> int | None:
        """Minor units of the parcel's currency; None when the method does not take this parcel."""

    def lowest_prices(self) -> dict[str, int]:
        """What it costs at least, by currency; nothing where that depends on the products."""


@dataclass(frozen=True)
class ShippingMethod:
    """A way to the customer. Without zones it goes everywhere; `collect_from` is where customers fetch their goods.

    An order of more than `max_grams` does not go this way; one of more than `parcel_grams` goes in several parcels.
    """

    id: str
    name: str
    rate: Rate
    zones: tuple[Zone, ...] = ()
    free_from: Mapping[str, int] = field(default_factory=dict)
    min_days: int | None = None
    max_days: int | None = None
    max_grams: int | None = None
    parcel_grams: int | None = None
    collect_from: str = ""
    tax_class: str = STANDARD_CLASS

    def reaches(self, place: Destination) -> bool:
        return not self.zones or any(zone.holds(place) for zone in self.zones)


@dataclass(frozen=True)
class TaxRate:
    """What is due of a class of goods in a country or region of it, from a day (2026-01-31) on. `included`: prices hold it already.

    `country` "" is any country; `region` "" all of the country.
    """

    name: str
    parts_per_million: int
    included: bool
    tax_class: str = STANDARD_CLASS
    country: str = ""
    region: str = ""
    valid_from: str = ""

    @property
    def percent(self) -> float:
        whole, rest = divmod(self.parts_per_million, 10_000)
        return whole if not rest else self.parts_per_million / 10_000


@dataclass(frozen=True)
class ReturnTerms:
    """Goods can be sent back for `days` after they arrived (0: for ever), to `address` where that is another than the shop's own.

    `approved`: nobody looks at a request first. `refund_first`: an approval is paid back before the goods are here.
    `exchange_first`: so are others sent for them. `buys_labels`: an approval buys the label of the parcel.
    """

    days: int = 30
    approved: bool = False
    refund_first: bool = False
    exchange_first: bool = False
    address: str = ""
    buys_labels: bool = False


RETURNS: Final = ReturnTerms()


@dataclass(frozen=True)
class ShopIdentity:
    """Whose invoices and e-mails they are: the shop's name, the lines of its address, and the picture that is its logo ("" without one)."""

    name: str = "Aisle"
    address: tuple[str, ...] = ()
    logo: str = ""


IDENTITY: Final = ShopIdentity()


@dataclass(frozen=True)
class CustomsTerms:
    """Who signs the shop's customs declarations ("": nobody), where goods are from whose product does not say it, what they are called."""

    signer: str = ""
    origin: str = ""
    contents: str = "merchandise"


CUSTOMS: Final = CustomsTerms()


@dataclass(frozen=True)
class Terms:
    """`country` is the shop's own: where addresses without a country lie, and where goods are collected; parcels leave from its
    `region` and `postcode`. Gift cards are good for `gift_card_days` (0: for ever).
    """

    country: str
    methods: tuple[ShippingMethod, ...]
    tax_rates: tuple[TaxRate, ...]
    promotions: Promotions = Promotions()
    gift_card_days: int = 0
    region: str = ""
    postcode: str = ""
    returns: ReturnTerms = RETURNS
    shop: ShopIdentity = IDENTITY
    customs: CustomsTerms = CUSTOMS

    @cached_property
    def rate_providers(self) -> frozenset[str]:
        """Those that a shipping method names."""
        return frozenset(provider for method in self.methods if (provider := method.rate.provider))

    @property
    def home(self) -> Destination:
        """Where the shop is."""
        return Destination(self.country, self.region, self.postcode)


def compact(postcode: str) -> str:
    """A postcode as prefixes are compared: `bt1 5gs` begins with `BT1`."""
    return "".join(postcode.split()).replace("-", "").upper()


def _begins(postcode: str, prefixes: tuple[str, ...]) -> bool:
    return any(postcode.startswith(compact(prefix)) for prefix in prefixes)
