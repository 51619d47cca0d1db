"""What the API answers of products, kept by revision: a revision is answered alike until sales or prices of groups decide what it costs."""

from collections.abc import Callable
from typing import Final, Generic, TypeVar

import orjson

from services.products.declarations.product import Product
from services.products.rules.prices import PriceContext, has_terms
from services.products.rules.product import etag, listed, public

T = TypeVar("T")

MAX_BYTES: Final = 4 * 1024 * 1024
"""Whole lists are kept too: see `list_texts`."""
ENTRY_BYTES: Final = 400
"""About what an entry takes besides its text."""


class ProductAnswers:
    """JSON of products as lists and as their own pages show them. Safe for several threads; nothing of staff is kept."""

    def __init__(self, max_bytes: int = MAX_BYTES) -> None:
        self._listed: _ByRevision[orjson.Fragment] = _ByRevision(max_bytes)
        self._pages: _ByRevision[tuple[bytes, str]] = _ByRevision(max_bytes // 2)

    def listed(self, doc: Product, context: PriceContext) -> orjson.Fragment:
        """The product in a list."""

        def make() -> tuple[orjson.Fragment, int]:
            text = orjson.dumps(listed(doc, context))
            return orjson.Fragment(text), len(text)

        return self._listed.get(doc, context, make)

    def page(self, doc: Product, context: PriceContext) -> tuple[bytes, str]:
        """The product by itself, and its ETag."""

        def make() -> tuple[tuple[bytes, str], int]:
            text = orjson.dumps(public(doc, context))
            return (text, etag(doc, context)), len(text)

        return self._pages.get(doc, context, make)


class _ByRevision(Generic[T]):
    """By document, currency and language the answer of the last revision that was seen; all go when they are too many."""

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes, self._bytes = max_bytes, 0
        self._kept: dict[tuple[str, str, str], tuple[str, T]] = {}

    def get(self, doc: Product, context: PriceContext, make: Callable[[], tuple[T, int]]) -> T:
        key = doc["_id"], context.currency, doc.get("translated_to", "")
        rev = doc.get("_rev", "")
        kept = self._kept.get(key)
        if kept is not None and kept[0] == rev and not context.staff:
            return kept[1]
        made, size = make()
        if rev and not context.staff and not has_terms(doc):
            self._keep(key, (rev, made), size + ENTRY_BYTES)
        return made

    def _keep(self, key: tuple[str, str, str], entry: tuple[str, T], size: int) -> None:
        if key not in self._kept:
            self._bytes += size
        if self._bytes > self._max_bytes:
            self._kept, self._bytes = {}, size
        if size <= self._max_bytes // 10:
            self._kept[key] = entry
