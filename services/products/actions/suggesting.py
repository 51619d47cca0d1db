"""Suggestions for an unfinished query, typos forgiven, in one call."""

from dataclasses import replace

import orjson

from services.products.actions.label_words import meant
from services.products.actions.search import rewrite_of
from services.products.dependencies import Dependencies
from services.products.rules.product import deduplicate_moved
from services.products.rules.suggesting import suggestions
from shared.couch import MIN_PREFIX, SearchQuery, search_for

PRODUCTS_PER_SUGGESTION = 2
"""Several products may have one name, which is suggested once."""


def suggest(deps: Dependencies, text: str, limit: int, currency: str = "") -> bytes:
    """{items: departments, brands, past queries and products sold in the currency} as JSON. 1 global query, none for what was asked within the last minute."""
    filters = {"currency": (currency,)} if currency else {}
    query = search_for(text.rstrip(), counts=("brand_is", "category"), filters=filters)
    if not query.all_words:
        return orjson.dumps({"items": []})
    version, language = deps.search_rules.version(), deps.catalogue.read_in
    key = f"{version}:{limit}:{currency}{language}:{' '.join(query.all_words)}"
    return deps.suggestion_cache.get(key, lambda: _suggest(deps, query, limit))


def _suggest(deps: Dependencies, typed: SearchQuery, limit: int) -> bytes:
    # A single letter begins too much: it only chooses among what the words before it find.
    begun = {typed.prefix} if typed.words and typed.prefix and len(typed.prefix) < MIN_PREFIX else set()
    rules = deps.search_rules.get()
    query = meant(deps, typed)
    rewrite = replace(rewrite_of(deps, query.without(begun)), finished=False)
    page = deps.catalogue.search(rewrite.applied(query.without(begun)), PRODUCTS_PER_SUGGESTION * limit, None)
    items = suggestions(
        rewrite.applied(query),
        deps.catalogue.language,
        deduplicate_moved(page.items),
        page.counts,
        (each for each in deps.popular_queries.get() if not rules.is_hidden(each[0])),
        limit,
        deps.categories.get().labels(deps.catalogue.read_in),
    )
    return orjson.dumps({"items": items})
