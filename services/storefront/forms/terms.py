"""The desk's forms for what a customer pays: delivery, promotions, tax."""

from services.storefront.forms.base import Field

SHIPPING_METHOD = (
    Field(
        "id",
        "Code",
        max_length=40,
        help="Small letters, digits and dashes: post. It cannot be changed later.",
    ),
    Field("name", "Name", max_length=100, help="As customers read it."),
    Field(
        "zones",
        "Where it goes",
        "textarea",
        required=False,
        max_length=5000,
        help="A line for each: GB; US regions CA, NY; GB postcodes BT, IM; GB except BT. Empty: everywhere.",
    ),
    Field(
        "rate",
        "What it costs",
        "select",
        options=(
            ("flat", "One price"),
            ("weight", "By weight"),
            ("value", "By what the goods cost"),
            ("product", "The products' own delivery charges"),
            ("carrier", "What a carrier charges"),
        ),
    ),
    Field("prices", "Price", required=False, max_length=500, help="Of one price: GBP 3.95; EUR 4.95"),
    Field(
        "bands",
        "Bands",
        "textarea",
        required=False,
        max_length=2000,
        help="By weight, in grams: 2000: GBP 7.00. By value: 50.00: GBP 0. The first from 0; a line for each.",
    ),
    Field(
        "per",
        "Products' charges count",
        "select",
        options=(("line", "For each product"), ("unit", "For each piece"), ("highest", "Only the highest")),
    ),
    Field(
        "provider",
        "Asked for carriers' rates",
        required=False,
        max_length=40,
        help="easypost, where the shop is connected to it.",
    ),
    Field(
        "service",
        "Carrier and service",
        required=False,
        max_length=200,
        help="USPS/Priority; USPS: the cheapest of it. Empty: the cheapest of all.",
    ),
    Field(
        "fallback_prices",
        "Price while the carrier does not answer",
        required=False,
        max_length=500,
        help="GBP 7.00. Empty: customers cannot choose it then.",
    ),
    Field("free_from", "Free from", required=False, max_length=500, help="GBP 50.00"),
    Field("max_grams", "Heaviest parcel in grams", required=False, inputmode="numeric", max_length=9),
    Field("min_days", "Days at least", required=False, inputmode="numeric", max_length=3),
    Field("max_days", "Days at most", required=False, inputmode="numeric", max_length=3),
    Field("collect_from", "Where customers collect", "textarea", required=False, max_length=1000),
    Field("tax_class", "Tax class", required=False, max_length=40, help="standard when left empty."),
    Field("position", "Place in the list", required=False, inputmode="numeric", max_length=4),
    Field("active", "Customers can choose it", "check", required=False),
)


SHOP = (
    Field(
        "country",
        "Country of the shop",
        max_length=2,
        help="Two letters: GB. An address without a country lies there, and what customers collect is taxed there.",
    ),
    Field(
        "region", "Region of the shop", required=False, max_length=100, help="Its code, where it has one: CA."
    ),
    Field(
        "postcode",
        "Postcode of the shop",
        required=False,
        max_length=12,
        help="Where parcels leave from: carriers' rates need it.",
    ),
    Field(
        "gift_card_days",
        "Days that a gift card can be spent",
        inputmode="numeric",
        max_length=5,
        help="Of cards that are issued from now on. 0: for ever.",
    ),
    Field(
        "return_days",
        "Days that goods can be sent back",
        required=False,
        inputmode="numeric",
        max_length=5,
        help="After they arrived. 0: for ever.",
    ),
    Field(
        "return_address",
        "Where returned goods go",
        "textarea",
        required=False,
        max_length=1000,
        help="As customers read it in the e-mail that approves a return.",
    ),
    Field("approve_returns", "Returns are approved as soon as they are requested", "check", required=False),
    Field(
        "refund_before_receipt",
        "Returns are paid back when they are approved, not when the goods are here",
        "check",
        required=False,
    ),
)


PROMOTION = (
    Field("name", "Name", max_length=100, help="As customers read it."),
    Field(
        "codes",
        "Codes",
        required=False,
        max_length=500,
        help="TEN, SAVE-10: capital or small letters are the same. Empty: it applies by itself.",
    ),
    Field("percent", "Percent off", required=False, max_length=10, help="10 or 12.5"),
    Field("amount", "Amount off", required=False, max_length=500, help="GBP 5.00; EUR 6.00"),
    Field(
        "buy_get",
        "Buy and get",
        required=False,
        max_length=40,
        help="2 + 1: of three the cheapest is free. 2 + 1 at 50 %: it is half price.",
    ),
    Field("free_delivery", "Delivery is free", "check", required=False),
    Field(
        "methods",
        "Free delivery by",
        required=False,
        max_length=500,
        help="Codes of shipping methods: post, van. Empty: all of them.",
    ),
    Field(
        "categories",
        "Departments",
        "textarea",
        required=False,
        max_length=5000,
        help="What it acts on, a line for each: Home#Kitchen. Empty: everything.",
    ),
    Field(
        "products",
        "Products",
        "textarea",
        required=False,
        max_length=5000,
        help="What it acts on, too: a product's id or a variant's SKU, a line for each.",
    ),
    Field(
        "groups",
        "Customer groups",
        "textarea",
        required=False,
        max_length=2000,
        help="A line for each. Empty: everybody.",
    ),
    Field(
        "minimum",
        "Goods for at least",
        required=False,
        max_length=500,
        help="Of what it acts on, before discounts: GBP 50.00; EUR 60.00",
    ),
    Field("first_order", "Only for an account's first order", "check", required=False),
    Field("from", "From", required=False, max_length=30, help="2026-11-30, in UTC. Empty: now."),
    Field(
        "to", "Last day", required=False, max_length=30, help="2026-12-24, in UTC. Empty: until you end it."
    ),
    Field(
        "limit",
        "Orders that can use it",
        required=False,
        inputmode="numeric",
        max_length=6,
        help="All together. Empty: any number.",
    ),
    Field(
        "per_customer",
        "Orders of one customer",
        required=False,
        inputmode="numeric",
        max_length=3,
        help="A customer is an e-mail address, with an account or as a guest. Empty: any number.",
    ),
    Field(
        "priority",
        "Priority",
        required=False,
        inputmode="numeric",
        max_length=4,
        help="The highest is applied first.",
    ),
    Field("combines", "Others may be applied to the same order", "check", required=False),
    Field("active", "It runs", "check", required=False),
)


TAX_RATE = (
    Field("country", "Country", max_length=2, help="Two letters: GB, DE, US."),
    Field(
        "region", "Region", required=False, max_length=100, help="Its code: CA. Empty: all of the country."
    ),
    Field("tax_class", "Tax class", required=False, max_length=40, help="standard when left empty."),
    Field("name", "Name", max_length=60, help="As customers read it: VAT."),
    Field("rate", "Percent", inputmode="decimal", max_length=10),
    Field("valid_from", "From", "date", required=False, max_length=10, help="Empty: since ever."),
    Field("included", "Prices hold it already", "check", required=False),
    Field("active", "In force", "check", required=False),
)
