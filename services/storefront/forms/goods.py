"""The desk's forms for what is sold: products and their types, categories, stock, files of other shops."""

from collections.abc import Iterable
from dataclasses import replace

from services.storefront.forms.base import Field
from services.storefront.rules import backorders
from services.storefront.rules.publishing import STATUSES
from services.storefront.translation import gettext
from services.storefront.translation import gettext_noop as _

PRODUCT = (
    Field(
        "productid",
        _("Product id"),
        max_length=60,
        help=_("Letters, digits, - and _. It cannot be changed later."),
    ),
    Field("name", _("Name")),
    Field("brand", _("Brand"), required=False),
    Field("taxonomy", _("Category"), help=_("From the department down, joined by #: Home#Kitchen#Mugs")),
    Field("description", _("Description"), "textarea", required=False, max_length=20000),
    Field(
        "related",
        _("Goes well with"),
        required=False,
        max_length=1400,
        help=_("Ids of products, separated by commas; what is bought with it comes after them by itself."),
    ),
    Field("status", _("Status"), "select", required=False, options=STATUSES),
    Field(
        "kind",
        _("What it is"),
        "select",
        required=False,
        options=(("goods", _("Goods")), ("gift_card", _("A gift card worth its price"))),
        help=_("A gift card has no delivery and no tax; its code goes out by e-mail."),
    ),
    Field(
        "publish_from",
        _("Publish from"),
        "datetime-local",
        required=False,
        max_length=16,
        help=_("Day and time in UTC. Not shown before; a draft becomes active then."),
    ),
    Field("keywords", _("Search words"), required=False, max_length=500, help=_("Separated by commas.")),
    Field("colours", _("Colours"), required=False, help=_("Separated by commas.")),
    Field("price", _("Price"), inputmode="decimal", max_length=20),
    Field("delivery", _("Delivery charge"), inputmode="decimal", max_length=20),
    Field("currency", _("Currency"), max_length=3, help=_("Three letters: GBP, EUR, USD ...")),
    Field(
        "weight_grams",
        _("Weight in grams"),
        required=False,
        inputmode="numeric",
        max_length=9,
        help=_("What delivery by weight and carriers' rates count. A variant can have its own."),
    ),
    Field("backorder", _("Sell beyond the stock"), "select", required=False, options=backorders.CHOICES),
    Field(
        "backorder_date",
        _("Sent from"),
        "date",
        required=False,
        max_length=10,
        help=_("When what is still to come is expected. A variant can have its own."),
    ),
    Field(
        "backorder_limit",
        _("At most so many wait"),
        required=False,
        inputmode="numeric",
        max_length=9,
        help=_("Any number when left empty."),
    ),
    Field(
        "tax_class",
        _("Tax class"),
        required=False,
        max_length=40,
        help=_("As at Tax: books, food. standard when left empty."),
    ),
    Field(
        "hs_code",
        _("HS code"),
        required=False,
        inputmode="numeric",
        max_length=20,
        help=_("6 to 10 digits, for customs: 6912.00. Needed where a parcel crosses a customs border."),
    ),
    Field(
        "origin",
        _("Country of origin"),
        required=False,
        max_length=2,
        help=_("Where it was made, two letters: PT. Empty: as the shop's settings say."),
    ),
    Field(
        "prices",
        _("Prices in other currencies"),
        required=False,
        max_length=500,
        help=_("EUR 17.90; USD 19.99"),
    ),
    Field(
        "delivery_prices",
        _("Delivery in other currencies"),
        required=False,
        max_length=500,
        help=_("EUR 3.90; needed for each currency where delivery is not free."),
    ),
    Field(
        "compare_at_prices",
        _("Compared with"),
        required=False,
        max_length=500,
        help=_("Shown struck through, such as a recommended price: GBP 20.00; EUR 23.00"),
    ),
    Field(
        "group_prices",
        _("Prices of customer groups"),
        required=False,
        max_length=2000,
        help=_("Where they are lower: trade GBP 12.00; trade EUR 13.90; friends GBP 11.00"),
    ),
    Field(
        "cost_prices",
        _("Cost price"),
        required=False,
        max_length=500,
        help=_("What one costs you to buy: GBP 4.20; EUR 4.90. Only staff see it."),
    ),
    Field("sale", _("Sale price"), required=False, max_length=500, help=_("GBP 9.99; EUR 11.90")),
    Field(
        "sale_from",
        _("Sale from"),
        "datetime-local",
        required=False,
        max_length=16,
        help=_("UTC. At once when empty."),
    ),
    Field("sale_until", _("Sale until"), "datetime-local", required=False, max_length=16, help=_("UTC.")),
    Field(
        "image",
        _("Picture address"),
        required=False,
        max_length=2000,
        help=_(
            "Such as https://pictures.example/mug.jpg, or a path on this site. Shown while there is no picture above."
        ),
    ),
    Field("pictures", _("Pictures"), "file", required=False),
)


def translated_product(languages: Iterable[str]) -> tuple[Field, ...]:
    """What the product form has of each further language of the shop."""
    return tuple(
        replace(each, name=f"{each.name}_{code}", label=f"{gettext(each.label)} ({code})")
        for code in languages
        for each in (
            Field("name", _("Name"), required=False, max_length=500),
            Field("description", _("Description"), "textarea", required=False, max_length=20_000),
            Field(
                "labels",
                _("Options, colours and values"),
                "textarea",
                required=False,
                max_length=20_000,
                help=_("One a line, as it is in the shop's own language and in this one: Size = Größe"),
            ),
        )
    )


def translated_category(languages: Iterable[str]) -> tuple[Field, ...]:
    """What the category form has of each further language of the shop."""
    return tuple(
        replace(each, name=f"{each.name}_{code}", label=f"{gettext(each.label)} ({code})")
        for code in languages
        for each in (
            Field("label", _("Label"), required=False),
            Field("text", _("Text"), "textarea", required=False, max_length=2000),
        )
    )


def translated_type(languages: Iterable[str]) -> tuple[Field, ...]:
    """What the form of a product type has of each further language of the shop."""
    return tuple(
        Field(
            f"{name}_{code}",
            f"{gettext(label)} ({code})",
            "textarea",
            required=False,
            max_length=20_000,
            help=gettext("One a line: %(example)s", example=gettext(example)),
        )
        for code in languages
        for name, label, example in (
            ("names", _("Names of attributes"), _("material = Material, by their code")),
            ("labels", _("Values"), _("Cotton = Baumwolle")),
        )
    )


PRODUCT_TYPE = (
    Field(
        "code",
        _("Code"),
        max_length=40,
        help=_("Small letters, digits, - and _: bag. It cannot be changed later."),
    ),
    Field("name", _("Name"), max_length=100),
)


CATEGORY = (
    Field(
        "path",
        _("Category"),
        max_length=2500,
        help=_("From the department down, joined by #: Home#Kitchen#Mugs"),
    ),
    Field("label", _("Label"), required=False, help=_("As customers read it; its last name when empty.")),
    Field(
        "position",
        _("Place"),
        required=False,
        inputmode="numeric",
        max_length=4,
        help=_("A number among those beside it; those without one come behind, by name."),
    ),
    Field("text", _("Text"), "textarea", required=False, max_length=2000, help=_("Above its products.")),
    Field(
        "picture",
        _("Picture address"),
        required=False,
        max_length=2000,
        help=_("Such as https://pictures.example/mugs.jpg, or a path on this site."),
    ),
    Field("file", _("Or a picture of yours"), "file", required=False),
    Field(
        "moved_to",
        _("Moved to"),
        required=False,
        max_length=2500,
        help=_(
            "Another category: old addresses lead there for good, and its products follow within minutes."
        ),
    ),
)


NEW_PRODUCT = (
    *PRODUCT,
    Field(
        "stock",
        _("Stock to begin with"),
        required=False,
        inputmode="numeric",
        max_length=9,
        help=_("0 when left empty."),
    ),
)


STOCK = (
    Field(
        "delta",
        _("Add or take away"),
        inputmode="numeric",
        max_length=9,
        help=_("12 adds twelve, -3 takes three away."),
    ),
    Field("reason", _("Why"), help=_("Such as: delivery from the supplier, broken.")),
)


STOCK_CHANGES = (
    Field(
        "lines",
        _("A line for each SKU"),
        "textarea",
        required=False,
        max_length=100_000,
        help=_(
            "mug-1 12 adds twelve, shirt-M-red -3 takes three away, mug-1 = 7 says that seven were counted."
        ),
    ),
    Field("file", _("Or a file of such lines (CSV)"), "file", required=False),
    Field("reason", _("Why"), help=_("Such as: broken, counted.")),
    Field(
        "counted_at",
        _("Counted at"),
        "datetime-local",
        required=False,
        max_length=16,
        help=_("Day and time in UTC. What was sold since is taken into account. Left empty: now."),
    ),
)

SUPPLIER_DELIVERY = (
    Field("supplier", _("Supplier"), max_length=100),
    Field(
        "reference", _("Reference"), required=False, max_length=100, help=_("The supplier's number of it.")
    ),
    Field("expected", _("Expected"), "datetime-local", required=False, max_length=16, help=_("UTC.")),
    Field(
        "lines",
        _("A line for each SKU"),
        "textarea",
        max_length=20_000,
        help=_("What was ordered and how many: mug-1 12."),
    ),
    Field("note", _("Note"), required=False, max_length=500),
)
RECEIPT = (
    Field("number", _("Number"), required=False, max_length=2),
    Field("complete", _("Nothing more will come"), "check", required=False),
)


SHOP_EXPORT = (
    Field(
        "format",
        _("What the file is"),
        "select",
        required=False,
        options=(
            ("", _("NDJSON, as this shop exports it")),
            ("shopify", _("Shopify's product export (CSV)")),
            ("woocommerce", _("WooCommerce's product export (CSV)")),
        ),
    ),
    Field("currency", _("Currency of its prices"), max_length=3, help=_("Such a CSV file does not name it.")),
    Field(
        "untracked_stock",
        _("Stock of what the other shop does not count"),
        required=False,
        inputmode="numeric",
        max_length=9,
    ),
    Field(
        "pictures",
        _("Pictures"),
        "select",
        options=(
            ("fetch", _("Fetch them from their addresses and keep them here")),
            ("reference", _("Show the first from where it is")),
            ("none", _("Leave them out")),
        ),
    ),
    Field("dry_run", _("Try it only: say what would happen and write nothing"), "check", required=False),
)
