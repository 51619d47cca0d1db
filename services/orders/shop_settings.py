"""What the shop's people set at the desk: documents of the orders database, beside the orders.

    settings:shop      settings:shipping-method.{id}      settings:tax-rate.{id}          as they are now
    settings_history:{the same}.v{n}                                                      each version that was replaced

A document that is replaced is kept first, under its version, so that none is lost; both say who wrote them and when.
"""

from typing import Annotated, Any, Final, NotRequired

from services.orders.declarations.common import REGION
from shared.couch import Document, DocumentType, StoredDocument, document_id
from shared.fields import (
    Amount,
    Amounts,
    Boolean,
    Choice,
    Declaration,
    GroupList,
    Integer,
    Moment,
    Percent,
    Text,
    TextList,
)

PARTITION, HISTORY_PARTITION = "settings", "settings_history"
SHOP, SHIPPING_METHOD, TAX_RATE = "shop", "shipping-method", "tax-rate"
MAX_OF_A_KIND, MAX_ZONES, MAX_BANDS = 500, 250, 50
RATES: Final = ("flat", "weight", "value", "product")
CODE: Final = "[a-z0-9][a-z0-9-]*"
CODE_MESSAGE: Final = "Only small letters, digits and dashes, a letter or digit first."
DAY: Final = r"|\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])"

COUNTRY: Final = Text(2, 2, pattern="[A-Z]{2}", pattern_message="Two capital letters, as in ISO 3166-1: GB.")
TAX_CLASS: Final = Text(
    1,
    40,
    pattern=CODE,
    pattern_message=CODE_MESSAGE,
    default="standard",
    description="a product's `tax_class`",
)
POSTCODES: Final = TextList(Text(1, 12), 0, 500, default=[], description="how they begin: BT, AB31")
ZONE: Final = {
    "country": COUNTRY,
    "regions": TextList(REGION, 0, 100, default=[], description="all of the country when empty"),
    "postcodes": POSTCODES,
    "excluded_postcodes": POSTCODES,
}
BAND: Final = {
    "from": Integer(0, 10**12, description="grams, or minor units of the goods"),
    "price": Amount(),
}


class SettingsDocument(StoredDocument):
    """What every one of them has."""

    version: Annotated[int, Integer(1, 10**9, writable=False)]
    edited: Annotated[str, Moment(writable=False)]
    edited_by: Annotated[str, Text(1, 100, writable=False, description="who wrote this version")]


class ShopSettings(SettingsDocument):
    """What holds for the whole shop."""

    country: Annotated[str, COUNTRY]
    """Where it is: an address without a country lies there, and so does what customers collect."""


class ShippingMethod(SettingsDocument):
    """A way to the customer: where it goes, what it charges, how long it takes."""

    id: Annotated[str, Text(1, 40, pattern=CODE, pattern_message=CODE_MESSAGE)]
    name: Annotated[str, Text(1, 100, description="as customers read it")]
    active: NotRequired[Annotated[bool, Boolean(default=True)]]
    position: NotRequired[
        Annotated[int, Integer(0, 1000, default=0, description="the lowest is shown first")]
    ]
    zones: NotRequired[
        Annotated[
            list[dict[str, Any]],
            GroupList(ZONE, MAX_ZONES, fill=True, default=[], description="everywhere when empty"),
        ]
    ]
    rate: Annotated[
        str,
        Choice(
            RATES,
            description="flat: `prices`; weight, value: `bands`; product: the products' own delivery charges",
        ),
    ]
    prices: NotRequired[
        Annotated[
            dict[str, int],
            Amounts(default={}, description="of a flat rate: minor units; not offered in other currencies"),
        ]
    ]
    bands: NotRequired[
        Annotated[
            list[dict[str, Any]],
            GroupList(BAND, MAX_BANDS, default=[], description="the last one that is reached holds"),
        ]
    ]
    per: NotRequired[
        Annotated[
            str, Choice(("line", "unit", "highest"), default="line", description="how product charges count")
        ]
    ]
    free_from: NotRequired[
        Annotated[
            dict[str, int],
            Amounts(default={}, description="goods worth so much are delivered free, by currency"),
        ]
    ]
    max_grams: NotRequired[Annotated[int | None, Integer(1, 10**9, default=None)]]
    min_days: NotRequired[Annotated[int | None, Integer(0, 365, default=None)]]
    max_days: NotRequired[Annotated[int | None, Integer(0, 365, default=None)]]
    collect_from: NotRequired[
        Annotated[str, Text(0, 1000, default="", description="where customers fetch their goods")]
    ]
    tax_class: NotRequired[Annotated[str, TAX_CLASS]]


class TaxRate(SettingsDocument):
    """The tax on a class of goods in a country, or a region of it, from a day on."""

    id: Annotated[str, Text(1, 200, writable=False)]
    tax_class: NotRequired[Annotated[str, TAX_CLASS]]
    country: Annotated[str, COUNTRY]
    region: NotRequired[Annotated[str, Text(0, 100, default="", description="all of the country when empty")]]
    name: Annotated[str, Text(1, 60, description="as customers read it: VAT")]
    rate: Annotated[float, Percent(description="percent")]
    included: NotRequired[
        Annotated[
            bool, Boolean(default=True, description="prices hold it already; otherwise it is added to them")
        ]
    ]
    valid_from: NotRequired[
        Annotated[
            str,
            Text(
                0,
                10,
                pattern=DAY,
                pattern_message="Write a day like 2026-01-31.",
                default="",
                description="the first day it is good for; empty: since ever",
            ),
        ]
    ]
    active: NotRequired[Annotated[bool, Boolean(default=True)]]


SHOP_SETTINGS_TYPE = DocumentType.declared("shopsettings", ShopSettings)
SHIPPING_METHOD_TYPE = DocumentType.declared("shippingmethod", ShippingMethod)
TAX_RATE_TYPE = DocumentType.declared("taxrate", TaxRate)
SHOP_FIELDS: Final = Declaration(ShopSettings)
SHIPPING_METHOD_FIELDS: Final = Declaration(ShippingMethod)
TAX_RATE_FIELDS: Final = Declaration(TaxRate)


def setting_id(kind: str, id: str = "") -> str:
    """The id of a document as it is now; of the shop's own, `kind` alone."""
    return document_id(PARTITION, f"{kind}.{id}" if id else kind)


def version_id(doc: Document) -> str:
    """Where a version is kept when the next one takes its place."""
    key = str(doc["_id"]).partition(":")[2]
    return document_id(HISTORY_PARTITION, f"{key}.v{doc['version']:06d}")


def tax_rate_id(content: Document) -> str:
    """What a rate is for is its id, so that there is one of a kind: `gb-standard`, `us-ca-standard-2026-01-01`."""
    region = "-".join("".join(letter if letter.isalnum() else " " for letter in content["region"]).split())
    parts = (content["country"], region, content["tax_class"], content["valid_from"])
    return "-".join(part for part in parts if part).lower()
