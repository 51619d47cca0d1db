"""Groups of fields within a product: pictures, options, variants, the rating."""

from dataclasses import replace
from typing import Final

from services.products.declarations.limits import (
    DIGEST,
    IMAGE,
    MAX_LEVELS,
    MAX_OPTION_VALUES,
    MAX_OPTIONS,
    MAX_STOCK,
    PRODUCTID,
)
from services.products.declarations.prices import (
    COMPARE_AT_PRICES,
    COST_PRICES,
    CURRENT_COMPARE_AT,
    GROUP_PRICES,
    SALE_ENDS,
    SALES,
)
from shared.fields import Amount, Amounts, Boolean, Group, Integer, Number, Text, TextList, TextMap

RATING: Final = {
    "average": Number(nullable=True, description="null without a review"),
    "count": Integer(0, MAX_STOCK),
}
PICTURE: Final = {
    "id": Text(
        64,
        64,
        pattern=DIGEST,
        pattern_message="Not the id of a picture: POST /v1/pictures answers it.",
        description="what POST /v1/pictures answered",
    ),
    "alt": Text(0, 300, default="", description="what it shows, for people who cannot see it"),
}
PICTURE_ADDRESS: Final = Text(
    0,
    2000,
    pattern=IMAGE,
    normalize=False,
    default="",
    omit_default=False,
    pattern_message="Must be empty, an address such as https://pictures.example/mug.jpg, or a path that begins with one slash.",
    description="the first picture: an https (or http) address, or a path that begins with one slash",
)
ARTICLE_NUMBER: Final = Text(
    1,
    64,
    pattern=PRODUCTID,
    pattern_message="Only letters, digits, dot, dash and underscore, at most 64, a letter or digit first.",
)
OPTION_NAME: Final = Text(1, 60)
OPTION_VALUE: Final = Text(1, 100)
OPTION: Final = {
    "name": OPTION_NAME,
    "values": TextList(OPTION_VALUE, 1, MAX_OPTION_VALUES),
}
BACKORDER: Final = Boolean(
    default=None,
    show_default=False,
    description="whether it is sold beyond its stock, and sent when it is here again; left out, as the shop does (BACKORDERS)",
)
BACKORDER_DATE: Final = Text(
    0,
    10,
    pattern=r"|[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])",
    pattern_message="Write a day like 2026-12-12, or nothing.",
    default="",
    show_default=False,
    description="the day from which it is expected to be sent",
)
BACKORDER_LIMIT: Final = Integer(
    1, MAX_STOCK, default=None, show_default=False, description="how many of it may wait at once"
)
BACKORDER_TERMS: Final = Group(
    {
        "date": Text(0, 10, description="from when it is expected to be sent; empty: nobody knows"),
        "limit": Integer(
            0,
            MAX_STOCK,
            default=None,
            show_default=False,
            description="how many may wait; left out: any number",
        ),
        "left": Integer(
            0, MAX_STOCK, default=None, show_default=False, description="how many more may wait, likewise"
        ),
    },
    default=None,
    writable=False,
    show_default=False,
    description="what is not in stock can be ordered all the same, and is sent when it is here again",
)
WAITING: Final = Integer(
    0,
    MAX_STOCK,
    default=None,
    writable=False,
    show_default=False,
    description="how many are sold and not here yet; for staff",
)
TAX_CLASS: Final = Text(
    1,
    40,
    pattern="[a-z0-9][a-z0-9-]*",
    pattern_message="Only small letters, digits and dashes, a letter or digit first.",
    default="standard",
    show_default=False,
    description="which of a country's tax rates is due on it",
)
CUSTOMS: Final = Group(
    {
        "hs_code": Text(
            0,
            10,
            pattern="|[0-9]{6,10}",
            pattern_message="An HS code has 6 to 10 digits.",
            default="",
            show_default=False,
            description="its code in the Harmonized System: 691200",
        ),
        "origin": Text(
            0,
            2,
            pattern="|[A-Z]{2}",
            pattern_message="Two capital letters, as in ISO 3166-1: GB.",
            default="",
            show_default=False,
            description="the country where it was made, ISO 3166-1 alpha-2; left out, the shop's `customs_origin`",
        ),
    },
    default={},
    show_default=False,
    description="what a customs declaration says of it; left out, it stays as it is",
)
TAXONOMY: Final = TextList(
    Text(
        1,
        200,
        pattern="[^#]*",
        pattern_message="A level must not hold `#`: that joins the levels of a category's path.",
    ),
    1,
    MAX_LEVELS,
    separator="#",
    description="the category's levels from the top; a level holds no `#`",
)
VARIANT: Final = {
    "sku": ARTICLE_NUMBER,
    "options": TextMap(OPTION_NAME, OPTION_VALUE, MAX_OPTIONS, description="a value of each option"),
    "prices": Amounts(
        default={}, description="minor units by currency, where it costs something else than the product"
    ),
    "compare_at_prices": COMPARE_AT_PRICES,
    "sales": SALES,
    "group_prices": GROUP_PRICES,
    "cost_prices": COST_PRICES,
    "picture": replace(PICTURE_ADDRESS, omit_default=True, description="instead of the product's"),
    "barcode": Text(0, 64, default="", pattern="[0-9A-Za-z -]*", pattern_message="Letters and digits only."),
    "weight_grams": Integer(1, 10**9, default=None),
    "active": Boolean(default=True, description="whether it is for sale"),
    "stock": Integer(0, MAX_STOCK, default=None, description="answered; sent, its level at creation"),
    "backorder": BACKORDER,
    "backorder_date": BACKORDER_DATE,
    "backorder_limit": BACKORDER_LIMIT,
    "backorder_terms": BACKORDER_TERMS,
    "waiting": WAITING,
    "price": Amount(
        default=None,
        writable=False,
        description="what it costs; null where it is not sold in the currency asked for",
    ),
    "compare_at_price": CURRENT_COMPARE_AT,
    "sale_ends": SALE_ENDS,
}
