"""What a product holds: every field once, with what may be in it."""

from typing import Annotated, Any, NotRequired

from services.products.declarations.limits import (
    ACTIVE,
    CODE,
    CODE_MESSAGE,
    GOODS,
    MAX_OPTIONS,
    MAX_PICTURES,
    MAX_RELATED,
    MAX_STOCK,
    MAX_VARIANTS,
    MOMENT,
    PRODUCT_KINDS,
    STATUSES,
    UNPUBLISHED,
)
from services.products.declarations.parts import (
    ARTICLE_NUMBER,
    BACKORDER,
    BACKORDER_DATE,
    BACKORDER_LIMIT,
    BACKORDER_TERMS,
    CUSTOMS,
    OPTION,
    PICTURE,
    PICTURE_ADDRESS,
    RATING,
    TAX_CLASS,
    TAXONOMY,
    VARIANT,
    WAITING,
)
from services.products.declarations.prices import (
    COMPARE_AT_PRICES,
    COST_PRICES,
    CURRENT_COMPARE_AT,
    GROUP_PRICES,
    SALE_ENDS,
    SALES,
)
from services.products.declarations.translations import PRODUCT_TRANSLATIONS
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
from shared.fields import Amount, Amounts, Choice, Group, GroupList, Integer, JsonObject, Text, TextList
from shared.money import Money


class Product(StoredDocument):
    """What the shop sells. Clients write the content; `stock`, `rating` and `rank` are sums over other documents."""

    taxonomy: Annotated[
        list[str],
        TAXONOMY,
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
        SearchField("name", kind="order", called="name_order", translated=True),
    ]
    description: NotRequired[
        Annotated[str, Text(0, 20_000, default="", omit_default=False), SearchField("description", weight=1)]
    ]
    translations: NotRequired[Annotated[dict[str, dict[str, Any]], PRODUCT_TRANSLATIONS]]
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
    cost_prices: NotRequired[Annotated[dict[str, int], COST_PRICES]]
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
    kind: NotRequired[
        Annotated[
            str,
            Choice(
                PRODUCT_KINDS,
                default=GOODS,
                show_default=False,
                description="a gift card is worth what it costs: its code goes out by e-mail, without delivery and tax",
            ),
        ]
    ]
    tax_class: NotRequired[Annotated[str, TAX_CLASS]]
    customs: NotRequired[Annotated[dict[str, str], CUSTOMS]]
    backorder: NotRequired[Annotated[bool | None, BACKORDER]]
    backorder_date: NotRequired[Annotated[str, BACKORDER_DATE]]
    backorder_limit: NotRequired[Annotated[int | None, BACKORDER_LIMIT]]
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
    backorder_terms: NotRequired[Annotated[dict[str, Any], BACKORDER_TERMS]]
    """Answered, never stored."""
    waiting: NotRequired[Annotated[int, WAITING]]
    rating: Annotated[dict[str, Any], Group(RATING, writable=False)]
    rank: Annotated[float, SearchField("rank", kind="number", called="rank")]
    variant_stock: NotRequired[dict[str, int]]
    """What is left of each variant, by SKU; `stock` is the sum of the active ones."""
    variant_waiting: NotRequired[dict[str, int]]
    """How many of each variant are sold and not here yet, by SKU; `waiting` is the sum, or the product's own."""
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
    translated_to: NotRequired[str]
    """Of a product as it is read in another language; never stored."""
    edited: str
    moved_from: NotRequired[str]
    request: NotRequired[str]
