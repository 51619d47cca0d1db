"""How many products have a word in their short texts: what tells a misspelt title from a word of its own."""

import logging
from collections import Counter
from collections.abc import Iterable
from typing import Final, cast

from redis import Redis
from redis.exceptions import RedisError

from shared.couch import Language

ENOUGH: Final = 500
"""A word that so many products have is frequent: it is not counted on."""
_MAX_LOCAL = 50_000

log = logging.getLogger(__name__)


class WordCounts:
    """Of stems, in Redis, counted when products are written. What Redis lost is unknown, not none."""

    def __init__(self, redis: Redis, database: str, language: Language) -> None:
        self._redis, self._language = redis, language
        self._key = f"word-counts:{database}"
        self._building = f"{self._key}:building"
        self._frequent: set[str] = set()

    def change(self, changes: Counter[str]) -> None:
        """So many products more (or fewer) have each stem."""
        wanted = [(stem, change) for stem, change in changes.items() if change and stem not in self._frequent]
        if not wanted:
            return
        pipeline = self._redis.pipeline(transaction=False)
        for stem, change in wanted:
            pipeline.hincrby(self._key, stem, change)
        try:
            counts = pipeline.execute()
        except RedisError as error:
            log.warning("words cannot be counted: %s", error)
            return
        if len(self._frequent) > _MAX_LOCAL:
            self._frequent = set()
        self._frequent |= {stem for (stem, _), count in zip(wanted, counts, strict=True) if count >= ENOUGH}

    def count_anew(self, counts: Counter[str], *, first: bool) -> None:
        """Counts that will replace all others. Raises RedisError."""
        pipeline = self._redis.pipeline(transaction=False)
        if first:
            pipeline.delete(self._building)
        for stem, count in counts.items():
            pipeline.hincrby(self._building, stem, count)
        pipeline.execute()

    def replace(self) -> None:
        """What was counted anew counts from now on. Raises RedisError."""
        if self._redis.exists(self._building):
            self._redis.rename(self._building, self._key)

    def of(self, words: Iterable[str]) -> dict[str, int]:
        """{word: how many products have it in any form}, for those of which that is known."""
        asked = list(dict.fromkeys(words))
        if not asked:
            return {}
        stems = [self._language.stem(each) for each in asked]
        try:
            found = cast(list[bytes | None], self._redis.hmget(self._key, stems))
        except RedisError as error:
            log.warning("word counts are not readable: %s", error)
            return {}
        return {word: int(count) for word, count in zip(asked, found, strict=True) if count is not None}
