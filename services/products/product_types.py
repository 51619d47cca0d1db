"""What kinds of products there are, and the attributes that each has: documents beside the catalogue.

    #producttypes:{code}

No category's path begins with `#`, so the partition holds nothing else.
"""

from typing import Annotated, Any, Final, NotRequired

from services.products.declarations.limits import CODE, CODE_MESSAGE
from services.products.declarations.translations import TYPE_TRANSLATIONS
from shared.couch import DocumentType, StoredDocument, document_id
from shared.fields import Choice, Declaration, GroupList, Moment, Text, TextList

PARTITION: Final = "#producttypes"
MAX_TYPES, MAX_ATTRIBUTES, MAX_VALUES = 500, 50, 200
KINDS: Final = ("text", "number", "boolean", "one_of", "several_of")

ATTRIBUTE: Final = {
    "code": Text(
        1,
        40,
        pattern=CODE,
        pattern_message=CODE_MESSAGE,
        description="its name among a product's `attributes`",
    ),
    "name": Text(1, 100, description="as customers read it"),
    "kind": Choice(KINDS),
    "unit": Text(0, 20, default="", description="of a number: g, cm, W"),
    "values": TextList(
        Text(1, 100), 0, MAX_VALUES, default=[], description="what one_of and several_of choose from"
    ),
}


class ProductType(StoredDocument):
    """A kind of products that have the same attributes."""

    code: Annotated[
        str, Text(1, 40, pattern=CODE, pattern_message=CODE_MESSAGE, description="a product's `product_type`")
    ]
    name: Annotated[str, Text(1, 100, description="as shopkeepers read it")]
    attributes: NotRequired[
        Annotated[
            list[dict[str, Any]],
            GroupList(
                ATTRIBUTE,
                MAX_ATTRIBUTES,
                fill=True,
                default=[],
                description="in the order in which they are shown",
            ),
        ]
    ]
    translations: NotRequired[Annotated[dict[str, dict[str, Any]], TYPE_TRANSLATIONS]]
    edited: Annotated[str, Moment(writable=False)]


PRODUCT_TYPE = DocumentType.declared("producttype", ProductType)
PRODUCT_TYPE_FIELDS: Final = Declaration(ProductType)


def product_type_id(code: str) -> str:
    return document_id(PARTITION, code)
