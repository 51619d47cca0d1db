"""A promotion as the desk sets it: a document of the settings (`services.orders.shop_settings`)."""

from typing import Annotated, Any, Final, NotRequired, TypedDict

from services.orders.shop_settings import DAY, SettingsDocument
from shared.couch import DocumentType
from shared.fields import Amount, Boolean, Choice, Declaration, GroupList, Integer, Text, TextList

CONDITION: Final = {
    "kind": Choice(
        ("categories", "products", "groups", "minimum", "first_order"),
        description="categories, products: the goods it acts on (those of any such condition); groups: of customers; "
        "minimum: what these goods cost before discounts, one for each currency; first_order: of an account",
    ),
    "categories": TextList(
        Text(1, 1000), 0, 100, default=[], show_default=False, description="Home#Kitchen, with all below it"
    ),
    "products": TextList(
        Text(1, 200), 0, 500, default=[], show_default=False, description="productids or SKUs"
    ),
    "groups": TextList(Text(1, 60), 0, 50, default=[], show_default=False),
    "amount": Amount(default=None, show_default=False),
}
ACTION: Final = {
    "kind": Choice(
        ("percent", "amount", "buy_x_get_y", "free_delivery"),
        description="percent: `basis_points`; amount: `amount`, one for each currency; buy_x_get_y: of `buy` + `get` units "
        "the `get` cheapest are free, or `basis_points` cheaper; free_delivery: by `methods`, all when empty",
    ),
    "basis_points": Integer(1, 10_000, default=0, show_default=False, description="1000 is 10 %"),
    "amount": Amount(default=None, show_default=False),
    "buy": Integer(1, 1000, default=0, show_default=False),
    "get": Integer(1, 1000, default=0, show_default=False),
    "methods": TextList(Text(1, 40), 0, 50, default=[], show_default=False),
}
MOMENT: Final = rf"|{DAY[1:]}(T([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d{{3}})?Z)?"
MOMENT_MESSAGE: Final = "Write a day like 2026-01-31, or a time like 2026-01-31T18:00:00Z."
PROMOTION_CODE: Final = "[A-Za-z0-9][A-Za-z0-9_-]*"


_Span = TypedDict(
    "_Span",
    {
        "from": NotRequired[
            Annotated[
                str,
                Text(0, 30, pattern=MOMENT, pattern_message=MOMENT_MESSAGE, default="", description="in UTC"),
            ]
        ],
        "to": NotRequired[
            Annotated[
                str,
                Text(
                    0,
                    30,
                    pattern=MOMENT,
                    pattern_message=MOMENT_MESSAGE,
                    default="",
                    description="the last day, or the time from which on it does not hold; in UTC",
                ),
            ]
        ],
    },
)


class Promotion(SettingsDocument, _Span):
    """What takes something off an order, for whom it asks for by a code or for everybody. A change is a new version."""

    id: Annotated[str, Text(1, 40, writable=False)]
    name: Annotated[str, Text(1, 100, description="as customers read it")]
    active: NotRequired[Annotated[bool, Boolean(default=True, description="false once it has been ended")]]
    codes: NotRequired[
        Annotated[
            list[str],
            TextList(
                Text(
                    2,
                    40,
                    pattern=PROMOTION_CODE,
                    pattern_message="Only letters, digits, dashes and underscores.",
                ),
                0,
                50,
                default=[],
                description="capital or small letters are the same; without one it applies by itself",
            ),
        ]
    ]
    limit: NotRequired[
        Annotated[int | None, Integer(1, 100_000, default=None, description="orders that can use it")]
    ]
    per_customer: NotRequired[
        Annotated[
            int | None,
            Integer(
                1,
                100,
                default=None,
                description="orders of one customer that can use it: of one e-mail address, with an account or as a guest",
            ),
        ]
    ]
    conditions: NotRequired[
        Annotated[
            list[dict[str, Any]], GroupList(CONDITION, 50, default=[], description="all of them must hold")
        ]
    ]
    actions: Annotated[list[dict[str, Any]], GroupList(ACTION, 50, 1)]
    priority: NotRequired[
        Annotated[int, Integer(0, 1000, default=0, description="the highest is applied first")]
    ]
    combines: NotRequired[
        Annotated[bool, Boolean(default=True, description="whether others may be applied to the same order")]
    ]


PROMOTION_TYPE = DocumentType.declared("promotion", Promotion)
PROMOTION_FIELDS: Final = Declaration(Promotion)
