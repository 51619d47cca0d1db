"""In which categories words stand, and which words were found to stand nowhere together: what a search asks first."""

import hashlib
import logging
import time
import zlib
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import combinations
from typing import Final, cast

from redis import Redis
from redis.exceptions import RedisError

MAX_CATEGORIES: Final = 8
"""A word of more categories may stand beside any other."""
MAX_PREDICTED: Final = 4
"""Of more words, a search for as many of them as there are does not show first what has all."""
REMEMBERED_SECONDS: Final = 600
_LOCAL_SECONDS, _MAX_LOCAL = 60.0, 100_000
_MARK, _END = "\x00", "\U0010ffff"

log = logging.getLogger(__name__)


class WordCategories:
    """A forecast for every process, in Redis: when it is wrong, or unknown, a search costs one query more and is right all the same."""

    def __init__(self, redis: Redis, database: str, words_key: str) -> None:
        self._redis, self._words = redis, words_key
        self._key, self._found = f"word-categories:{database}", f"words-together:{database}:"
        self._written: dict[str, int] = {}
        self._pairs: set[int] = set()
        self._known: dict[tuple[str, ...], tuple[float, bool, frozenset[str]]] = {}

    def add(self, products: Iterable[tuple[Iterable[str], Sequence[str]]]) -> None:
        """The words of each product stand in its category. One command for all of them."""
        if len(self._pairs) > _MAX_LOCAL:
            self.forget()
        fresh = [member for stems, taxonomy in products for member in self._fresh(stems, taxonomy)]
        if fresh:
            try:
                self._redis.zadd(self._key, dict.fromkeys(fresh, 0))
            except RedisError as error:
                log.warning("categories of words cannot be kept: %s", error)

    def forget(self) -> None:
        """Writes everything again that this process has written."""
        self._written, self._pairs = {}, set()

    def _fresh(self, stems: Iterable[str], taxonomy: Sequence[str]) -> Iterator[str]:
        category = f"{zlib.crc32('#'.join(taxonomy).encode()):08x}"
        for stem in stems:
            pair = hash((stem, category))
            if pair not in self._pairs and self._written.get(stem, 0) <= MAX_CATEGORIES:
                self._pairs.add(pair)
                self._written[stem] = self._written.get(stem, 0) + 1
                yield f"{stem}{_MARK}{category}"

    def are_apart(self, stems: Collection[str], beside: Collection[tuple[str, str, str]]) -> bool:
        """Whether no product is likely to have all of them: two of them have no category in common, or a search found nothing.

        `beside` are neighbours: both written as one, and the stem of each. What some title has as one word or side by side is together.
        """
        words, now = tuple(sorted(set(stems))), time.monotonic()
        at, apart, _ = self._known.get(words, (-_LOCAL_SECONDS, False, frozenset()))
        if now - at < _LOCAL_SECONDS:
            return apart
        try:
            apart, lost = self._look_up(words, beside)
        except RedisError as error:
            log.warning("categories of words are not readable: %s", error)
            return False
        self._keep(words, apart, lost)
        return apart

    def lost(self, stems: Collection[str]) -> frozenset[str]:
        """Those of words just asked about that a search did without, as it found out."""
        return self._known.get(tuple(sorted(set(stems))), (0.0, False, frozenset[str]()))[2]

    def remember(self, stems: Collection[str], *, apart: bool, lost: Collection[str] = ()) -> None:
        """What a search found out, and which of the words it did without."""
        words = tuple(sorted(set(stems)))
        self._keep(words, apart, frozenset(lost))
        value = f"{'apart' if apart else 'together'}:{' '.join(sorted(lost))}"
        try:
            self._redis.set(self._remembered(words), value, ex=REMEMBERED_SECONDS)
        except RedisError as error:
            log.warning("words cannot be remembered: %s", error)

    def _look_up(
        self, words: tuple[str, ...], beside: Collection[tuple[str, str, str]]
    ) -> tuple[bool, frozenset[str]]:
        pipeline = self._redis.pipeline(transaction=False)
        pipeline.get(self._remembered(words))
        for word in words:
            bounds = f"[{word}{_MARK}", f"[{word}{_MARK}{_END}"
            pipeline.zrangebylex(self._key, *bounds, start=0, num=MAX_CATEGORIES + 1)
        for joined, _, _ in beside:
            pipeline.zscore(self._words, joined)
        remembered, *found = pipeline.execute()
        if remembered is not None:
            kind, _, lost = remembered.decode().partition(":")
            return kind == "apart", frozenset(lost.split())
        places = zip(words, cast(list[list[bytes]], found), strict=False)
        categories = {
            word: {each.rpartition(_MARK.encode())[2] for each in hits}
            for word, hits in places
            if 0 < len(hits) <= MAX_CATEGORIES
        }
        scores = found[len(words) :]
        together = {
            frozenset(pair[1:]) for pair, score in zip(beside, scores, strict=True) if score is not None
        }
        apart = len(words) <= MAX_PREDICTED and any(
            categories[one].isdisjoint(categories[other])
            for one, other in combinations(categories, 2)
            if frozenset((one, other)) not in together
        )
        return apart, frozenset()

    def _keep(self, words: tuple[str, ...], apart: bool, lost: frozenset[str]) -> None:
        if len(self._known) > _MAX_LOCAL // 10:
            self._known = {}
        self._known[words] = (time.monotonic(), apart, lost)

    def _remembered(self, words: tuple[str, ...]) -> str:
        return self._found + hashlib.sha1(" ".join(words).encode(), usedforsecurity=False).hexdigest()
