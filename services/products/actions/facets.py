"""The counts beside a search's filters. A facet that filters counts its alternatives too, which is another question: its answer is
kept for a minute while no product changes, and mostly known from the page on which the filter was chosen. That of an index that
was behind is not kept."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from services.products.actions.question import Question
from services.products.declarations.product import Product
from services.products.dependencies import Dependencies
from services.products.price_fields import price_field
from services.products.rules.facets import (
    FACET_FIELDS,
    OPTIONS,
    PRICE_BANDS,
    counted_field,
    expanded,
    shown,
    shown_bands,
)
from services.products.rules.labels import labelled, option_names
from services.products.search_indexes import COMBINATIONS
from services.products.store.facet_counts import FieldCounts
from shared.couch import Band, Doc, SearchPageOf, SearchQuery


def counted_fields(asked: Question) -> tuple[str, ...]:
    """The fields of which a search for these facets counts the values: for price bands also the currencies, which tell whether prices compare."""
    names = [each for each in asked.facets if each != "price"]
    names += ["currency"] if "price" in asked.facets and asked.currency is None else []
    return tuple(dict.fromkeys(counted_field(name) for name in names))


def counted_bands(asked: Question) -> Mapping[str, tuple[Band, ...]]:
    return {price_field(asked.currency, asked.group): PRICE_BANDS} if "price" in asked.facets else {}


def facets_of(
    deps: Dependencies, asked: Question, query: SearchQuery, page: SearchPageOf[Product]
) -> dict[str, list[Doc]]:
    """{facet: [{value, count}]} for the first page of a search. No database call; for each facet that filters and whose
    alternatives are not known, 1 more of the search's kind."""
    here = FieldCounts(page.counts, page.ranges)
    if not page.stale:
        deps.facet_counts.put(query, here, asked.group)
    found: dict[str, list[Doc]] = {}
    for facet in expanded(asked.facets, page.counts, asked.choices):
        counts = _alternatives(deps, asked, query, facet) if asked.is_chosen(facet) else here
        if facet == "price":
            found[facet] = _bands(asked, counts)
        else:
            found[facet] = shown(facet, counts.counts.get(counted_field(facet), {}))
    return found


def facet_labels(deps: Dependencies, facets: Mapping[str, list[Doc]]) -> dict[str, Any]:
    """{"facets", "facet_names"}: what filters and their values are called in the language that products are read in. No database call."""
    types, language = deps.product_types.get(), deps.catalogue.read_in
    names = types.facet_names(facets, language)
    if not language:
        return {"facet_names": names} if names else {}
    labels = {**types.labels(language), **deps.labels.loaded().of(language)}
    names |= option_names(facets, labels)
    shown_facets = labelled(facets, labels, deps.categories.get().labels(language))
    return {"facets": shown_facets, **({"facet_names": names} if names else {})}


def _alternatives(deps: Dependencies, asked: Question, query: SearchQuery, facet: str) -> FieldCounts:
    """What is counted where everything but this facet filters."""
    field = price_field(asked.currency, asked.group) if facet == "price" else FACET_FIELDS.get(facet, facet)
    others = query.without_filter(field)
    if facet.startswith(OPTIONS):
        others = others.without_filter(COMBINATIONS)
    question = replace(
        others,
        counts=("currency",) if facet == "price" else (counted_field(facet),),
        bands={field: PRICE_BANDS} if facet == "price" else {},
        sort=None,
    )
    known = deps.facet_counts.get(question, asked.group, allow_stale=asked.stale_facets)
    if known is not None:
        return known
    page = deps.catalogue.search(question, 1, None)
    counts = FieldCounts(page.counts, page.ranges)
    if not page.stale:
        deps.facet_counts.put(question, counts, asked.group)
    return counts


def _bands(asked: Question, counts: FieldCounts) -> list[Doc]:
    counted = counts.ranges.get(price_field(asked.currency, asked.group), {})
    return shown_bands(counted) if _one_currency(asked, counts) else []


def _one_currency(asked: Question, counts: FieldCounts) -> bool:
    return asked.currency is not None or sum(map(bool, counts.counts.get("currency", {}).values())) == 1
