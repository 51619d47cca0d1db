"""What is suggested for an unfinished query: departments, brands, what others searched for, products."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any, NamedTuple

from services.products.declarations.product import Product
from shared.couch import Language, SearchQuery, begun_pair, pairs_of, words_of

MAX_CATEGORIES, MAX_BRANDS, MAX_QUERIES, MIN_PRODUCTS = 3, 2, 3, 2
GOOD_PART = 10
"""What a single letter begins holds a tenth of the hits of the largest category."""

Suggestion = dict[str, Any]
"""{kind, text, ...}"""


def suggestions(
    query: SearchQuery,
    language: Language,
    docs: Sequence[Product],
    counts: Mapping[str, Mapping[str, int]],
    popular: Iterable[tuple[str, int]],
    limit: int,
    labels: Mapping[str, str],
) -> list[Suggestion]:
    """Categories and brands that have the last word typed, those with more of the words first; queries that have all of them;
    then products, for which there is room when there are any. `labels`: what categories are called beside their last level."""
    # A single letter begins too much: a brand must go with all that stands before it, a category at least hold a good part of the hits.
    is_letter = len(query.all_words[-1]) == 1
    fewest = len(query.all_words) if is_letter else 1
    hits = counts.get("category", {})
    least = max(hits.values(), default=0) / GOOD_PART if is_letter else 0
    before = query.without(query.all_words[-1:]) if is_letter else query
    found: list[tuple[str, int]] = []
    if before is query or before.all_words == () or _is_telling(before):
        found = _best_named(hits, query, language, partial(_names_of, labels))
        found = [(path, count) for path, count in found if count >= least]
    brands = [
        {"kind": "brand", "text": brand, "count": count}
        for brand, count in _best_named(
            counts.get("brand_is", {}), query, language, lambda brand: brand, fewest
        )
    ]
    if not found and not brands and is_letter and _is_telling(before):
        found = _best_named(hits, before, language, partial(_names_of, labels))
    categories = [
        {"kind": "category", "text": labels.get(path) or _last(path), "path": path, "count": count}
        for path, count in found
    ]
    named = [*categories[:MAX_CATEGORIES], *brands[:MAX_BRANDS]]
    room = limit - len(named) - min(MIN_PRODUCTS, len(docs))
    searched = _searched(query, language, popular, max(0, min(MAX_QUERIES, room)))
    return [*named, *searched, *_products(query, docs)][:limit]


def _is_telling(query: SearchQuery) -> bool:
    """Whether a word of it names something, as far as is known: in `iphone 5 c` none does where no iPhone is sold."""
    return any(word.isalpha() and word not in query.optional for word in query.all_words)


def _names_of(labels: Mapping[str, str], path: str) -> str:
    return f"{labels.get(path, '')} {_last(path)}"


def _last(path: str) -> str:
    return path.rpartition("#")[2]


def _products(query: SearchQuery, docs: Sequence[Product]) -> list[Suggestion]:
    """Those with the last word in their name first; of several with one name the first."""
    last = tuple(filter(None, (query.all_words[-1], begun_pair(query.loose_words) if query.prefix else "")))
    begun = sorted(docs, key=lambda doc: not any(word.startswith(last) for word in words_of(doc["name"])))
    named = {doc["name"]: doc for doc in reversed(begun)}
    return [
        {"kind": "product", "text": doc["name"], "productid": doc["productid"]}
        for doc in begun
        if named[doc["name"]] is doc
    ]


def _searched(
    query: SearchQuery, language: Language, popular: Iterable[tuple[str, int]], most: int
) -> list[Suggestion]:
    """Queries that go on with what was typed, the most frequent first."""
    typed, wanted, found = " ".join(query.all_words), _wanted(query, language), list[Suggestion]()
    for text, _ in popular:
        if len(found) == most:
            break
        if text != typed and _shared_words(wanted, language, text) == len(wanted):
            found.append({"kind": "query", "text": text})
    return found


def _best_named(
    counted: Mapping[str, int],
    query: SearchQuery,
    language: Language,
    name: Callable[[str], str],
    fewest: int = 1,
) -> list[tuple[str, int]]:
    """What has the last word in its name, and `fewest` of the words: with most of them first, then the most frequent."""
    wanted = _wanted(query, language)
    ranked = {value: _shared_words(wanted, language, name(value)) for value in counted}
    return sorted(
        ((value, count) for value, count in counted.items() if ranked[value] >= fewest),
        key=lambda item: (-ranked[item[0]], -item[1], item[0]),
    )


@dataclass(frozen=True)
class _Wanted:
    """A word that was typed: any of its `stems`, a word that begins with one of `beginnings` (a space before each), or all words of a
    synonym."""

    stems: frozenset[str]
    beginnings: tuple[str, ...]
    synonyms: tuple[frozenset[str], ...]

    def is_in(self, name: "_Name") -> bool:
        return (
            not self.stems.isdisjoint(name.terms)
            or any(beginning in name.text for beginning in self.beginnings)
            or bool(self.synonyms and any(row <= name.terms for row in self.synonyms))
        )


class _Name(NamedTuple):
    """A name as it is indexed; `text` has its terms one behind another, a space before each."""

    terms: frozenset[str]
    text: str


def _wanted(query: SearchQuery, language: Language) -> list[_Wanted]:
    """Every word that was typed, in any form or mistyped, the last one as a beginning, the last two as that of one; none that says
    nothing, if there are others: the `for` of `watches for` is no part of a name."""
    joined = begun_pair(query.loose_words) if query.prefix else ""
    telling = [word for word in query.all_words if word not in language.stop_words] or query.all_words
    return [
        _Wanted(
            frozenset(map(language.stem, (word, *query.corrections.get(word, ())))),
            tuple(
                f" {beginning}"
                for beginning, is_asked in (
                    (word, word == query.prefix),
                    (joined, joined and word in query.loose_words[-2:]),
                )
                if is_asked
            ),
            tuple(
                frozenset(map(language.stem, other))
                for row, others in query.synonyms.items()
                if word in row
                for other in others
            ),
        )
        for word in telling
    ]


def _shared_words(wanted: Sequence[_Wanted], language: Language, text: str) -> int:
    """How many of the words a name has; 0 without the last one."""
    named = _name(text, language)
    return sum(word.is_in(named) for word in wanted) if wanted[-1].is_in(named) else 0


@lru_cache(5000)
def _name(text: str, language: Language) -> _Name:
    """The words of a name as they are indexed, neighbours also as one."""
    words = words_of(text)
    terms = frozenset(term for word in (*words, *pairs_of(words)) for term in language.terms(word))
    return _Name(terms, "".join(f" {term}" for term in terms))
