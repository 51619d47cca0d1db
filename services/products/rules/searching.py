"""What the shop asks of its search index: orders by their public names, and `did you mean`."""

from collections.abc import Callable, Sequence
from itertools import groupby
from typing import Any, Final

from services.products.documents import PRODUCT_FIELDS
from shared.couch import Doc, Language, SearchQuery, pairs_of, words_of

SORTS: Final = {
    "relevance": None,
    "name": "name_order",
    "-name": "-name_order",
    "price": "price",
    "-price": "-price",
    "rating": "-rank",
}


def rank_ties(docs: Sequence[Doc], scores: Sequence[float]) -> list[Doc]:
    """A page by relevance, in which equally relevant products stand in stock before sold out, the better rated first."""
    if not scores:
        return list(docs)
    ordered: list[Doc] = []
    for _, equals in groupby(zip(docs, scores, strict=True), key=lambda pair: f"{pair[1]:.4g}"):
        some = (doc for doc, _ in equals)
        ordered += sorted(some, key=lambda doc: (doc["stock"] <= 0, -doc["rank"]))
    return ordered


def did_you_mean(query: SearchQuery, docs: Sequence[Doc]) -> str | None:
    """The query with each mistyped word replaced by the hits' word one typo away; None when nothing changes."""
    products = [PRODUCT_FIELDS.content(doc) for doc in docs]
    known = [set(words_of(" ".join(short_texts(each)))) for each in products]
    known += [set(words_of(each["description"])) for each in products]
    mistyped = query.forgiven | query.corrections.keys()
    words = [_nearest(word, known) if word in mistyped else word for word in query.all_words]
    return " ".join(words) if words != list(query.all_words) else None


def short_texts(product: Doc) -> list[str]:
    """What a product is called and where it stands, without its description."""
    return [
        product["name"],
        product["brand"],
        *product["keywords"],
        *product["colours"],
        *product["taxonomy"],
    ]


def _nearest(word: str, known: list[set[str]]) -> str:
    if any(word in words or any(each.startswith(word) for each in words) for words in known):
        return word
    for words in known:
        close = sorted(each for each in words if one_typo_apart(word, each))
        if close:
            return close[0]
    return word


def one_typo_apart(one: str, other: str) -> bool:
    """Whether one letter more, less, different, or two neighbours swapped turn one word into the other."""
    if one == other or abs(len(one) - len(other)) > 1:
        return False
    start = next(
        (n for n, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other))
    )
    a, b = one[start:], other[start:]
    return a[1:] == b[1:] or a[1:] == b or a == b[1:] or (a[:2] == b[:2][::-1] and a[2:] == b[2:])


def suggestions(
    query: SearchQuery,
    language: Language,
    docs: Sequence[Doc],
    counts: dict[str, dict[str, int]],
    limit: int,
) -> list[dict[str, Any]]:
    """Categories and brands that have the last word typed, those with more of the words first, then products; {kind, text, ...}."""
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
    last = query.all_words[-1]
    begun = sorted(docs, key=lambda doc: not any(word.startswith(last) for word in words_of(doc["name"])))
    products = [{"kind": "product", "text": doc["name"], "productid": doc["productid"]} for doc in begun]
    return [*categories[:3], *brands[:2], *products][:limit]


def _best_named(
    counted: dict[str, int], query: SearchQuery, language: Language, name: Callable[[str], str]
) -> list[tuple[str, int]]:
    """What has the last word in its name: with most of the words first, then the most frequent."""
    ranked = {value: _shared_words(query, language, name(value)) for value in counted}
    return sorted(
        ((value, count) for value, count in counted.items() if ranked[value]),
        key=lambda item: (-ranked[item[0]], -item[1], item[0]),
    )


def _shared_words(query: SearchQuery, language: Language, text: str) -> int:
    """How many of the words a name has, in any form, mistyped, the last one as a beginning; 0 without the last one."""
    words = words_of(text)
    terms = {term for word in (*words, *pairs_of(words)) for term in language.terms(word)}
    matched = [
        word
        for word in query.all_words
        if {language.stem(each) for each in (word, *query.corrections.get(word, ()))} & terms
        or (word == query.prefix and any(term.startswith(word) for term in terms))
    ]
    return len(matched) if query.all_words[-1] in matched else 0
