"""What the shop says of its categories: their labels, order, pictures and texts, and where they have moved to. Documents beside the catalogue.

    #categories:path:{path}

No category's path begins with `#`, so the partition holds nothing else. A category is there as long as a product is in it, and
needs no document; one that has moved has no product any more.
"""

from typing import Annotated, Final, NotRequired

from services.products.declarations.parts import PICTURE_ADDRESS
from services.products.declarations.translations import CATEGORY_TRANSLATIONS
from shared.couch import DocumentType, StoredDocument, document_id
from shared.fields import Declaration, Integer, Moment, Text

PARTITION: Final = "#categories"
MAX_CATEGORIES: Final = 2000
MAX_PATH, MAX_LABEL, MAX_TEXT, MAX_POSITION = 2500, 200, 2000, 9999
PATH: Final = r"[^#\s]([^#]*[^#\s])?(#[^#\s]([^#]*[^#\s])?)*"
PATH_MESSAGE: Final = "The levels of a category joined by `#`, none of them empty, no space around them."


class Category(StoredDocument):
    """How a category is shown, in the menu and on its page."""

    path: Annotated[
        str,
        Text(
            1,
            MAX_PATH,
            pattern=PATH,
            pattern_message=PATH_MESSAGE,
            description="its levels joined by `#`, as its products have them",
        ),
    ]
    label: NotRequired[
        Annotated[
            str, Text(0, MAX_LABEL, default="", description="as customers read it: else its last level")
        ]
    ]
    position: NotRequired[
        Annotated[
            int | None,
            Integer(
                0,
                MAX_POSITION,
                default=None,
                description="its place among those beside it; those without one come behind, by name",
            ),
        ]
    ]
    picture: NotRequired[Annotated[str, PICTURE_ADDRESS]]
    text: NotRequired[
        Annotated[str, Text(0, MAX_TEXT, default="", description="what stands above its products")]
    ]
    translations: NotRequired[Annotated[dict[str, dict[str, str]], CATEGORY_TRANSLATIONS]]
    moved_to: NotRequired[
        Annotated[
            str,
            Text(
                0,
                MAX_PATH,
                pattern=f"|{PATH}",
                pattern_message=PATH_MESSAGE,
                default="",
                description="the path that its address, and those of all below it, lead to now",
            ),
        ]
    ]
    edited: Annotated[str, Moment(writable=False)]
    edited_by: Annotated[str, Text(1, 100, writable=False, description="the userid of an admin")]


CATEGORY = DocumentType.declared("category", Category)
CATEGORY_FIELDS: Final = Declaration(Category)


def category_id(path: str) -> str:
    return document_id(PARTITION, f"path:{path}")
