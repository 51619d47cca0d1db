"""One title many times is one row of a search: the best of them, the others beneath."""

from collections.abc import Sequence
from functools import lru_cache

from services.products.declarations.product import Product
from shared.couch import words_of

_MAX_REMEMBERED = 20_000


def grouped(docs: Sequence[Product]) -> list[tuple[Product, list[Product]]]:
    """Each product with those behind it that have the same title."""
    rows: dict[tuple[str, ...], tuple[Product, list[Product]]] = {}
    for doc in docs:
        title = title_of(doc.get("brand", ""), doc["name"])
        if title in rows:
            rows[title][1].append(doc)
        else:
            rows[title] = (doc, [])
    return list(rows.values())


@lru_cache(_MAX_REMEMBERED)
def title_of(brand: str, name: str) -> tuple[str, ...]:
    """The same for all that have this brand and, but for signs and case, this name."""
    return (brand, *words_of(name))
