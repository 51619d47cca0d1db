"""How a search is rewritten when its words are not all known, or not all together in one product."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from services.products.declarations.product import Product
from services.products.documents import PRODUCT_FIELDS, SEPARATOR, category_path
from services.products.option_values import attribute_words, codes, option_words
from services.products.rules.searching import short_texts
from services.products.rules.typos import nearly_same
from shared.couch import (
    MIN_PREFIX,
    Language,
    SearchQuery,
    altered,
    compounds_of,
    is_forgivable,
    letters_of,
    pairs_of,
    words_of,
)

MAX_NUMBER = 2
"""Digits of a number that says which of its kind the word before it means."""


@dataclass(frozen=True)
class Rewrite:
    """What became of the words: `corrections` of those that are nearly known, those a typo is forgiven in, those that need not
    match (`described`: for only descriptions have them), those that are not asked at all, whether any of them is enough, and whether
    the last one is `finished`, no beginning. Where very many products are `named` by each word, what has all of them in its description
    alone is not meant. A cursor keeps it, so that all pages ask the same."""

    corrections: Mapping[str, Sequence[str]] = field(default_factory=dict)
    forgiven: frozenset[str] = frozenset()
    optional: frozenset[str] = frozenset()
    dropped_words: tuple[str, ...] = ()
    any_word: bool = False
    described: frozenset[str] = frozenset()
    finished: bool = False
    named: frozenset[str] = frozenset()

    def applied(self, query: SearchQuery) -> SearchQuery:
        """The query that asks so."""
        kept = query.finished() if self.finished else query
        return altered(
            kept.without(frozenset(self.dropped_words) - self.optional),
            corrections=self.corrections,
            forgiven=self.forgiven,
            optional=self.optional | self.described,
            any_word=self.any_word,
            named=self.named,
        )

    @property
    def plain(self) -> bool:
        """Whether every word was known."""
        return not (self.corrections or self.forgiven or self.optional)

    def state(self) -> list[Any]:
        """As a cursor keeps it."""
        return [
            dict(self.corrections),
            sorted(self.forgiven),
            sorted(self.optional),
            list(self.dropped_words),
            self.any_word,
            sorted(self.described),
            self.finished,
            sorted(self.named),
        ]


def restored(state: list[Any]) -> Rewrite:
    """What a cursor kept; the last release kept less."""
    corrections, forgiven, optional, dropped_words, any_word = state[:5]
    described, finished, named = state[5:] or ((), False, ())
    return Rewrite(
        corrections,
        frozenset(forgiven),
        frozenset(optional),
        tuple(dropped_words),
        any_word,
        frozenset(described),
        finished,
        frozenset(named),
    )


def rewritten(
    query: SearchQuery,
    unknown: set[str],
    corrections: Mapping[str, Sequence[str]],
    described: Iterable[str],
    language: Language,
) -> Rewrite:
    """At first: a word with a known neighbour is that one; one that nobody knows may be missing if others are known, and goes with the
    number behind it, which says more of it: the 5 of `iphone 5 cover`."""
    content = query.content_words(language)
    lost = frozenset(unknown - corrections.keys())
    numbers = _numbers_behind(query.loose_words, lost)
    if query.sort is not None or len(lost) + len(numbers) >= len(content):
        return Rewrite(
            corrections, lost, lost if query.sort is None and len(lost) < len(content) else frozenset()
        )
    return Rewrite(corrections, lost, lost, tuple(numbers), described=frozenset(described))


def _numbers_behind(words: Sequence[str], lost: Iterable[str]) -> list[str]:
    return [
        word
        for before, word in pairwise(words)
        if before in lost and len(word) <= MAX_NUMBER and word.isdecimal() and words.count(word) == 1
    ]


def matched_words(rewrite: Rewrite, doc: Product, query: SearchQuery, language: Language) -> list[str]:
    """Which of the content words a product has, in any form, as a beginning when it is the last one, or mistyped where that is forgiven."""
    by_code = query.code or not rewrite.plain or len(query.content_words(language)) == 1
    terms = _terms(doc, language, by_code=by_code)
    place = category_path(doc["taxonomy"]) + SEPARATOR
    return [
        word
        for word in query.content_words(language)
        if any(place.startswith(path + SEPARATOR) for path in query.paths.get(word, ()))
        or _matches(rewrite, word, query, terms, language)
    ]


def is_named(doc: Product, query: SearchQuery, language: Language) -> bool:
    """Whether a product has one of the words in a short text where one must be."""
    wanted = query.named_words(language)
    there, meant = _short_terms(doc, language), (*wanted, *pairs_of(list(query.loose_words)))
    return not wanted or any(language.stem(word) in there for word in meant)


def people_of(query: SearchQuery, language: Language) -> tuple[list[str], list[str]]:
    """The words that say for whom a thing is, and all others."""
    words = query.content_words(language)
    people = [word for word in words if language.is_person(word)]
    return people, [word for word in words if word not in people]


def people_of_descriptions(
    query: SearchQuery, docs: Sequence[Product], named: Collection[str], language: Language
) -> list[str]:
    """Those of the words that say for whom a thing is which no product has in a short text, though the best has another one there, or
    others are `named` by it: what says nothing of it is for anybody."""
    people, others = people_of(query, language)
    there = _short_terms(docs[0], language)
    if not any(word in named or language.stem(word) in there for word in others):
        return []
    there = {term for doc in docs for term in _short_terms(doc, language)}
    return [word for word in people if language.stem(word) not in there]


def with_as_many_words(
    rewrite: Rewrite, docs: Sequence[Product], query: SearchQuery, language: Language
) -> list[Product]:
    """The first products, as long as they have as many of the words as the very first."""
    counts = [len(matched_words(rewrite, doc, query, language)) for doc in docs]
    fewer = next((n for n, count in enumerate(counts) if count < counts[0]), len(docs))
    return list(docs[:fewer])


def _terms(doc: Product, language: Language, *, by_code: bool) -> set[str]:
    """The terms of a product's texts; of its article numbers as well where a query may name one."""
    product, texts = PRODUCT_FIELDS.content(doc), _short_texts(doc)
    short = [words_of(text) for text in texts]
    words = [word for some in short for word in (*some, *pairs_of(some), *letters_of(some))]
    words += [word for text in texts for word in compounds_of(text)]
    words += words_of(product["description"])
    words += words_of(" ".join(codes(doc))) if by_code else []
    return {term for word in words for term in language.terms(word)}


def _short_terms(doc: Product, language: Language) -> set[str]:
    words = [word for text in _short_texts(doc) for word in words_of(text)]
    return {term for word in (*words, *pairs_of(words)) for term in language.terms(word)}


def _short_texts(doc: Product) -> list[str]:
    return [*short_texts(PRODUCT_FIELDS.content(doc)), *option_words(doc), *attribute_words(doc)]


def _matches(rewrite: Rewrite, word: str, query: SearchQuery, terms: set[str], language: Language) -> bool:
    loose = list(query.loose_words)
    place = loose.index(word)
    meant: Iterable[str] = [
        word,
        *pairs_of(loose[max(0, place - 1) : place + 2]),
        *rewrite.corrections.get(word, ()),
    ]
    if any(language.stem(each) in terms for each in meant):
        return True
    if word == query.prefix and len(word) >= MIN_PREFIX and any(term.startswith(word) for term in terms):
        return True
    if any(
        word in row and _has_a_synonym(synonyms, terms, language) for row, synonyms in query.synonyms.items()
    ):
        return True
    forgiven = word in rewrite.forgiven and is_forgivable(word)
    return forgiven and any(nearly_same(word, term) for term in terms)


def _has_a_synonym(synonyms: Sequence[Sequence[str]], terms: set[str], language: Language) -> bool:
    return any(all(language.stem(word) in terms for word in row) for row in synonyms)
