"""Search: the words as they were typed, as they were rewrite, and, when no product has all of them, without some of them."""

from collections.abc import Iterable, Sequence
from typing import Any

from services.products.actions.facets import counted_bands, counted_fields, facets_of
from services.products.actions.label_words import meant, within
from services.products.actions.question import Listed, Question, crumbs
from services.products.declarations.product import Product
from services.products.dependencies import Dependencies
from services.products.documents import category_path
from services.products.price_fields import price_field
from services.products.rules.facets import FACET_FIELDS, combined
from services.products.rules.product import deduplicate_moved
from services.products.rules.rewriting import (
    Rewrite,
    is_named,
    matched_words,
    people_of,
    people_of_descriptions,
    restored,
    rewritten,
    with_as_many_words,
)
from services.products.rules.searching import (
    SORTS,
    did_you_mean,
    rank_ties,
)
from services.products.search_indexes import COMBINATIONS
from shared.couch import SearchPageOf, SearchQuery, altered, pairs_of, search_for

MIN_PLURAL = 4
MIN_JOINED = 6
"""Letters of two words that may be a misspelt one written apart."""


def search(deps: Dependencies, asked: Question) -> Listed:
    """A page of what has the words. 1 global query, or 1 partition query in a category; one more for words that unexpectedly are
    nowhere together, which is remembered, and for the alternatives of a filter that nobody has seen lately (see `facets`)."""
    query = meant(deps, search_query(asked))
    if asked.q.strip() and not query.all_words:
        return Listed([], None, {"total": 0, **crumbs(asked)})
    if asked.one_category and not asked.facets:
        query = within(asked, query)
    if asked.cursor:
        bookmark, seen, state = asked.cursor
        rewrite = restored(state)
        page = _found(deps, asked, rewrite.applied(query), bookmark)
    else:
        seen = 0
        rewrite, page = _first_page(deps, asked, query)
    docs = deduplicate_moved(rank_ties(page.items, page.scores))
    seen += len(page.items)
    if rewrite.any_word and docs:
        return _partial_matches(deps, asked, query, rewrite, docs)
    more: dict[str, Any] = crumbs(asked) | ({} if page.total is None else {"total": page.total})
    if asked.facets:
        more["facets"] = facets_of(deps, asked, rewrite.applied(query), page)
    if not rewrite.plain:
        deps.vocabulary.add(docs)
        worded = rewrite.applied(query).without(rewrite.dropped_words)
        shown = did_you_mean(worded, deps.catalogue.language, docs)
        more |= {"did_you_mean": shown, "showing_results_for": shown} if shown else {}
    if docs and (dropped := [*rewrite.dropped_words, *query.ignored_words(deps.catalogue.language)]):
        more["dropped_words"] = dropped
    if docs and rewrite.described:
        more["described_words"] = list(_in_order(query, rewrite.described))
    if page.unsupported:
        more["unsupported"] = more["cannot"] = list(page.unsupported)
    ended = page.next is None or seen == page.total
    return Listed(docs, None if ended else [page.next, seen, rewrite.state()], more)


def rewrite_of(deps: Dependencies, query: SearchQuery) -> Rewrite:
    """What the words of a query mean to this catalogue. No database call."""
    language, vocabulary = deps.catalogue.language, deps.vocabulary
    finished = query.prefix is not None and _is_finished(deps, query.prefix)
    loose, content = query.loose_words, query.content_words(language)
    asked = set(content) - query.words_with_synonyms - query.paths.keys()
    beginning = None if finished else query.prefix
    unknown = vocabulary.unknown(loose if finished else query.words, beginning) & asked
    corrections = vocabulary.misspelt(asked - unknown)
    unlike: set[str] = set()
    if unknown:
        near = vocabulary.corrections(unknown, alone=len(query.all_words) == 1)
        corrections |= {word: meant for word, meant in near.items() if meant}
        unlike = near.keys() - corrections.keys()
        for word, meant in _joined_corrections(deps, query, unknown).items():
            corrections[word] = [*corrections.get(word, ()), *meant]
        corrections |= _of_three_words(deps, query, unknown)
        corrections |= _heads_of_compounds(deps, unknown - corrections.keys())
    known = asked - unknown - corrections.keys()
    rewrite = rewritten(query, unknown, corrections, vocabulary.described(content) & known, language)
    named = frozenset(vocabulary.frequent(content) & known)
    return altered(rewrite, finished=finished, named=named, forgiven=rewrite.forgiven - unlike)


def _is_finished(deps: Dependencies, word: str) -> bool:
    """Whether a last word is whole: one that products have, or a plural; `bras` is no beginning of brass."""
    is_plural = len(word) >= MIN_PLURAL and word[-1] == "s" and deps.catalogue.language.stem(word) != word
    return is_plural or deps.vocabulary.is_whole(word)


def _joined_corrections(deps: Dependencies, query: SearchQuery, unknown: set[str]) -> dict[str, list[str]]:
    """What a word that nobody knows and its neighbour mean, written as one: `bed shet` is `bedsheet`."""
    loose = query.loose_words
    neighbours = [
        pair
        for pair in zip(loose, loose[1:], strict=False)
        if len(pair[0] + pair[1]) >= MIN_JOINED and not unknown.isdisjoint(pair)
    ]
    meant = deps.vocabulary.corrections(map("".join, neighbours)) if neighbours else {}
    return {word: meant["".join(pair)] for pair in neighbours if meant.get("".join(pair)) for word in pair}


def _of_three_words(deps: Dependencies, query: SearchQuery, unknown: set[str]) -> dict[str, list[str]]:
    """What three words in a row mean that products have as one: `fab home decor` is the brand `FabHomeDecor`."""
    loose = query.loose_words
    rows = {
        "".join(row): row
        for row in zip(loose, loose[1:], loose[2:], strict=False)
        if not unknown.isdisjoint(row) and all(map(str.isalpha, row))
    }
    known = rows.keys() - deps.vocabulary.unknown(rows, None) if rows else set()
    return {word: [joined] for joined in sorted(known) for word in rows[joined]}


def _heads_of_compounds(deps: Dependencies, words: Iterable[str]) -> dict[str, list[str]]:
    """What a compound that no product has is one of, if products are: `herrenpullover` is a `pullover`."""
    heads = {word: head for word in words if (head := deps.catalogue.language.head_of(word))}
    unknown = deps.vocabulary.unknown(heads.values(), None) if heads else set()
    return {word: [head] for word, head in heads.items() if head not in unknown}


def _first_page(
    deps: Dependencies, asked: Question, query: SearchQuery
) -> tuple[Rewrite, SearchPageOf[Product]]:
    rewrite = rewrite_of(deps, query)
    words = _known(deps, query, rewrite)
    may_be_apart = len(words) > 1 and not asked.filtered and query.sort is None
    lost = _in_order(query, rewrite.optional.union(rewrite.dropped_words))
    any_word = altered(
        rewrite,
        any_word=True,
        optional=frozenset(),
        described=frozenset(),
        dropped_words=lost,
        named=frozenset(),
    )
    forecast = (
        Forecast(deps, asked, query, words)
        if may_be_apart and not rewrite.corrections and not query.synonyms and not query.paths
        else None
    )
    if forecast and forecast.are_apart():
        if without := forecast.lost():
            narrower = _narrowed(query, rewrite, without)
            page = _found(deps, asked, narrower.applied(query), None)
            if page.items:
                return narrower, page
        elif found := _of_its_kind(deps, asked, query, rewrite, forecast, none_has_all=False):
            return found
        page = _found(deps, asked, any_word.applied(query), None)
        if not page.items or not _has_all(deps, rewrite, page.items, query):
            return _settled(deps, asked, query, rewrite, any_word, page, forecast)
        forecast.remember(apart=False)
    elif forecast:
        rewrite = altered(rewrite, described=rewrite.described | forecast.lost())
    page = _found(deps, asked, rewrite.applied(query), None)
    if rewrite.optional and page.items:
        there = rewrite.optional & set(matched_words(rewrite, page.items[0], query, deps.catalogue.language))
        if not there:
            return altered(rewrite, dropped_words=lost), page
        narrower = altered(rewrite, optional=rewrite.optional - there, dropped_words=())
        return narrower, _found(deps, asked, narrower.applied(query), None)
    if not page.items and may_be_apart:
        if found := _of_its_kind(deps, asked, query, rewrite, forecast, none_has_all=True):
            return found
        page = _found(deps, asked, any_word.applied(query), None)
        if forecast:
            forecast.remember(apart=True)
            return _settled(deps, asked, query, rewrite, any_word, page, forecast)
        return any_word, page
    asks_people = forecast and page.items and not rewrite.described
    people = _described_people(deps, query, page.items) if asks_people else []
    if forecast and people:
        forecast.remember(apart=False, lost=people)
        wider = altered(rewrite, described=frozenset(people))
        return wider, _found(deps, asked, wider.applied(query), None)
    return rewrite, page


def _of_its_kind(
    deps: Dependencies,
    asked: Question,
    query: SearchQuery,
    rewrite: Rewrite,
    forecast: "Forecast | None",
    *,
    none_has_all: bool,
) -> tuple[Rewrite, SearchPageOf[Product]] | None:
    """Where nothing has all words, or most likely nothing: what is of the kind that one of them names, with as many of the others as the
    best has. None where several of them name one, for any may be meant, or where no other word is left."""
    language = deps.catalogue.language
    known = _known(deps, query, rewrite)
    kinds = {*deps.vocabulary.kinds.among(known), *query.paths}
    things = [word for word in known if word in kinds and not language.is_person(word)]
    others = frozenset(known) - {*things, *people_of(query, language)[0]}
    if len(things) != 1 or not others:
        return None
    wanted = altered(
        rewrite,
        optional=rewrite.optional.union(known).difference(things),
        described=frozenset(),
        named=frozenset(),
    )
    page = _found(deps, asked, wanted.applied(query), None)
    if not page.items:
        return None
    there = matched_words(wanted, page.items[0], query, language)
    without = frozenset(query.content_words(language)).difference(there)
    if not without:
        narrower = _narrowed(query, rewrite, without)
        if not none_has_all and (whole := _found(deps, asked, narrower.applied(query), None)).items:
            if forecast:
                forecast.remember(apart=False)
            return narrower, whole
        there, without = things, others  # an article number has those, which are not looked for there
    if len(page.items) < asked.limit and wanted.optional.intersection(there):
        return altered(wanted, any_word=True), page
    if forecast:
        forecast.remember(apart=True, lost=without - rewrite.optional.union(rewrite.dropped_words))
    if not wanted.optional.intersection(there):
        return altered(wanted, dropped_words=_in_order(query, without)), page
    narrower = _narrowed(query, rewrite, without)
    found = _found(deps, asked, narrower.applied(query), None)
    return (
        (narrower, found) if found.items else (altered(wanted, dropped_words=_in_order(query, others)), page)
    )


def _described_people(deps: Dependencies, query: SearchQuery, docs: Sequence[Product]) -> list[str]:
    language = deps.catalogue.language
    people, others = people_of(query, language)
    if not people:
        return []
    return people_of_descriptions(query, docs, deps.vocabulary.named(others), language)


def _settled(
    deps: Dependencies,
    asked: Question,
    query: SearchQuery,
    rewrite: Rewrite,
    any_word: Rewrite,
    page: SearchPageOf[Product],
    forecast: "Forecast",
) -> tuple[Rewrite, SearchPageOf[Product]]:
    """What has some of the words; where that fills the page, all that have those of the best, counted and page by page."""
    language = deps.catalogue.language
    if len(page.items) < asked.limit:
        return any_word, page
    matched = matched_words(any_word, page.items[0], query, language)
    without = frozenset(query.content_words(language)) - frozenset(matched) - frozenset(rewrite.dropped_words)
    if (
        not matched
        or not without
        or len(with_as_many_words(any_word, page.items, query, language)) < asked.limit
    ):
        return any_word, page
    forecast.remember(apart=True, lost=without)
    narrower = _narrowed(query, rewrite, without)
    return narrower, _found(deps, asked, narrower.applied(query), None)


def _narrowed(query: SearchQuery, rewrite: Rewrite, without: frozenset[str]) -> Rewrite:
    lost = without.union(rewrite.optional, rewrite.dropped_words)
    return altered(
        rewrite,
        optional=frozenset(),
        described=rewrite.described - lost,
        dropped_words=_in_order(query, lost),
    )


class Forecast:
    """Whether words stand together, where they are looked for."""

    def __init__(self, deps: Dependencies, asked: Question, query: SearchQuery, words: Sequence[str]) -> None:
        stem, loose = deps.catalogue.language.stem, list(query.loose_words)
        self._categories, self._stem = deps.vocabulary.categories, stem
        self._words = list(words)
        self._stems = [*map(stem, words), *([f"#{category_path(asked.category)}"] if asked.category else [])]
        self._beside = [
            (joined, stem(one), stem(other))
            for joined, one, other in zip(pairs_of(loose), loose, loose[1:], strict=False)
        ]

    def are_apart(self) -> bool:
        return self._categories.are_apart(self._stems, self._beside)

    def lost(self) -> frozenset[str]:
        """The words that a search did without; asked behind `are_apart`."""
        stems = self._categories.lost(self._stems)
        return frozenset(word for word in self._words if self._stem(word) in stems)

    def remember(self, *, apart: bool, lost: Iterable[str] = ()) -> None:
        self._categories.remember(self._stems, apart=apart, lost=set(map(self._stem, lost)))


def _has_all(deps: Dependencies, rewrite: Rewrite, docs: Sequence[Product], query: SearchQuery) -> bool:
    """Whether the best of what has some words has all of them that could be there."""
    language = deps.catalogue.language
    there = matched_words(rewrite, docs[0], query, language)
    lost = rewrite.optional.union(rewrite.dropped_words)
    return len(lost.union(there)) >= len(query.content_words(language)) and is_named(
        docs[0], rewrite.applied(query), language
    )


def _partial_matches(
    deps: Dependencies, asked: Question, query: SearchQuery, rewrite: Rewrite, docs: Sequence[Product]
) -> Listed:
    """What has most of the words when nothing has them all: one page of it, for what comes behind has ever fewer."""
    best = with_as_many_words(rewrite, docs, query, deps.catalogue.language)
    matched = matched_words(rewrite, best[0], query, deps.catalogue.language)
    dropped_words = [word for word in query.content_words(deps.catalogue.language) if word not in matched]
    return Listed(best, None, crumbs(asked) | {"dropped_words": dropped_words})


def _known(deps: Dependencies, query: SearchQuery, rewrite: Rewrite) -> list[str]:
    return [
        word
        for word in query.content_words(deps.catalogue.language)
        if word not in rewrite.optional | rewrite.forgiven | rewrite.described.union(rewrite.dropped_words)
    ]


def _in_order(query: SearchQuery, words: frozenset[str]) -> tuple[str, ...]:
    return tuple(word for word in query.loose_words if word in words)


def _found(
    deps: Dependencies, asked: Question, query: SearchQuery, bookmark: str | None
) -> SearchPageOf[Product]:
    if asked.one_category and not asked.facets:
        return deps.catalogue.search_in_category(asked.category or (), query, asked.limit, bookmark)
    return deps.catalogue.search(query, asked.limit, bookmark)


def search_query(asked: Question) -> SearchQuery:
    """What is asked of the search index; by one category alone, its partition's."""
    filters = {FACET_FIELDS.get(name, name): values for name, values in asked.choices.items()}
    if together := combined(asked.choices):
        filters[COMBINATIONS] = tuple(together)
    if asked.currency:
        filters["currency"] = (asked.currency,)
    if asked.category and not (asked.one_category and not asked.facets):
        filters["category_is" if asked.one_category else "category"] = (category_path(asked.category),)
    ranges = (
        {}
        if asked.min_price is None and asked.max_price is None
        else {price_field(asked.currency, asked.group): (asked.min_price, asked.max_price)}
    )
    return search_for(
        asked.q,
        filters=filters,
        ranges=ranges,
        sort=_sort(asked),
        counts=counted_fields(asked),
        bands=counted_bands(asked),
    )


def _sort(asked: Question) -> str | None:
    """By relevance when there are words, else by name; by price in the currency asked for, as who asks pays it."""
    if asked.sort in ("price", "-price"):
        return asked.sort.removesuffix("price") + price_field(asked.currency, asked.group)
    if asked.q:
        return SORTS[asked.sort or "relevance"]
    return SORTS[asked.sort if asked.sort and asked.sort != "relevance" else "name"]
