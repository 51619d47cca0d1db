"""What a product holds: every field once, with what may be in it. `services.products.documents` says where it lies."""

from dataclasses import replace
from typing import Annotated, Any, Final, NotRequired

from services.products.option_values import (
    ATTRIBUTE_WORDS_SCRIPT,
    CODES_SCRIPT,
    COMBINATIONS_SCRIPT,
    OPTION_WORDS_SCRIPT,
    OPTIONS_SCRIPT,
    UNAVAILABLE_SCRIPT,
    attribute_words,
    codes,
    combinations_in_stock,
    option_words,
    options_in_stock,
)
from services.products.price_declarations import (
    COMPARE_AT_PRICES,
    CURRENT_COMPARE_AT,
    GROUP_PRICES,
    SALE_ENDS,
    SALES,
)
from services.products.price_fields import (
    CURRENCIES_SCRIPT,
    OWN_PRICE_SCRIPT,
    PRICE_PREFIX,
    PRICES_SCRIPT,
    indexed_currencies,
    indexed_prices,
    own_indexed_price,
)
from shared.couch import SearchField, StoredDocument
from shared.fields import (
    Amount,
    Amounts,
    Boolean,
    Choice,
    Group,
    GroupList,
    Integer,
    JsonObject,
    Moment,
    Number,
    Text,
    TextList,
    TextMap,
)
from shared.money import Money

PRODUCTID: Final = r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}"
MAX_LEVELS, MAX_STOCK, MAX_PRICE = 12, 10**9, 10**12
MAX_OPTIONS, MAX_OPTION_VALUES, MAX_VARIANTS, MAX_FORMER_SKUS = 3, 100, 250, 250
IMAGE: Final = r"|https?://[A-Za-z0-9._-]+(:[0-9]{1,5})?([/?#][^\s\\<>\"]*)?|/([^\s\\<>\"/][^\s\\<>\"]*)?"
"""An address with a plain host, or a path of this site: `//host`, `/\\host` and names before an `@` lead elsewhere."""

RATING: Final = {
    "average": Number(nullable=True, description="null without a review"),
    "count": Integer(0, MAX_STOCK),
}


DRAFT: Final = "draft"
ACTIVE: Final = "active"
ARCHIVED: Final = "archived"
SCHEDULED: Final = "scheduled"
STATUSES: Final = (DRAFT, ACTIVE, ARCHIVED)
UNPUBLISHED: Final = (DRAFT, SCHEDULED, ARCHIVED)
MOMENT: Final = r"\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])T([01]\d|2[0-3]):[0-5]\d:[0-5]\d\.\d{3}Z"

CODE: Final = "[a-z][a-z0-9_-]*"
CODE_MESSAGE: Final = "Only small letters, digits, dash and underscore, a letter first."
DIGEST: Final = "[0-9a-f]{64}"
MAX_PICTURES: Final = 20
MAX_RELATED: Final = 20
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
VARIANT: Final = {
    "sku": ARTICLE_NUMBER,
    "options": TextMap(OPTION_NAME, OPTION_VALUE, MAX_OPTIONS, description="a value of each option"),
    "prices": Amounts(
        default={}, description="minor units by currency, where it costs something else than the product"
    ),
    "compare_at_prices": COMPARE_AT_PRICES,
    "sales": SALES,
    "group_prices": GROUP_PRICES,
    "picture": replace(PICTURE_ADDRESS, omit_default=True, description="instead of the product's"),
    "barcode": Text(0, 64, default="", pattern="[0-9A-Za-z -]*", pattern_message="Letters and digits only."),
    "weight_grams": Integer(1, 10**9, default=None),
    "active": Boolean(default=True, description="whether it is for sale"),
    "stock": Integer(0, MAX_STOCK, default=None, description="answered; sent, its level at creation"),
    "price": Amount(
        default=None,
        writable=False,
        description="what it costs; null where it is not sold in the currency asked for",
    ),
    "compare_at_price": CURRENT_COMPARE_AT,
    "sale_ends": SALE_ENDS,
}


class Product(StoredDocument):
    """What the shop sells. Clients write the content; `stock`, `rating` and `rank` are sums over other documents."""

    taxonomy: Annotated[
        list[str],
        TextList(
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
        ),
        SearchField("taxonomy", weight=3, each=True, called="category_words", short=True),
        SearchField("taxonomy", kind="path", called="category", facet=True),
        SearchField("taxonomy", kind="place", called="category_is", facet=True),
    ]
    keywords: NotRequired[
        Annotated[
            list[str],
            TextList(Text(1, 100), 0, 50, default=[], omit_default=False),
            SearchField("keywords", weight=3, each=True, short=True),
        ]
    ]
    productid: Annotated[
        str,
        ARTICLE_NUMBER,
        SearchField(
            "productid", weight=8, called="codes", code=True, each=True, script=CODES_SCRIPT, read=codes
        ),
    ]
    brand: NotRequired[
        Annotated[
            str,
            Text(0, 120, default="", omit_default=False),
            SearchField("brand", weight=4, short=True),
            SearchField("brand", kind="keyword", called="brand_is", facet=True),
        ]
    ]
    name: Annotated[
        str,
        Text(1, 500),
        SearchField("name", weight=8, short=True),
        SearchField("name", kind="keyword", called="name_order"),
    ]
    description: NotRequired[
        Annotated[str, Text(0, 20_000, default="", omit_default=False), SearchField("description", weight=1)]
    ]
    colours: NotRequired[
        Annotated[
            list[str],
            TextList(Text(1, 60), 0, 50, default=[], omit_default=False),
            SearchField("colours", weight=3, each=True, short=True),
            SearchField("colours", kind="keyword", called="colour", facet=True, each=True),
        ]
    ]
    price: Annotated[
        Money,
        Amount(
            description="what it costs, in the currency asked for: null where it is not sold in it. Sent, its regular price"
        ),
        SearchField(
            "price",
            kind="number",
            called="price",
            facet=True,
            script=OWN_PRICE_SCRIPT,
            read=own_indexed_price,
        ),
        SearchField(
            "prices",
            kind="numbers",
            called=PRICE_PREFIX,
            facet=True,
            script=PRICES_SCRIPT,
            read=indexed_prices,
        ),
        SearchField(
            "prices",
            kind="keyword",
            called="currency",
            facet=True,
            each=True,
            script=CURRENCIES_SCRIPT,
            read=indexed_currencies,
        ),
    ]
    prices: NotRequired[
        Annotated[
            dict[str, int],
            Amounts(
                default={},
                show_default=False,
                description="its regular prices, minor units by currency; left out where `price` says all",
            ),
        ]
    ]
    compare_at_prices: NotRequired[Annotated[dict[str, int], COMPARE_AT_PRICES]]
    sales: NotRequired[Annotated[list[dict[str, Any]], SALES]]
    group_prices: NotRequired[Annotated[dict[str, dict[str, int]], GROUP_PRICES]]
    delivery: Annotated[Money, Amount(default=None, omit_default=False, description="free when left out")]
    delivery_prices: NotRequired[
        Annotated[
            dict[str, int],
            Amounts(
                default={},
                show_default=False,
                description="minor units by currency, where `delivery` is not free and it is sold in several",
            ),
        ]
    ]
    weight_grams: NotRequired[
        Annotated[
            int | None,
            Integer(1, 10**9, default=None, show_default=False, description="what shipping by weight counts"),
        ]
    ]
    tax_class: NotRequired[
        Annotated[
            str,
            Text(
                1,
                40,
                pattern="[a-z0-9][a-z0-9-]*",
                pattern_message="Only small letters, digits and dashes, a letter or digit first.",
                default="standard",
                show_default=False,
                description="which of a country's tax rates is due on it",
            ),
        ]
    ]
    image: NotRequired[Annotated[str, PICTURE_ADDRESS]]
    pictures: NotRequired[
        Annotated[
            list[dict[str, str]],
            GroupList(
                PICTURE,
                MAX_PICTURES,
                fill=True,
                in_cell=True,
                default=[],
                description="in their order; when there are any, `image` is the address of the first",
            ),
        ]
    ]
    product_type: NotRequired[
        Annotated[
            str,
            Text(
                0,
                40,
                pattern=f"|{CODE}",
                pattern_message=CODE_MESSAGE,
                default="",
                show_default=False,
                description="the code of the type that `attributes` belong to",
            ),
        ]
    ]
    attributes: NotRequired[
        Annotated[
            dict[str, Any],
            JsonObject(
                default={},
                show_default=False,
                description="values by code, as the product type declares them",
            ),
            SearchField("attributes", kind="pairs", facet=True),
            SearchField(
                "attributes",
                called="attribute_words",
                each=True,
                short=True,
                unnamed=True,
                script=ATTRIBUTE_WORDS_SCRIPT,
                read=attribute_words,
            ),
        ]
    ]
    related: NotRequired[
        Annotated[
            list[str],
            TextList(
                ARTICLE_NUMBER,
                0,
                MAX_RELATED,
                default=[],
                show_default=False,
                description="productids that its page shows beside it; left out, they stay as they are",
            ),
        ]
    ]
    status: NotRequired[
        Annotated[
            str,
            Choice(
                STATUSES,
                default=ACTIVE,
                show_default=False,
                description="the shop shows active products only; left out, it stays as it is",
            ),
        ]
    ]
    publish_from: NotRequired[
        Annotated[
            str,
            Text(
                0,
                24,
                pattern=f"|{MOMENT}",
                pattern_message="Write a time like 2026-11-20T23:11:00.000Z, or nothing.",
                default="",
                show_default=False,
                description="not shown before; a draft whose time comes is made active. Left out, it stays as it is",
            ),
        ]
    ]
    options: NotRequired[
        Annotated[
            list[dict[str, Any]],
            GroupList(
                OPTION,
                MAX_OPTIONS,
                default=[],
                show_default=False,
                description="what a customer chooses by, such as Size; a product without options is sold as it is",
            ),
        ]
    ]
    variants: NotRequired[
        Annotated[
            list[dict[str, Any]],
            GroupList(
                VARIANT,
                MAX_VARIANTS,
                default=[],
                show_default=False,
                description="what is sold of a product with options; `price` of the product is that of its cheapest active variant. Left out in lists",
            ),
            SearchField(
                "variants",
                kind="pairs",
                called="options",
                facet=True,
                script=OPTIONS_SCRIPT,
                read=options_in_stock,
            ),
            SearchField(
                "variants",
                kind="keyword",
                called="combinations",
                each=True,
                script=COMBINATIONS_SCRIPT,
                read=combinations_in_stock,
            ),
            SearchField(
                "variants", kind="exclusion", called="unavailable", each=True, script=UNAVAILABLE_SCRIPT
            ),
            SearchField(
                "variants",
                weight=2,
                called="option_words",
                each=True,
                short=True,
                unnamed=True,
                script=OPTION_WORDS_SCRIPT,
                read=option_words,
            ),
        ]
    ]
    highest_price: NotRequired[
        Annotated[
            Money,
            Amount(
                default=None,
                writable=False,
                show_default=False,
                description="of its dearest variant, where it is not `price`: that of the cheapest",
            ),
        ]
    ]
    compare_at_price: NotRequired[Annotated[Money, CURRENT_COMPARE_AT]]
    sale_ends: NotRequired[Annotated[str, SALE_ENDS]]
    stock: Annotated[
        int,
        Integer(
            0, MAX_STOCK, writable=False, description="a few seconds old at most; checkout counts exactly"
        ),
    ]
    rating: Annotated[dict[str, Any], Group(RATING, writable=False)]
    rank: Annotated[float, SearchField("rank", kind="number", called="rank")]
    variant_stock: NotRequired[dict[str, int]]
    """What is left of each variant, by SKU; `stock` is the sum of the active ones."""
    current_prices: NotRequired[dict[str, int]]
    """What everybody pays in each currency, while a sale runs."""
    former_skus: NotRequired[list[str]]
    """Of variants that were removed, so that baskets can say of which product they were."""
    hidden: NotRequired[
        Annotated[
            str,
            Choice(
                UNPUBLISHED,
                default="",
                writable=False,
                show_default=False,
                description="why the shop does not show it; only staff see it then",
            ),
        ]
    ]
    bulk_edits: NotRequired[list[str]]
    """The last bulk edits that changed it, so that none changes it twice."""
    edited: str
    moved_from: NotRequired[str]
    request: NotRequired[str]


class Forward(StoredDocument):
    """Stands where a product was before it moved to another category: `moved_to` is the id of its document there."""

    productid: str
    taxonomy: list[str]
    moved_to: str
    edited: str
    skus: NotRequired[list[str]]


class Movement(StoredDocument):
    """One change of a stock, in the numbered slot of its chain; the last of a chain may say where it goes on."""

    productid: str
    taxonomy: list[str]
    slot: int
    delta: int
    level: int
    reason: str
    mark: str
    date: str
    sku: NotRequired[str]
    orderid: NotRequired[str]
    note: NotRequired[str]
    moved_to: NotRequired[list[str]]


class Reservation(StoredDocument):
    """Stock kept for an order until it is paid or `expires`."""

    productid: str
    taxonomy: list[str]
    orderid: str
    quantity: int
    date: str
    expires: str
    sku: NotRequired[str]


class Settlement(StoredDocument):
    """How a reservation ended; with a `reference`, that sold goods came back."""

    productid: str
    taxonomy: list[str]
    orderid: str
    outcome: str
    quantity: int
    date: str
    sku: NotRequired[str]
    reference: NotRequired[str]
    mark: NotRequired[str]


class Review(StoredDocument):
    """What a buyer says. Its `_id` lets each write one of a product."""

    productid: Annotated[str, Text(1, 64, writable=False)]
    taxonomy: list[str]
    userid: str
    stars: Annotated[int, Integer(1, 5)]
    title: Annotated[str, Text(0, 200, default="", omit_default=False)]
    text: Annotated[str, Text(0, 5000, default="", omit_default=False)]
    date: Annotated[str, Moment(writable=False)]
    request: NotRequired[str]


class PriceChange(StoredDocument):
    """An old price and the one that came after it; None for one that there was not, or is no more.

    `kind`: "price" where it is missing, "compare_at", "sale" (with its times) or "group".
    """

    productid: str
    taxonomy: list[str]
    before: Money | None
    after: Money | None
    date: str
    sku: NotRequired[str]
    kind: NotRequired[str]
    group: NotRequired[str]
    sale_from: NotRequired[str]
    sale_until: NotRequired[str]
    by: NotRequired[str]


class SkuClaim(StoredDocument):
    """Makes a SKU unique, by its `_id`."""

    sku: str
    productid: str
    claimed: str


class Picture(StoredDocument):
    """A picture, its files attached; named by the digest of the largest."""

    digest: str
    content_type: str
    size: int
    date: str
    width: NotRequired[int]
    height: NotRequired[int]


class PictureAddress(StoredDocument):
    """Which picture was fetched from an address, so that it is fetched once."""

    address: str
    digest: str
    date: str
