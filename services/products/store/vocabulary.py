"""Which words the catalogue has, so that a search knows a mistyped word before it asks the database."""

import logging
from collections.abc import Iterable

from redis import Redis
from redis.exceptions import RedisError

from services.products.documents import PRODUCT_FIELDS
from shared.couch import Doc, words_of

_MAX_NEAR = 200_000

log = logging.getLogger(__name__)


class Vocabulary:
    """Words in Redis, learnt from every product that is written or found by a word not known yet; never forgotten.

    A word that nobody knows, because it is mistyped or because Redis lost it, costs precision (what lies one typo away
    is found too, behind what fits), not a query more.
    """

    def __init__(self, redis: Redis, database: str) -> None:
        self._redis, self._key = redis, f"words:{database}"
        self._near: set[str] = set()

    def learn(self, products: Iterable[Doc]) -> None:
        """All words of these products."""
        fresh = {word for doc in products for word in words_of(_text(doc))} - self._near
        if not fresh:
            return
        try:
            self._redis.zadd(self._key, dict.fromkeys(fresh, 0))
        except RedisError as error:
            log.warning("the vocabulary is not writable: %s", error)
            return
        self._keep_near(fresh)

    def unknown(self, words: Iterable[str], beginning: str | None) -> set[str]:
        """Those of the words that no product has, and the `beginning` when no product's word begins so."""
        asked = {word: word for word in words} | ({f"{beginning}*": beginning} if beginning else {})
        asked = {key: word for key, word in asked.items() if key not in self._near}
        if not asked:
            return set()
        pipeline = self._redis.pipeline(transaction=False)
        for key, word in asked.items():
            after = word if key == word else f"{word}\U0010ffff"
            pipeline.zrangebylex(self._key, f"[{word}", f"[{after}", start=0, num=1)
        try:
            found = pipeline.execute()
        except RedisError as error:
            log.warning("the vocabulary is not readable: %s", error)
            return set(asked.values())
        known = {key for key, hits in zip(asked, found, strict=True) if hits}
        self._keep_near(known)
        return {word for key, word in asked.items() if key not in known}

    def _keep_near(self, known: set[str]) -> None:
        if len(self._near) > _MAX_NEAR:
            self._near = set()
        self._near |= known


def _text(doc: Doc) -> str:
    product = PRODUCT_FIELDS.content(doc)
    return " ".join([product["name"], product["brand"], *product["keywords"], product["description"]])
