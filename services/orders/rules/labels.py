"""Labels that the shop buys for parcels, of goods that go out or come back: what a carrier must know, and what it sold."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Final

from services.orders.declarations.labels import LabelForm
from services.orders.declarations.order import Customer
from services.orders.declarations.parts import CarrierService, line_key
from services.orders.rules.addresses import postal_parts
from shared.errors import Conflict, Invalid
from shared.money import Money

SUBMITTED, REFUNDED, REJECTED, NOT_APPLICABLE, NOT_BOUGHT = (
    "submitted",
    "refunded",
    "rejected",
    "not_applicable",
    "not_bought",
)
REFUND_STATUSES: Final = (SUBMITTED, REFUNDED, REJECTED, NOT_APPLICABLE, NOT_BOUGHT)
"""Of the money of a label that was not used."""
GIVEN_BACK: Final = (SUBMITTED, REFUNDED)
IN_FLIGHT: Final = timedelta(seconds=60)
"""A purchase that has begun, or a parcel that is handed over, is written down by then."""
_WORD: Final = re.compile(r"\w+")
_TELLING: Final = 4
"""Letters of a word that says whose address it is."""


class LabelRefused(Conflict):
    """`kept`: what may be written down of it where the detail, which says what a provider said, repeats the customer's address."""

    code, title = "label_refused", "The carrier sells no label for this parcel"

    def __init__(self, detail: str, *, kept: str = "", **extra: Any) -> None:
        super().__init__(detail, **extra)
        self.kept = kept or detail

    def noted(self, customer: Customer | None) -> str:
        """What is written down of it: no word of four letters or more of the customer's name and address is in it, nothing has to be erased."""
        address = customer["deliveryAddress"] if customer else None
        parts = address.values() if isinstance(address, dict) else [address]
        about = " ".join(str(part or "") for part in (customer["name"] if customer else "", *parts))
        words = {word for word in _WORD.findall(about.lower()) if len(word) >= _TELLING}
        return self.kept if words & set(_WORD.findall(self.detail.lower())) else self.detail


class NoLabelProvider(Conflict):
    code, title = "no_label_provider", "This shop buys no labels"


@dataclass(frozen=True)
class Place:
    """A postal address as carriers take it: `parts` by the names of `shared.addresses`, with a country, a city and a first line."""

    name: str
    parts: dict[str, str]


@dataclass(frozen=True)
class CustomsItem:
    """So many of a product: what they were sold for together without tax, and what they weigh together."""

    sku: str
    description: str
    quantity: int
    value: Money
    grams: int
    hs_code: str
    origin: str


@dataclass(frozen=True)
class CustomsDeclaration:
    """`filing`: the exemption from filing the export that American customs ask for."""

    items: tuple[CustomsItem, ...]
    contents: str
    signer: str
    filing: str


@dataclass(frozen=True)
class LabelParcel:
    """From the shop to a customer, or where it `comes_back` the other way. `reference` is what people find it by at the provider.

    `service`: how it is to go, in this `currency`; without one the cheapest way. `customs`: where it crosses a customs border.
    """

    customer: Place
    shop: Place
    grams: int
    reference: str
    currency: str
    comes_back: bool = False
    service: CarrierService | None = None
    customs: CustomsDeclaration | None = None


@dataclass(frozen=True)
class BoughtLabel:
    """`tracking_url` and `url` (of the PDF) are the provider's; "" where it has none. `forms`: what goes with it for customs."""

    carrier: str
    service: str
    tracking_code: str
    tracking_url: str
    url: str
    cost: Money
    forms: tuple[LabelForm, ...] = ()


def place(name: str, address: Any, own_country: str) -> Place | None:
    """None where it lacks what carriers ask for: a street and a city."""
    parts = postal_parts(address, own_country)
    return Place(name, parts) if parts.get("line1") and parts.get("city") else None


def weight(lines: Sequence[Any], grams: dict[str, int]) -> int:
    """What the goods weigh together, in grams; `grams` of one piece, by SKU. Raises Invalid where it is not known."""
    found = [grams.get(line_key(line), 0) for line in lines]
    if not all(found):
        words = "Say what the parcel weighs: not all of its goods have a weight."
        raise Invalid(words, errors={"weight_grams": [words]})
    return sum(each * line["quantity"] for each, line in zip(found, lines, strict=True))
