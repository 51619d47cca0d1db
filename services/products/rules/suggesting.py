"""What is suggested for an unfinished query: departments, brands, what others searched for, products."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from shared.couch import Doc, Language, SearchQuery, pairs_of, words_of

MAX_CATEGORIES, MAX_BRANDS, MAX_QUERIES, MIN_PRODUCTS = 3, 2, 3, 2

Suggestion = dict[str, Any]
"""{kind, text, ...}"""


def suggestions(
    query: SearchQuery,
    language: Language,
    docs: Sequence[Doc],
    counts: Mapping[str, Mapping[str, int]],
    popular: Iterable[tuple[str, int]],
    limit: int,
) -> list[Suggestion]:
    """Categories and brands that have the last word typed, those with more of the words first; queries that have all of them;
    then products, for which there is room when there are any."""
    categories = [
        {"kind": "category", "text": path.rpartition("#")[2], "path": path, "count": count}
        for path, count in _best_named(
            counts.get("category", {}), query, language, lambda path: path.rpartition("#")[2]
        )
    ]
    brands = [
        {"kind": "brand", "text": brand, "count": count}
        for brand, count in _best_named(counts.get("brand_is", {}), query, language, lambda brand: brand)
    ]
    named = [*categories[:MAX_CATEGORIES], *brands[:MAX_BRANDS]]
    room = limit - len(named) - min(MIN_PRODUCTS, len(docs))
    searched = _searched(query, language, popular, max(0, min(MAX_QUERIES, room)))
    return [*named, *searched, *_products(query, docs)][:limit]


def _products(query: SearchQuery, docs: Sequence[Doc]) -> list[Suggestion]:
    """Those with the last word in their name first; of several with one name the first."""
    last = query.all_words[-1]
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
    typed, found = " ".join(query.all_words), list[Suggestion]()
    for text, _ in popular:
        if len(found) == most:
            break
        if text != typed and _shared_words(query, language, text) == len(query.all_words):
            found.append({"kind": "query", "text": text})
    return found


def _best_named(
    counted: Mapping[str, int], query: SearchQuery, language: Language, name: Callable[[str], str]
) -> list[tuple[str, int]]:
    """What has the last word in its name: with most of the words first, then the most frequent."""
    ranked = {value: _shared_words(query, language, name(value)) for value in counted}
    return sorted(
        ((value, count) for value, count in counted.items() if ranked[value]),
        key=lambda item: (-ranked[item[0]], -item[1], item[0]),
    )


def _shared_words(query: SearchQuery, language: Language, text: str) -> int:
    """How many of the words a name has, in any form, mistyped, as a synonym, the last one as a beginning; 0 without the last one."""
    words = words_of(text)
    terms = {term for word in (*words, *pairs_of(words)) for term in language.terms(word)}
    matched = [
        word
        for word in query.all_words
        if {language.stem(each) for each in (word, *query.corrections.get(word, ()))} & terms
        or (word == query.prefix and any(term.startswith(word) for term in terms))
        or _is_there_by_a_synonym(query, language, word, terms)
    ]
    return len(matched) if query.all_words[-1] in matched else 0


def _is_there_by_a_synonym(query: SearchQuery, language: Language, word: str, terms: set[str]) -> bool:
    rows = (other for row, others in query.synonyms.items() if word in row for other in others)
    return any(all(language.stem(each) in terms for each in row) for row in rows)
