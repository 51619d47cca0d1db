"""The search of the products database (P5, P6): an index for the whole shop and one for a category, in each language of the shop."""

from dataclasses import replace
from functools import cache
from typing import Final

from services.products.declarations import product
from services.products.price_fields import PRICE_PREFIX, prices_by_name, prices_script
from services.products.translations import translation_into
from shared.couch import SearchField, SearchIndex, language_named, search_fields

COMBINATIONS: Final = "combinations"
_FIELDS = search_fields(product.Product)
PAIRS = tuple(each for each in _FIELDS if each.kind == "pairs" or each.name == COMBINATIONS)
PAIR_FIELDS: Final = tuple(each.name for each in _FIELDS if each.kind == "pairs")
"""The search index's fields of objects, each of whose members filters and is counted."""

SEARCH = SearchIndex(
    "search",
    "Products everywhere by words, weighted, with facets and filters (P6)",
    fields=_FIELDS,
    only=(("type", "product"),),
    without=("hidden",),
)
SEARCH_IN_CATEGORY = SearchIndex(
    "search_in_category",
    "Products of one category by words (P5)",
    fields=tuple(each for each in _FIELDS if each.kind not in ("path", "place")),
    only=(("type", "product"),),
    without=("hidden",),
    partitioned=True,
)


@cache
def search_indexes(own: str, language: str, groups: tuple[str, ...] = ()) -> tuple[SearchIndex, SearchIndex]:
    """P6 and P5 in a language of such a shop."""
    return _index_in(SEARCH, own, language, groups), _index_in(SEARCH_IN_CATEGORY, own, language, groups)


def _index_in(index: SearchIndex, own: str, language: str, groups: tuple[str, ...]) -> SearchIndex:
    index = replace(index, fields=tuple(_priced_for(each, groups) for each in index.fields))
    if language == own:
        return replace(index, language=language_named(own))
    return replace(
        index,
        name=f"{index.name}_{language}",
        question=f"{index.question}, in {language}",
        language=language_named(language),
        translation=translation_into(language),
    )


def _priced_for(field: SearchField, groups: tuple[str, ...]) -> SearchField:
    """The field; where it holds prices, those of these groups too."""
    if field.name != PRICE_PREFIX or not groups:
        return field
    return replace(field, script=prices_script(groups, whole=True), read=prices_by_name(groups))
