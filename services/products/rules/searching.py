"""What the shop asks of its search index: filters and facets by their public names, price bands, and `did you mean`."""

from collections.abc import Iterable, Sequence
from functools import cache
from typing import Any, Final

from services.products.documents import PRODUCT_FIELDS
from shared.couch import Band, Doc, Language, SearchQuery, pairs_of, words_of

FACET_FIELDS: Final = {
    "brand": "brand_is",
    "colour": "colour",
    "category": "category",
    "currency": "currency",
    "price": "price",
}
SORTS: Final = {
    "relevance": None,
    "name": "name_order",
    "-name": "-name_order",
    "price": "price",
    "-price": "-price",
    "rating": "-rank",
}
MAX_VALUES = 50

_STEPS = [step * 10**power for power in range(3, 9) for step in (1, 2, 5)]


@cache
def price_bands() -> tuple[Band, ...]:
    """1-2-5 steps in minor units: up to 10.00, 20.00, 50.00, 100.00 and so on; a price is in exactly one of them."""
    edges = [0, *_STEPS]
    bands = [Band(f"{low}-{high - 1}", low, high - 1) for low, high in zip(edges, edges[1:], strict=False)]
    return (*bands, Band(f"{edges[-1]}-", edges[-1], 10**15))


def facets(
    wanted: Iterable[str], counts: dict[str, dict[str, int]], ranges: dict[str, dict[str, int]]
) -> dict[str, list[Doc]]:
    """{facet: [{value, count}]}, the most frequent first; price bands in their order, {value, from, to, count}."""
    found: dict[str, list[Doc]] = {}
    for name in wanted:
        if name == "price":
            found[name] = _bands(ranges.get("price", {}))
        else:
            counted = counts.get(FACET_FIELDS[name], {}).items()
            ordered = sorted(counted, key=lambda item: (-item[1], item[0]))[:MAX_VALUES]
            found[name] = [{"value": value, "count": count} for value, count in ordered]
    return found


def _bands(counted: dict[str, int]) -> list[Doc]:
    return [
        {
            "value": band.label,
            "from": band.least,
            "to": band.most if band.most < 10**15 else None,
            "count": counted[band.label],
        }
        for band in price_bands()
        if counted.get(band.label)
    ]


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
    """Brands and categories whose own words are among those typed, as far as they were typed, then products; {kind, text, ...}."""
    brands = [
        {"kind": "brand", "text": brand, "count": count}
        for brand, count in _most_frequent(counts.get("brand_is", {}))
        if _answers(query, language, brand)
    ]
    categories = [
        {"kind": "category", "text": path.rpartition("#")[2], "path": path, "count": count}
        for path, count in _most_frequent(counts.get("category", {}))
        if _answers(query, language, path.rpartition("#")[2])
    ]
    products = [{"kind": "product", "text": doc["name"], "productid": doc["productid"]} for doc in docs]
    return [*brands[:2], *categories[:3], *products][:limit]


def _most_frequent(counted: dict[str, int]) -> list[tuple[str, int]]:
    return sorted(counted.items(), key=lambda item: (-item[1], item[0]))


def _answers(query: SearchQuery, language: Language, text: str) -> bool:
    """Whether a name has the last of the words typed, in any form, mistyped or as a beginning."""
    words = words_of(text)
    terms = {term for word in (*words, *pairs_of(words)) for term in language.terms(word)}
    last = query.all_words[-1]
    meant = {language.stem(each) for each in (last, *query.corrections.get(last, ()))}
    return bool(meant & terms) or any(term.startswith(last) for term in terms)
