"""What lists show of products, kept by revision: a revision is shown alike until sales or prices of groups decide what it costs."""

from typing import Final

import orjson

from services.products.declarations.product import Product
from services.products.rules.prices import PriceContext, has_terms
from services.products.rules.product import listed

MAX_BYTES: Final = 4 * 1024 * 1024
"""Whole lists are kept too: see `sent_lists`."""
ENTRY_BYTES: Final = 400
"""About what an entry takes besides its text."""


class ProductAnswers:
    """JSON by document, currency and language, of the last revision that was seen; all go when they are too many. Safe for several threads;
    nothing of staff is kept."""

    def __init__(self, max_bytes: int = MAX_BYTES) -> None:
        self._max_bytes, self._bytes = max_bytes, 0
        self._kept: dict[tuple[str, str, str], tuple[str, orjson.Fragment]] = {}

    def listed(self, doc: Product, context: PriceContext) -> orjson.Fragment:
        """The product in a list."""
        key = doc["_id"], context.currency, doc.get("translated_to", "")
        rev = doc.get("_rev", "")
        kept = self._kept.get(key)
        if kept is not None and kept[0] == rev and not context.staff:
            return kept[1]
        text = orjson.dumps(listed(doc, context))
        made = orjson.Fragment(text)
        if rev and not context.staff and not has_terms(doc):
            self._keep(key, (rev, made), len(text) + ENTRY_BYTES)
        return made

    def _keep(self, key: tuple[str, str, str], entry: tuple[str, orjson.Fragment], size: int) -> None:
        if key not in self._kept:
            self._bytes += size
        if self._bytes > self._max_bytes:
            self._kept, self._bytes = {}, size
        if size <= self._max_bytes // 10:
            self._kept[key] = entry
