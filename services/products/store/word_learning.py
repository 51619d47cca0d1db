"""Reads all products' words into Redis again: what an older version wrote, and what Redis lost, is learnt within minutes; what counts
have drifted is right again a day later. Done in parts, so that no other job waits for it."""

from collections.abc import Sequence

from redis import Redis

from services.products.declarations.product import Product
from services.products.store.vocabulary import Vocabulary

LEARNT_SECONDS = 24 * 3600


class WordLearning:
    """How far it is, in Redis. Everything raises RedisError."""

    def __init__(self, redis: Redis, database: str, vocabulary: Vocabulary) -> None:
        self._redis, self._vocabulary = redis, vocabulary
        self._learnt, self._place = f"words-learnt:{database}", f"words-learnt:{database}:place"

    def is_done(self) -> bool:
        """Whether all words were learnt within a day."""
        return bool(self._redis.exists(self._learnt))

    def place(self) -> str | None:
        """The cursor of the page that comes next; None at the beginning."""
        place = self._redis.get(self._place)
        return place.decode() if isinstance(place, bytes) else None

    def learn(self, products: Sequence[Product], following: str | None, *, first: bool) -> None:
        """A page of products, behind which `following` comes; None after the last one."""
        self._vocabulary.learn(products, first=first)
        if following is not None:
            self._redis.set(self._place, following, ex=LEARNT_SECONDS)
            return
        self._vocabulary.finish_learning()
        self._redis.delete(self._place)
        self._redis.set(self._learnt, b"1", ex=LEARNT_SECONDS)
