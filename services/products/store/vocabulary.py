"""Which words the catalogue has, so that a search knows a mistyped word, and what it was meant to be, before it asks the database."""

import logging
from collections.abc import Iterable, Sequence
from typing import Any

from redis import Redis
from redis.exceptions import RedisError

from services.products.documents import PRODUCT_FIELDS
from services.products.rules.searching import one_typo_apart, short_texts
from shared.couch import Doc, Language, pairs_of, words_of

_MAX_NEAR = 200_000
_MIN_CORRECTED, _MIN_CORRECTED_TWICE, _MAX_CORRECTIONS = 4, 8, 4
_END = "\U0010ffff"
_MARK = "\x00"

log = logging.getLogger(__name__)


class Vocabulary:
    """Words in Redis, learnt from every product that is written or found by a word not known yet; never forgotten.

    Beside each word of a short text (a name, not a description) stands what is left of it without one of its letters: two words
    that share that are one typo apart. A word that nobody knows, because it is mistyped or because Redis lost it, costs
    precision, not a query more.
    """

    def __init__(self, redis: Redis, database: str, language: Language) -> None:
        self._redis, self._language = redis, language
        self._words, self._typos = f"words:{database}", f"typos:{database}"
        self._near: set[str] = set()

    def add(self, products: Iterable[Doc]) -> None:
        """All words of these products."""
        short, fresh = set(), set()
        for doc in products:
            words, described = _words(doc)
            short |= {word for word in words if _correctable(word) and f"~{word}" not in self._near}
            joined = [pair for pair in pairs_of(words) if pair.isalpha()]
            fresh |= {term for word in (*words, *joined, *described) for term in self._language.terms(word)}
        fresh -= self._near
        if not fresh and not short:
            return
        try:
            pipeline = self._redis.pipeline(transaction=False)
            if fresh:
                pipeline.zadd(self._words, dict.fromkeys(fresh, 0))
            if short:
                pipeline.zadd(
                    self._typos, {f"{each}{_MARK}{word}": 0 for word in short for each in _shortened(word)}
                )
            pipeline.execute()
        except RedisError as error:
            log.warning("the vocabulary is not writable: %s", error)
            return
        self._cache_locally(fresh | {f"~{word}" for word in short})

    def unknown(self, words: Iterable[str], beginning: str | None) -> set[str]:
        """Those of the words that no product has in any form, and the `beginning` when no product's word begins so."""
        forms = {word: self._language.terms(word) for word in words}
        asked = {form: word for word, its in forms.items() for form in its}
        if beginning:
            asked |= {f"{beginning}*": beginning} | dict.fromkeys(self._language.terms(beginning), beginning)
        known = {word for key, word in asked.items() if key in self._near}
        rest = {key: word for key, word in asked.items() if word not in known}
        found = self._first_in(
            self._words, [(key.rstrip("*"), "" if key[-1] != "*" else _END) for key in rest]
        )
        if found is None:
            return set(rest.values())
        there = {key for key, hits in zip(rest, found, strict=True) if hits}
        self._cache_locally(there)
        return set(asked.values()) - known - {rest[key] for key in there}

    def corrections(self, words: Iterable[str]) -> dict[str, list[str]]:
        """{word: the words of short texts that are one typo apart, for a long one a moved letter too}, if any have the same first letter, those."""
        keys = [(word, each) for word in words if _correctable(word) for each in _shortened(word)]
        found = self._first_in(self._typos, [(f"{each}{_MARK}", _END) for _, each in keys], most=20)
        near: dict[str, set[str]] = {}
        for (word, _), hits in zip(keys, found or (), strict=False):
            near.setdefault(word, set()).update(hit.decode().partition(_MARK)[2] for hit in hits)
        likely = {word: _closest(word, others - {word}) for word, others in near.items()}
        return {word: others for word, others in likely.items() if others}

    def _first_in(self, key: str, ranges: Sequence[tuple[str, str]], most: int = 1) -> list[Any] | None:
        """For each (beginning, rest) the first words of a set from the one to both together; None when Redis does not answer."""
        if not ranges:
            return []
        pipeline = self._redis.pipeline(transaction=False)
        for begin, rest in ranges:
            pipeline.zrangebylex(key, f"[{begin}", f"[{begin}{rest}", start=0, num=most)
        try:
            return list(pipeline.execute())
        except RedisError as error:
            log.warning("the vocabulary is not readable: %s", error)
            return None

    def _cache_locally(self, known: set[str]) -> None:
        if len(self._near) > _MAX_NEAR:
            self._near = set()
        self._near |= known


def _words(doc: Doc) -> tuple[list[str], list[str]]:
    """The words of a product's short texts, and of its description."""
    product = PRODUCT_FIELDS.content(doc)
    return words_of(" ".join(short_texts(product))), words_of(product["description"])


def _correctable(word: str) -> bool:
    return len(word) >= _MIN_CORRECTED and word.isalpha()


def _shortened(word: str) -> set[str]:
    """The word, and the word without one of its letters, each in turn."""
    return {word, *(word[:n] + word[n + 1 :] for n in range(len(word)))}


def _closest(word: str, others: Iterable[str]) -> list[str]:
    if len(word) < _MIN_CORRECTED_TWICE:
        others = [other for other in others if one_typo_apart(word, other)]
    ordered = sorted(others, key=lambda other: (other[0] != word[0], abs(len(other) - len(word)), other))
    same = [other for other in ordered if other[0] == word[0]]
    return (same or ordered)[:_MAX_CORRECTIONS]
