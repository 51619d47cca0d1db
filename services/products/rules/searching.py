"""What the shop asks of its search index: orders by their public names, and `did you mean`."""

from collections.abc import Sequence
from itertools import groupby
from typing import Final

from services.products.declarations.product import Product
from services.products.documents import PRODUCT_FIELDS
from services.products.rules.typos import nearly_same, one_typo_apart
from shared.couch import Document, Language, SearchQuery, words_of

SORTS: Final = {
    "relevance": None,
    "name": "name_order",
    "-name": "-name_order",
    "price": "price",
    "-price": "-price",
    "rating": "-rank",
}


def rank_ties(docs: Sequence[Product], scores: Sequence[float]) -> list[Product]:
    """A page by relevance, in which equally relevant products stand in stock before sold out, the better rated first."""
    if not scores:
        return list(docs)
    ordered: list[Product] = []
    for _, equals in groupby(zip(docs, scores, strict=True), key=lambda pair: f"{pair[1]:.4g}"):
        some = (doc for doc, _ in equals)
        ordered += sorted(some, key=lambda doc: (doc["stock"] <= 0, -doc["rank"]))
    return ordered


def did_you_mean(query: SearchQuery, language: Language, docs: Sequence[Product]) -> str | None:
    """The query with each mistyped word replaced by what the hits have instead; None when nothing changes."""
    products = [PRODUCT_FIELDS.content(doc) for doc in docs]
    known = [set(words_of(" ".join(short_texts(each)))) for each in products]
    known += [set(words_of(each["description"])) for each in products]
    stems = {language.stem(word) for words in known for word in words}

    def meant(word: str) -> str:
        if word in query.corrections:
            return next((each for each in query.corrections[word] if language.stem(each) in stems), word)
        return _nearest(word, known) if word in query.forgiven else word

    words = [word for word, _ in groupby(meant(word) for word in query.all_words)]
    return " ".join(words) if words != list(query.all_words) else None


def short_texts(product: Document) -> list[str]:
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
    for is_near in (one_typo_apart, nearly_same):
        for words in known:
            if close := sorted(each for each in words if is_near(word, each)):
                return close[0]
    return word
