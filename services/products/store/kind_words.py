"""Which words name a kind of product: those that categories are called by. Of several words they are the last to leave out."""

import logging
import time
from collections.abc import Iterable, Sequence
from typing import Final, cast

from redis import Redis
from redis.exceptions import RedisError

from services.products.declarations.product import Product
from shared.couch import Language, pairs_of, words_of

_MAX_LOCAL: Final = 50_000
_LOCAL_SECONDS: Final = 60.0

log = logging.getLogger(__name__)


class KindWords:
    """Stems of the words of all categories, and of neighbours written as one, in Redis; never forgotten. A word that Redis lost
    names no kind until it is learnt again."""

    def __init__(self, redis: Redis, database: str, language: Language) -> None:
        self._redis, self._language, self._key = redis, language, f"kind-words:{database}"
        self._written: set[str] = set()
        self._known: dict[str, tuple[float, bool]] = {}

    def add(self, products: Iterable[Product]) -> None:
        """Those of the products' categories. At most one command for all of them."""
        if len(self._written) > _MAX_LOCAL:
            self.forget()
        levels = {level for doc in products for level in doc["taxonomy"]} - self._written
        if stems := {stem for level in levels for stem in self._stems(level)}:
            try:
                self._redis.sadd(self._key, *stems)
            except RedisError as error:
                log.warning("words of categories cannot be kept: %s", error)
                return
        self._written |= levels

    def forget(self) -> None:
        """Writes everything again that this process has written."""
        self._written = set()

    def among(self, words: Sequence[str]) -> list[str]:
        """Those of the words that name a kind, in any of their forms. At most one command, kept for a minute."""
        now, stems = time.monotonic(), {word: self._language.stem(word) for word in words}
        asked = [
            stem
            for stem in stems.values()
            if now - self._known.get(stem, (-_LOCAL_SECONDS, False))[0] >= _LOCAL_SECONDS
        ]
        if asked:
            try:
                there = cast(list[int], self._redis.smismember(self._key, asked))
            except RedisError as error:
                log.warning("words of categories are not readable: %s", error)
                return []
            if len(self._known) > _MAX_LOCAL:
                self._known = {}
            self._known |= {stem: (now, bool(found)) for stem, found in zip(asked, there, strict=True)}
        return [word for word, stem in stems.items() if self._known[stem][1]]

    def _stems(self, level: str) -> set[str]:
        words = words_of(level)
        telling = [word for word in words if word not in self._language.stop_words]
        return {self._language.stem(word) for word in (*telling, *pairs_of(words)) if word.isalpha()}
