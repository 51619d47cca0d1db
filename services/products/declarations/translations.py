"""What a product, a category and a product type say in other languages than the shop's own, by language."""

from typing import Final

from services.products.declarations.limits import CODE, CODE_MESSAGE
from shared.fields import GroupsByName, Text, TextList, TextMap
from shared.language_codes import LANGUAGE, LANGUAGE_MESSAGE

LANGUAGE_CODE: Final = Text(2, 11, pattern=LANGUAGE, pattern_message=LANGUAGE_MESSAGE)
MAX_TRANSLATIONS, MAX_LABELS, MAX_ATTRIBUTES = 20, 500, 50
LABELS: Final = TextMap(
    Text(1, 100),
    Text(1, 100),
    MAX_LABELS,
    default={},
    show_default=False,
    description="names and values of options, colours and values of attributes, by what they are in the shop's own language: {Red: Rot}",
)
PRODUCT_TRANSLATIONS: Final = GroupsByName(
    LANGUAGE_CODE,
    {
        "name": Text(0, 500, default="", show_default=False),
        "description": Text(0, 20_000, default="", show_default=False),
        "keywords": TextList(Text(1, 100), 0, 50, default=[], show_default=False),
        "labels": LABELS,
        "attributes": TextMap(
            Text(1, 40, pattern=CODE, pattern_message=CODE_MESSAGE),
            Text(1, 500),
            MAX_ATTRIBUTES,
            default={},
            show_default=False,
            description="texts of attributes, by code",
        ),
    },
    MAX_TRANSLATIONS,
    default={},
    show_default=False,
    description="what it is called in other languages; what a translation lacks is shown in the shop's own. Left out, they stay. Not shown in an answer in one of them",
)
CATEGORY_TRANSLATIONS: Final = GroupsByName(
    LANGUAGE_CODE,
    {
        "label": Text(0, 200, default="", show_default=False),
        "text": Text(0, 2000, default="", show_default=False),
    },
    MAX_TRANSLATIONS,
    default=None,
    show_default=False,
    description="label and text in other languages; left out, they stay",
)
TYPE_TRANSLATIONS: Final = GroupsByName(
    LANGUAGE_CODE,
    {
        "names": TextMap(
            Text(1, 40, pattern=CODE, pattern_message=CODE_MESSAGE),
            Text(1, 100),
            MAX_ATTRIBUTES,
            default={},
            show_default=False,
            description="names of attributes, by code",
        ),
        "labels": LABELS,
    },
    MAX_TRANSLATIONS,
    default=None,
    show_default=False,
    description="what its attributes and their values are called in other languages; left out, that stays",
)
