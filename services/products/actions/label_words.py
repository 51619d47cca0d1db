"""A query as the shop means it: with the synonyms that its people wrote, and the labels of categories and attributes in the language that is read."""

from services.products.actions.question import Question
from services.products.dependencies import Dependencies
from services.products.documents import category_path
from services.products.rules.label_words import label_synonyms
from shared.couch import SearchQuery, altered


def meant(deps: Dependencies, query: SearchQuery) -> SearchQuery:
    """The query that also finds what is in a category, or has an attribute, that is called so. No database call: labels are at hand, and one
    that changes is searched for a second later, with no index to be built anew."""
    rules, language = deps.search_rules.get(), deps.catalogue.read_in
    if language:
        types, analysis = deps.product_types.get(), deps.catalogue.language
        rules = rules.with_labels(
            types, language, lambda: label_synonyms(types.label_pairs(language), analysis)
        )
    paths = deps.categories.get().words(language, deps.catalogue.language).paths_of(query)
    query = rules.with_synonyms(query)
    return altered(query, paths=paths) if paths else query


def within(asked: Question, query: SearchQuery) -> SearchQuery:
    """The query of one category, without the words that it, or what is above it, is called by: all that is in it has them."""
    if not asked.category or not query.paths:
        return query
    here = category_path(asked.category)
    levels = {here, *(here[:place] for place, letter in enumerate(here) if letter == "#")}
    return query.without(word for word, paths in query.paths.items() if not levels.isdisjoint(paths))
