"""One title many times is one row of a search: the best of them, the others beneath. What has the title of a row on an earlier page
is no row again: a cursor keeps which titles were shown."""

import base64
import zlib
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Any, Final

from services.products.declarations.product import Product
from shared.couch import words_of

MAX_SHOWN: Final = 400
"""So many titles, the last ones, fit into an address beside all else."""
_MAX_REMEMBERED, _DIGEST = 10_000, 3
_TITLES, _AFTER = "titles", "page"


def grouped(docs: Sequence[Product]) -> list[tuple[Product, list[Product]]]:
    """Each product with those behind it that have the same title."""
    rows: dict[str, tuple[Product, list[Product]]] = {}
    for doc in docs:
        title = _title(doc)
        if title in rows:
            rows[title][1].append(doc)
        else:
            rows[title] = (doc, [])
    return list(rows.values())


@lru_cache(_MAX_REMEMBERED)
def _title_of(brand: str, name: str) -> str:
    """The same for all that have this brand and, but for signs and case, this name."""
    return "\n".join((brand, *words_of(name)))


def _title(doc: Product) -> str:
    return _title_of(doc.get("brand", ""), doc["name"])


class ShownTitles:
    """The titles that are rows of earlier pages."""

    def __init__(self, digests: Iterable[bytes] = ()) -> None:
        self._digests = dict.fromkeys(digests)

    def has(self, doc: Product) -> bool:
        return bool(self._digests) and _digest(doc) in self._digests

    def cursor(self, following: Any, docs: Iterable[Product]) -> dict[str, Any]:
        """Where the next page begins, and the titles that were shown up to there."""
        digests = [*self._digests, *(digest for digest in map(_digest, docs) if digest not in self._digests)]
        text = base64.b64encode(b"".join(digests[-MAX_SHOWN:])).decode()
        return {_TITLES: text, _AFTER: following}


def opened(cursor: Any) -> tuple[Any, ShownTitles]:
    """Where a page begins, and the titles that were shown before; the cursors of the last release kept none."""
    if not (isinstance(cursor, dict) and _TITLES in cursor):
        return cursor, ShownTitles()
    text = base64.b64decode(cursor[_TITLES])
    return cursor[_AFTER], ShownTitles(text[n : n + _DIGEST] for n in range(0, len(text), _DIGEST))


def _digest(doc: Product) -> bytes:
    return zlib.crc32(_title(doc).encode()).to_bytes(4, "big")[-_DIGEST:]
