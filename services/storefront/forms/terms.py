"""The desk's forms for what a customer pays: delivery, promotions, tax."""

from services.storefront.forms.base import Field
from services.storefront.translation import gettext_noop as _

SHIPPING_METHOD = (
    Field(
        "id",
        _("Code"),
        max_length=40,
        help=_("Small letters, digits and dashes: post. It cannot be changed later."),
    ),
    Field("name", _("Name"), max_length=100, help=_("As customers read it.")),
    Field(
        "zones",
        _("Where it goes"),
        "textarea",
        required=False,
        max_length=5000,
        help=_(
            "A line for each: GB; US regions CA, NY; GB postcodes BT, IM; GB except BT. Empty: everywhere."
        ),
    ),
    Field(
        "rate",
        _("What it costs"),
        "select",
        options=(
            ("flat", _("One price")),
            ("weight", _("By weight")),
            ("value", _("By what the goods cost")),
            ("product", _("The products' own delivery charges")),
            ("carrier", _("What a carrier charges")),
        ),
    ),
    Field("prices", _("Price"), required=False, max_length=500, help=_("Of one price: GBP 3.95; EUR 4.95")),
    Field(
        "bands",
        _("Bands"),
        "textarea",
        required=False,
        max_length=2000,
        help=_(
            "By weight, in grams: 2000: GBP 7.00. By value: 50.00: GBP 0. The first from 0; a line for each."
        ),
    ),
    Field(
        "per",
        _("Products' charges count"),
        "select",
        options=(
            ("line", _("For each product")),
            ("unit", _("For each piece")),
            ("highest", _("Only the highest")),
        ),
    ),
    Field(
        "provider",
        _("Asked for carriers' rates"),
        required=False,
        max_length=40,
        help=_("easypost, where the shop is connected to it."),
    ),
    Field(
        "service",
        _("Carrier and service"),
        required=False,
        max_length=200,
        help=_("USPS/Priority; USPS: the cheapest of it. Empty: the cheapest of all."),
    ),
    Field(
        "fallback_prices",
        _("Price while the carrier does not answer"),
        required=False,
        max_length=500,
        help=_("GBP 7.00. Empty: customers cannot choose it then."),
    ),
    Field("free_from", _("Free from"), required=False, max_length=500, help=_("GBP 50.00")),
    Field(
        "parcel_grams",
        _("Heaviest parcel in grams"),
        required=False,
        inputmode="numeric",
        max_length=9,
        help=_(
            "A heavier order goes in several parcels, each at its own price. By one price, by weight and a carrier's rates."
        ),
    ),
    Field("max_grams", _("Heaviest order in grams"), required=False, inputmode="numeric", max_length=9),
    Field("min_days", _("Days at least"), required=False, inputmode="numeric", max_length=3),
    Field("max_days", _("Days at most"), required=False, inputmode="numeric", max_length=3),
    Field("collect_from", _("Where customers collect"), "textarea", required=False, max_length=1000),
    Field("tax_class", _("Tax class"), required=False, max_length=40, help=_("standard when left empty.")),
    Field("position", _("Place in the list"), required=False, inputmode="numeric", max_length=4),
    Field("active", _("Customers can choose it"), "check", required=False),
)


SHOP = (
    Field(
        "country",
        _("Country of the shop"),
        max_length=2,
        help=_(
            "Two letters: GB. An address without a country lies there, and what customers collect is taxed there."
        ),
    ),
    Field(
        "region",
        _("Region of the shop"),
        required=False,
        max_length=100,
        help=_("Its code, where it has one: CA."),
    ),
    Field(
        "postcode",
        _("Postcode of the shop"),
        required=False,
        max_length=12,
        help=_("Where parcels leave from: carriers' rates need it."),
    ),
    Field(
        "gift_card_days",
        _("Days that a gift card can be spent"),
        inputmode="numeric",
        max_length=5,
        help=_("Of cards that are issued from now on. 0: for ever."),
    ),
    Field(
        "name", _("Name of the shop"), required=False, max_length=100, help=_("On invoices and in e-mails.")
    ),
    Field(
        "address",
        _("Address of the shop"),
        "textarea",
        required=False,
        max_length=1000,
        help=_("On invoices and in e-mails, with what else they must say, such as a VAT number."),
    ),
    Field(
        "logo",
        _("Logo"),
        required=False,
        max_length=200,
        help=_("On invoices and in e-mails: choose a picture below, or leave what is here."),
    ),
    Field(
        "daily_figures_to",
        _("Who gets the figures of the day before"),
        "textarea",
        required=False,
        max_length=2000,
        help=_("E-mail addresses of staff, a line each. They get it each morning."),
    ),
    Field(
        "time_zone",
        _("Time zone of these figures"),
        required=False,
        max_length=60,
        help=_("When the day ends: Europe/Berlin. UTC when empty."),
    ),
    Field(
        "return_days",
        _("Days that goods can be sent back"),
        required=False,
        inputmode="numeric",
        max_length=5,
        help=_("After they arrived. 0: for ever."),
    ),
    Field(
        "return_address",
        _("Where returned goods go"),
        "textarea",
        required=False,
        max_length=1000,
        help=_("As customers read it in the e-mail that approves a return."),
    ),
    Field(
        "approve_returns", _("Returns are approved as soon as they are requested"), "check", required=False
    ),
    Field(
        "refund_before_receipt",
        _("Returns are paid back when they are approved, not when the goods are here"),
        "check",
        required=False,
    ),
    Field(
        "exchange_before_receipt",
        _("What is sent for returned goods leaves when the return is approved, not when the goods are here"),
        "check",
        required=False,
    ),
    Field(
        "buy_return_labels",
        _("A label is bought for each return that is approved"),
        "check",
        required=False,
        help=_("From the shop's label provider, where all goods of the parcel have a weight."),
    ),
    Field(
        "customs_signer",
        _("Who signs customs declarations"),
        required=False,
        max_length=100,
        help=_("First and last name. Needed to buy labels across a customs border."),
    ),
    Field(
        "customs_origin",
        _("Country of origin"),
        required=False,
        max_length=2,
        help=_("Of goods whose product does not say it, two letters: GB."),
    ),
    Field(
        "customs_contents",
        _("What goods are to customs"),
        "select",
        required=False,
        options=(
            ("merchandise", _("Merchandise")),
            ("gift", _("A gift")),
            ("sample", _("A sample")),
            ("documents", _("Documents")),
        ),
    ),
)


PROMOTION = (
    Field("name", _("Name"), max_length=100, help=_("As customers read it.")),
    Field(
        "codes",
        _("Codes"),
        required=False,
        max_length=500,
        help=_("TEN, SAVE-10: capital or small letters are the same. Empty: it applies by itself."),
    ),
    Field("percent", _("Percent off"), required=False, max_length=10, help=_("10 or 12.5")),
    Field("amount", _("Amount off"), required=False, max_length=500, help=_("GBP 5.00; EUR 6.00")),
    Field(
        "buy_get",
        _("Buy and get"),
        required=False,
        max_length=40,
        help=_("2 + 1: of three the cheapest is free. 2 + 1 at 50 %: it is half price."),
    ),
    Field("free_delivery", _("Delivery is free"), "check", required=False),
    Field(
        "methods",
        _("Free delivery by"),
        required=False,
        max_length=500,
        help=_("Codes of shipping methods: post, van. Empty: all of them."),
    ),
    Field(
        "categories",
        _("Departments"),
        "textarea",
        required=False,
        max_length=5000,
        help=_("What it acts on, a line for each: Home#Kitchen. Empty: everything."),
    ),
    Field(
        "products",
        _("Products"),
        "textarea",
        required=False,
        max_length=5000,
        help=_("What it acts on, too: a product's id or a variant's SKU, a line for each."),
    ),
    Field(
        "groups",
        _("Customer groups"),
        "textarea",
        required=False,
        max_length=2000,
        help=_("A line for each. Empty: everybody."),
    ),
    Field(
        "minimum",
        _("Goods for at least"),
        required=False,
        max_length=500,
        help=_("Of what it acts on, before discounts: GBP 50.00; EUR 60.00"),
    ),
    Field("first_order", _("Only for an account's first order"), "check", required=False),
    Field("from", _("From"), required=False, max_length=30, help=_("2026-11-30, in UTC. Empty: now.")),
    Field(
        "to",
        _("Last day"),
        required=False,
        max_length=30,
        help=_("2026-12-24, in UTC. Empty: until you end it."),
    ),
    Field(
        "limit",
        _("Orders that can use it"),
        required=False,
        inputmode="numeric",
        max_length=6,
        help=_("All together. Empty: any number."),
    ),
    Field(
        "per_customer",
        _("Orders of one customer"),
        required=False,
        inputmode="numeric",
        max_length=3,
        help=_("A customer is an e-mail address, with an account or as a guest. Empty: any number."),
    ),
    Field(
        "priority",
        _("Priority"),
        required=False,
        inputmode="numeric",
        max_length=4,
        help=_("The highest is applied first."),
    ),
    Field("combines", _("Others may be applied to the same order"), "check", required=False),
    Field("active", _("It runs"), "check", required=False),
)


TAX_RATE = (
    Field("country", _("Country"), max_length=2, help=_("Two letters: GB, DE, US.")),
    Field(
        "region",
        _("Region"),
        required=False,
        max_length=100,
        help=_("Its code: CA. Empty: all of the country."),
    ),
    Field("tax_class", _("Tax class"), required=False, max_length=40, help=_("standard when left empty.")),
    Field("name", _("Name"), max_length=60, help=_("As customers read it: VAT.")),
    Field("rate", _("Percent"), inputmode="decimal", max_length=10),
    Field("valid_from", _("From"), "date", required=False, max_length=10, help=_("Empty: since ever.")),
    Field("included", _("Prices hold it already"), "check", required=False),
    Field("active", _("In force"), "check", required=False),
)
