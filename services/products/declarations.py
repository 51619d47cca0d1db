"""What a product holds: every field once, with what may be in it. `services.products.documents` says where it lies."""

from typing import Annotated, Any, Final, NotRequired

from shared.couch import SearchField, StoredDocument
from shared.fields import Amount, Group, Integer, Number, ObjectList, Text, TextList
from shared.money import Money

PRODUCTID: Final = r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}"
MAX_LEVELS, MAX_STOCK, MAX_PRICE = 12, 10**9, 10**12
IMAGE: Final = r"|https?://[A-Za-z0-9._-]+(:[0-9]{1,5})?([/?#][^\s\\<>\"]*)?|/([^\s\\<>\"/][^\s\\<>\"]*)?"
"""An address with a plain host, or a path of this site: `//host`, `/\\host` and names before an `@` lead elsewhere."""

RATING: Final = {
    "average": Number(nullable=True, description="null without a review"),
    "count": Integer(0, MAX_STOCK),
}


DIGEST: Final = "[0-9a-f]{64}"
MAX_PICTURES: Final = 20
PICTURE: Final = {
    "id": Text(
        64, 64, pattern=DIGEST, pattern_message="Not the id of a picture: POST /v1/pictures answers it.",
        description="what POST /v1/pictures answered",
    ),
    "alt": Text(0, 300, default="", description="what it shows, for people who cannot see it"),
}  # fmt: skip


class Product(StoredDocument):
    """What the shop sells. Clients write the content; `stock`, `rating` and `rank` are sums over other documents."""

    taxonomy: Annotated[
        list[str],
        TextList(
            Text(1, 200, pattern="[^#]*", pattern_message="A level must not hold `#`: that joins the levels of a category's path."),
            1, MAX_LEVELS, separator="#",
            description="the category's levels from the top; a level holds no `#`",
        ),
        SearchField("taxonomy", weight=3, each=True, called="category_words", short=True),
        SearchField("taxonomy", kind="path", called="category", facet=True),
        SearchField("taxonomy", kind="place", called="category_is", facet=True),
    ]  # fmt: skip
    keywords: NotRequired[
        Annotated[
            list[str],
            TextList(Text(1, 100), 0, 50, default=[], omit_default=False),
            SearchField("keywords", weight=3, each=True, short=True),
        ]
    ]
    productid: Annotated[
        str,
        Text(
            1, 64, pattern=PRODUCTID,
            pattern_message="Only letters, digits, dot, dash and underscore, at most 64, a letter or digit first.",
        ),
        SearchField("productid", weight=8, code=True),
    ]  # fmt: skip
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
        Amount(),
        SearchField("price.amount", kind="number", called="price", facet=True),
        SearchField("price.currency", kind="keyword", called="currency", facet=True),
    ]
    delivery: Annotated[Money, Amount(default=None, omit_default=False, description="free when left out")]
    image: NotRequired[
        Annotated[
            str,
            Text(
                0, 2000, pattern=IMAGE, normalize=False, default="", omit_default=False,
                pattern_message="Must be empty, an address such as https://pictures.example/mug.jpg, or a path that begins with one slash.",
                description="the first picture: an https (or http) address, or a path that begins with one slash",
            ),
        ]
    ]  # fmt: skip
    pictures: NotRequired[
        Annotated[
            list[dict[str, str]],
            ObjectList(
                PICTURE, 0, MAX_PICTURES, default=[],
                description="in their order; when there are any, `image` is the address of the first",
            ),
        ]
    ]  # fmt: skip
    stock: Annotated[
        int,
        Integer(
            0, MAX_STOCK, writable=False, description="a few seconds old at most; checkout counts exactly"
        ),
    ]
    rating: Annotated[dict[str, Any], Group(RATING, writable=False)]
    rank: Annotated[float, SearchField("rank", kind="number", called="rank")]
    edited: str
    moved_from: NotRequired[str]
    request: NotRequired[str]
