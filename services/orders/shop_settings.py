"""What the shop's people set at the desk: documents of the orders database, beside the orders.

    settings:shop      settings:shipping-method.{id}      settings:tax-rate.{id}          as they are now
    settings_history:{the same}.v{n}                                                      each version that was replaced
    settings_history:{the same}.v{n}-{revision}            a version that gave way to another n: `actions.settings_conflicts`
    settings:promotion.{id}     promotion{id}:v{n}         a promotion as it is now, and its versions, none of which changes
    code{CODE}:claim                                       which promotion a code belongs to: no two have the same
    promotion{id}:use{n}        promotion{id}:customer{hash}-{n}     see `declarations.promotions`

A document that is replaced is kept first, under its version, so that none is lost; both say who wrote them and when.
"""

from typing import Annotated, Any, Final, NotRequired

from services.orders.declarations.common import REGION
from services.orders.documents import promotion_partition
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
SHOP, SHIPPING_METHOD, TAX_RATE, PROMOTION = "shop", "shipping-method", "tax-rate", "promotion"
MAX_OF_A_KIND, MAX_ZONES, MAX_BANDS = 500, 250, 50
RATES: Final = ("flat", "weight", "value", "product", "carrier")
CODE: Final = "[a-z0-9][a-z0-9-]*"
CODE_MESSAGE: Final = "Only small letters, digits and dashes, a letter or digit first."
MERCHANDISE: Final = "merchandise"
CUSTOMS_CONTENTS: Final = (MERCHANDISE, "gift", "sample", "documents")
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
    superseded: NotRequired[
        Annotated[
            str,
            Moment(
                writable=False,
                default="",
                show_default=False,
                description="of a version that gave way to another one, which was written beside it: when that one was written",
            ),
        ]
    ]


class ShopSettings(SettingsDocument):
    """What holds for the whole shop."""

    country: Annotated[str, COUNTRY]
    """Where it is: an address without a country lies there, and so does what customers collect."""
    region: NotRequired[Annotated[str, Text(0, 100, default="", description="its code: CA")]]
    postcode: NotRequired[
        Annotated[
            str, Text(0, 12, default="", description="where parcels leave from, as carriers ask for it")
        ]
    ]
    gift_card_days: NotRequired[
        Annotated[
            int,
            Integer(
                0,
                36_500,
                default=0,
                omit_default=False,
                description="how long a gift card that is issued from now on can be spent; 0: for ever",
            ),
        ]
    ]

    return_days: NotRequired[
        Annotated[
            int,
            Integer(
                0,
                36_500,
                default=30,
                omit_default=False,
                description="how long after their arrival goods can be sent back; 0: for ever",
            ),
        ]
    ]
    approve_returns: NotRequired[
        Annotated[
            bool,
            Boolean(
                default=False,
                omit_default=False,
                description="returns are approved as soon as they are requested",
            ),
        ]
    ]
    refund_before_receipt: NotRequired[
        Annotated[
            bool,
            Boolean(
                default=False,
                omit_default=False,
                description="a return is paid back when it is approved, not when the goods are here",
            ),
        ]
    ]
    exchange_before_receipt: NotRequired[
        Annotated[
            bool,
            Boolean(
                default=False,
                omit_default=False,
                description="what is sent for returned goods leaves when the return is approved, not when the goods are here",
            ),
        ]
    ]
    buy_return_labels: NotRequired[
        Annotated[
            bool,
            Boolean(
                default=False,
                omit_default=False,
                description="a label is bought for each return that is approved; needs LABEL_PROVIDER",
            ),
        ]
    ]
    return_address: NotRequired[
        Annotated[
            str, Text(0, 1000, default="", description="where returned goods go, as e-mails and pages say it")
        ]
    ]

    name: NotRequired[
        Annotated[str, Text(0, 100, default="", description="the shop's, on invoices and in e-mails")]
    ]
    address: NotRequired[
        Annotated[
            str,
            Text(
                0,
                1000,
                default="",
                description="the seller's on invoices, and what else they must say, such as a VAT number; a line each",
            ),
        ]
    ]
    logo: NotRequired[
        Annotated[
            str,
            Text(
                0,
                200,
                pattern="[A-Za-z0-9_-]*",
                pattern_message="The id of a picture that was uploaded.",
                default="",
                description="on invoices and in e-mails: the `id` of a picture",
            ),
        ]
    ]
    daily_figures_to: NotRequired[
        Annotated[
            str,
            Text(
                0,
                2000,
                default="",
                description="who gets the figures of the day before by e-mail each morning: addresses, a line each",
            ),
        ]
    ]
    time_zone: NotRequired[
        Annotated[
            str,
            Text(
                0,
                60,
                default="",
                description="by whose clock that day ends, such as Europe/Berlin; UTC when empty",
            ),
        ]
    ]
    customs_signer: NotRequired[
        Annotated[str, Text(0, 100, default="", description="who signs customs declarations")]
    ]
    customs_origin: NotRequired[
        Annotated[
            str,
            Text(
                0,
                2,
                pattern="|[A-Z]{2}",
                pattern_message="Two capital letters, as in ISO 3166-1: GB.",
                default="",
                description="where goods were made whose product does not say it, ISO 3166-1 alpha-2",
            ),
        ]
    ]
    customs_contents: NotRequired[
        Annotated[
            str,
            Choice(
                CUSTOMS_CONTENTS,
                default=MERCHANDISE,
                description="what a customs declaration calls the goods; those that come back are returned goods",
            ),
        ]
    ]


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
            description="flat: `prices`; weight, value: `bands`; product: the products' own delivery charges; "
            "carrier: what `provider` says of `service`",
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
    provider: NotRequired[
        Annotated[
            str, Text(0, 40, default="", description="one of RATE_PROVIDERS, which is asked for the rate")
        ]
    ]
    service: NotRequired[
        Annotated[
            str,
            Text(
                0,
                200,
                default="",
                description="of a carrier: USPS/Priority; USPS: the cheapest of it; empty: the cheapest of all",
            ),
        ]
    ]
    fallback_prices: NotRequired[
        Annotated[
            dict[str, int],
            Amounts(
                default={},
                description="while the provider does not answer; where there is none the method is not offered then",
            ),
        ]
    ]
    free_from: NotRequired[
        Annotated[
            dict[str, int],
            Amounts(default={}, description="goods worth so much are delivered free, by currency"),
        ]
    ]
    max_grams: NotRequired[
        Annotated[
            int | None, Integer(1, 10**9, default=None, description="a heavier order does not go this way")
        ]
    ]
    parcel_grams: NotRequired[
        Annotated[
            int | None,
            Integer(
                1,
                10**9,
                default=None,
                description="a heavier order goes in several parcels (20 at most), each at the price of its own weight; "
                "of the rates flat, weight and carrier",
            ),
        ]
    ]
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


def versions_prefix(docid: str) -> tuple[str, str]:
    """The partition in which the versions of a document lie, and what their keys begin with."""
    key = docid.partition(":")[2]
    kind, _, id = key.partition(".")
    return (promotion_partition(id), "v") if kind == PROMOTION else (HISTORY_PARTITION, f"{key}.v")


def version_id(doc: Document) -> str:
    """Where a version is kept when the next one takes its place."""
    partition, prefix = versions_prefix(str(doc["_id"]))
    return document_id(partition, f"{prefix}{doc['version']:06d}")


def superseded_id(doc: Document) -> str:
    """Where one of several revisions of a setting, or of a kept version, lies after it gave way: the same on every replica."""
    docid, rev = str(doc["_id"]), str(doc["_rev"])
    kept = version_id(doc) if docid.startswith(f"{PARTITION}:") else docid
    return f"{kept}-{rev.partition('-')[2][:8]}"


def tax_rate_id(content: Document) -> str:
    """What a rate is for is its id, so that there is one of a kind: `gb-standard`, `us-ca-standard-2026-01-01`."""
    region = "-".join("".join(letter if letter.isalnum() else " " for letter in content["region"]).split())
    parts = (content["country"], region, content["tax_class"], content["valid_from"])
    return "-".join(part for part in parts if part).lower()
