"""Search: the words as they were typed, as they were meant, and, when no product has all of them, without some of them."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from services.products.actions.question import Listed, Question, crumbs
from services.products.documents import category_path
from services.products.rules.product import deduplicate_moved
from services.products.rules.rewriting import (
    Rewrite,
    matched_words,
    restored,
    rewritten,
    with_as_many_words,
)
from services.products.rules.searching import (
    FACET_FIELDS,
    SORTS,
    best_of_equals,
    did_you_mean,
    facets,
    price_bands,
    suggestions,
)
from services.products.store import Store
from shared.couch import Doc, SearchPage, SearchQuery, search_for

MIN_PREFIX = 2
"""A single letter begins too much: it only chooses among what the words before it find."""


def search(store: Store, asked: Question) -> Listed:
    """A page of what has the words. 1 global query, or 1 partition query in a category; one more for words that are not found together."""
    query = _query(asked)
    if asked.q.strip() and not query.all_words:
        return Listed([], None, {"total": 0, **crumbs(asked)})
    if asked.cursor:
        bookmark, seen, state = asked.cursor
        meant = restored(state)
        page = _found(store, asked, meant.applied(query), bookmark)
    else:
        seen = 0
        meant, page = _first_page(store, asked, query)
    docs = deduplicate_moved(best_of_equals(page.items, page.scores))
    seen += len(page.items)
    if meant.any_word and docs:
        return _some_words(store, asked, query, meant, docs)
    more: dict[str, Any] = crumbs(asked) | ({} if page.total is None else {"total": page.total})
    if asked.facets:
        more["facets"] = facets(asked.facets, page.counts, page.ranges)
    if not meant.plain:
        store.vocabulary.learn(docs)
        better = did_you_mean(meant.applied(query), docs)
        more |= {"did_you_mean": better} if better else {}
    if docs and (dropped := [*meant.dropped_words, *query.ignored_words(store.catalogue.language)]):
        more["dropped_words"] = dropped
    if page.unsupported:
        more["unsupported"] = more["cannot"] = list(page.unsupported)
    ended = page.next is None or seen == page.total
    return Listed(docs, None if ended else [page.next, seen, meant.state()], more)


def suggest(store: Store, text: str, limit: int) -> list[dict[str, Any]]:
    """Categories, brands and products for an unfinished query, typos forgiven. 1 global query."""
    query = search_for(text.rstrip(), counts=("brand_is", "category"))
    if not query.all_words:
        return []
    begun = {query.prefix} if query.words and query.prefix and len(query.prefix) < MIN_PREFIX else set()
    meant = rewrite_of(store, query.without(begun))
    page = store.catalogue.search(meant.applied(query.without(begun)), limit, None)
    return suggestions(
        meant.applied(query), store.catalogue.language, deduplicate_moved(page.items), page.counts, limit
    )


def rewrite_of(store: Store, query: SearchQuery) -> Rewrite:
    """What the words of a query mean to this catalogue. No database call."""
    unknown = store.vocabulary.unknown(query.words, query.prefix) & set(
        query.content_words(store.catalogue.language)
    )
    corrections = store.vocabulary.corrections(unknown) if unknown else {}
    return rewritten(query, unknown, corrections, store.catalogue.language)


def _first_page(store: Store, asked: Question, query: SearchQuery) -> tuple[Rewrite, SearchPage]:
    meant = rewrite_of(store, query)
    page = _found(store, asked, meant.applied(query), None)
    if meant.optional and page.items:
        there = meant.optional & set(matched_words(meant, page.items[0], query, store.catalogue.language))
        if not there:
            return replace(meant, dropped_words=_in_order(query, meant.optional)), page
        meant = replace(meant, optional=meant.optional - there)
        return meant, _found(store, asked, meant.applied(query), None)
    if not page.items and not asked.filtered and query.sort is None and len(_known(store, query, meant)) > 1:
        meant = replace(
            meant, any_word=True, optional=frozenset(), dropped_words=_in_order(query, meant.optional)
        )
        page = _found(store, asked, meant.applied(query), None)
    return meant, page


def _some_words(
    store: Store, asked: Question, query: SearchQuery, meant: Rewrite, docs: Sequence[Doc]
) -> Listed:
    """What has most of the words when nothing has them all: one page of it, for what comes behind has ever fewer."""
    best = with_as_many_words(meant, docs, query, store.catalogue.language)
    matched = matched_words(meant, best[0], query, store.catalogue.language)
    dropped_words = [word for word in query.content_words(store.catalogue.language) if word not in matched]
    return Listed(best, None, crumbs(asked) | {"dropped_words": dropped_words})


def _known(store: Store, query: SearchQuery, meant: Rewrite) -> list[str]:
    return [
        word
        for word in query.content_words(store.catalogue.language)
        if word not in meant.optional | meant.forgiven
    ]


def _in_order(query: SearchQuery, words: frozenset[str]) -> tuple[str, ...]:
    return tuple(word for word in query.loose_words if word in words)


def _found(store: Store, asked: Question, query: SearchQuery, bookmark: str | None) -> SearchPage:
    if asked.one_category and not asked.facets:
        return store.catalogue.search_in_category(asked.category or (), query, asked.limit, bookmark)
    return store.catalogue.search(query, asked.limit, bookmark)


def _query(asked: Question) -> SearchQuery:
    currencies = (asked.currency,) if asked.currency else ()
    filters = {"brand_is": asked.brands, "colour": asked.colours, "currency": currencies}
    if asked.category and not (asked.one_category and not asked.facets):
        filters["category_is" if asked.one_category else "category"] = (category_path(asked.category),)
    ranges = (
        {}
        if asked.min_price is None and asked.max_price is None
        else {"price": (asked.min_price, asked.max_price)}
    )
    return search_for(
        asked.q,
        filters={name: values for name, values in filters.items() if values},
        ranges=ranges,
        sort=_sort(asked),
        counts=tuple(FACET_FIELDS[name] for name in asked.facets if name != "price"),
        bands={"price": price_bands()} if "price" in asked.facets else {},
    )


def _sort(asked: Question) -> str | None:
    """By relevance when there are words, else by name."""
    if asked.q:
        return SORTS[asked.sort or "relevance"]
    return SORTS[asked.sort if asked.sort and asked.sort != "relevance" else "name"]
