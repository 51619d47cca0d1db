"""The desk's forms for what is sold: products and their types, categories, stock, files of other shops."""

from collections.abc import Iterable
from dataclasses import replace

from services.storefront.forms.base import Field
from services.storefront.rules.publishing import STATUSES

PRODUCT = (
    Field(
        "productid", "Product id", max_length=60, help="Letters, digits, - and _. It cannot be changed later."
    ),
    Field("name", "Name"),
    Field("brand", "Brand", required=False),
    Field("taxonomy", "Category", help="From the department down, joined by #: Home#Kitchen#Mugs"),
    Field("description", "Description", "textarea", required=False, max_length=20000),
    Field(
        "related",
        "Goes well with",
        required=False,
        max_length=1400,
        help="Ids of products, separated by commas; what is bought with it comes after them by itself.",
    ),
    Field("status", "Status", "select", required=False, options=STATUSES),
    Field(
        "kind",
        "What it is",
        "select",
        required=False,
        options=(("goods", "Goods"), ("gift_card", "A gift card worth its price")),
        help="A gift card has no delivery and no tax; its code goes out by e-mail.",
    ),
    Field(
        "publish_from",
        "Publish from",
        "datetime-local",
        required=False,
        max_length=16,
        help="Day and time in UTC. Not shown before; a draft becomes active then.",
    ),
    Field("keywords", "Search words", required=False, max_length=500, help="Separated by commas."),
    Field("colours", "Colours", required=False, help="Separated by commas."),
    Field("price", "Price", inputmode="decimal", max_length=20),
    Field("delivery", "Delivery charge", inputmode="decimal", max_length=20),
    Field("currency", "Currency", max_length=3, help="Three letters: GBP, EUR, USD ..."),
    Field(
        "weight_grams",
        "Weight in grams",
        required=False,
        inputmode="numeric",
        max_length=9,
        help="What delivery by weight and carriers' rates count. A variant can have its own.",
    ),
    Field(
        "tax_class",
        "Tax class",
        required=False,
        max_length=40,
        help="As at Tax: books, food. standard when left empty.",
    ),
    Field(
        "prices", "Prices in other currencies", required=False, max_length=500, help="EUR 17.90; USD 19.99"
    ),
    Field(
        "delivery_prices",
        "Delivery in other currencies",
        required=False,
        max_length=500,
        help="EUR 3.90; needed for each currency where delivery is not free.",
    ),
    Field(
        "compare_at_prices",
        "Compared with",
        required=False,
        max_length=500,
        help="Shown struck through, such as a recommended price: GBP 20.00; EUR 23.00",
    ),
    Field(
        "group_prices",
        "Prices of customer groups",
        required=False,
        max_length=2000,
        help="Where they are lower: trade GBP 12.00; trade EUR 13.90; friends GBP 11.00",
    ),
    Field("sale", "Sale price", required=False, max_length=500, help="GBP 9.99; EUR 11.90"),
    Field(
        "sale_from",
        "Sale from",
        "datetime-local",
        required=False,
        max_length=16,
        help="UTC. At once when empty.",
    ),
    Field("sale_until", "Sale until", "datetime-local", required=False, max_length=16, help="UTC."),
    Field(
        "image",
        "Picture address",
        required=False,
        max_length=2000,
        help="Such as https://pictures.example/mug.jpg, or a path on this site. Shown while there is no picture above.",
    ),
    Field("pictures", "Pictures", "file", required=False),
)


def translated_product(languages: Iterable[str]) -> tuple[Field, ...]:
    """What the product form has of each further language of the shop."""
    return tuple(
        replace(each, name=f"{each.name}_{code}", label=f"{each.label} ({code})")
        for code in languages
        for each in (
            Field("name", "Name", required=False, max_length=500),
            Field("description", "Description", "textarea", required=False, max_length=20_000),
            Field(
                "labels",
                "Options, colours and values",
                "textarea",
                required=False,
                max_length=20_000,
                help="One a line, as it is in the shop's own language and in this one: Size = Größe",
            ),
        )
    )


def translated_category(languages: Iterable[str]) -> tuple[Field, ...]:
    """What the category form has of each further language of the shop."""
    return tuple(
        replace(each, name=f"{each.name}_{code}", label=f"{each.label} ({code})")
        for code in languages
        for each in (
            Field("label", "Label", required=False),
            Field("text", "Text", "textarea", required=False, max_length=2000),
        )
    )


def translated_type(languages: Iterable[str]) -> tuple[Field, ...]:
    """What the form of a product type has of each further language of the shop."""
    return tuple(
        Field(
            f"{name}_{code}",
            f"{label} ({code})",
            "textarea",
            required=False,
            max_length=20_000,
            help=f"One a line: {example}",
        )
        for code in languages
        for name, label, example in (
            ("names", "Names of attributes", "material = Material, by their code"),
            ("labels", "Values", "Cotton = Baumwolle"),
        )
    )


PRODUCT_TYPE = (
    Field(
        "code", "Code", max_length=40, help="Small letters, digits, - and _: bag. It cannot be changed later."
    ),
    Field("name", "Name", max_length=100),
)


CATEGORY = (
    Field(
        "path",
        "Category",
        max_length=2500,
        help="From the department down, joined by #: Home#Kitchen#Mugs",
    ),
    Field("label", "Label", required=False, help="As customers read it; its last name when empty."),
    Field(
        "position",
        "Place",
        required=False,
        inputmode="numeric",
        max_length=4,
        help="A number among those beside it; those without one come behind, by name.",
    ),
    Field("text", "Text", "textarea", required=False, max_length=2000, help="Above its products."),
    Field(
        "picture",
        "Picture address",
        required=False,
        max_length=2000,
        help="Such as https://pictures.example/mugs.jpg, or a path on this site.",
    ),
    Field("file", "Or a picture of yours", "file", required=False),
    Field(
        "moved_to",
        "Moved to",
        required=False,
        max_length=2500,
        help="Another category: old addresses lead there for good, and its products follow within minutes.",
    ),
)


NEW_PRODUCT = (
    *PRODUCT,
    Field(
        "stock",
        "Stock to begin with",
        required=False,
        inputmode="numeric",
        max_length=9,
        help="0 when left empty.",
    ),
)


STOCK = (
    Field(
        "delta",
        "Add or take away",
        inputmode="numeric",
        max_length=9,
        help="12 adds twelve, -3 takes three away.",
    ),
    Field("reason", "Why", help="Such as: delivery from the supplier, broken."),
)


STOCK_CHANGES = (
    Field(
        "lines",
        "A line for each SKU",
        "textarea",
        required=False,
        max_length=100_000,
        help="mug-1 12 adds twelve, shirt-M-red -3 takes three away, mug-1 = 7 says that seven were counted.",
    ),
    Field("file", "Or a file of such lines (CSV)", "file", required=False),
    Field("reason", "Why", help="Such as: delivery from the supplier, counted."),
)


SHOP_EXPORT = (
    Field(
        "format",
        "What the file is",
        "select",
        required=False,
        options=(
            ("", "NDJSON, as this shop exports it"),
            ("shopify", "Shopify's product export (CSV)"),
            ("woocommerce", "WooCommerce's product export (CSV)"),
        ),
    ),
    Field("currency", "Currency of its prices", max_length=3, help="Such a CSV file does not name it."),
    Field(
        "untracked_stock",
        "Stock of what the other shop does not count",
        required=False,
        inputmode="numeric",
        max_length=9,
    ),
    Field(
        "pictures",
        "Pictures",
        "select",
        options=(
            ("fetch", "Fetch them from their addresses and keep them here"),
            ("reference", "Show the first from where it is"),
            ("none", "Leave them out"),
        ),
    ),
    Field("dry_run", "Try it only: say what would happen and write nothing", "check", required=False),
)
