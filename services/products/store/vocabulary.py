"""Which words the catalogue has, so that a search knows a mistyped word, and what it was meant to be, before it asks the database."""

import logging
import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

from redis import Redis
from redis.exceptions import RedisError

from services.products.declarations.product import Product
from services.products.documents import PRODUCT_FIELDS
from services.products.option_values import attribute_words
from services.products.rules.publishing import is_public
from services.products.rules.searching import short_texts
from services.products.rules.typos import is_likely, is_slip, one_typo_apart, two_edits_apart
from services.products.store.kind_words import KindWords
from services.products.store.word_categories import WordCategories
from services.products.store.word_counts import ENOUGH, WordCounts
from services.products.translations import translated
from shared.couch import Language, compounds_of, letters_of, pairs_of, words_of

_MAX_NEAR = 200_000
_MIN_CORRECTED, _MIN_CORRECTED_TWICE, _MAX_CORRECTIONS = 4, 6, 4
_MIN_LENGTHENED = 3
"""Letters of a word that may lack one, beside others."""
_MAX_JOINED_NUMBER = 8
"""Neighbours with digits are learnt as one up to this length: 9 W, 500 ml."""
_MIN_NAMED = 2
_MIN_MISSPELT = 5
"""Letters of a word that may be a misspelt one though products have it."""
RARE, FAR_MORE = 3, 10
"""A misspelt title is on so few products, and the word that was meant on so many times as many."""
_LONG_WORD, _MORE = 8, 4
"""Long words are seldom alike by chance: there so many times as many are enough."""
_MAX_SCANNED_WORDS, _MAX_SCANNED, _BEGINNING = 2, 2000, 3
_MISSPELT_SECONDS, _MAX_MISSPELT = 60.0, 20_000
_END = "\U0010ffff"
_MARK = "\x00"

log = logging.getLogger(__name__)


class Vocabulary:
    """Words in Redis, learnt from every product that is written or found by a word not known yet; never forgotten.

    Beside each word of a short text (a name, not a description) stands what is left of it without one of its letters: two words
    that share that are one typo apart. A word that nobody knows, because it is mistyped or because Redis lost it, costs
    precision, not a query more, until a job has read all products again (see `word_learning`).
    """

    def __init__(
        self, redis: Redis, database: str, language: Language, translations: Sequence["Translated"] = ()
    ) -> None:
        """`translations`: what learns the same products in other languages."""
        self._redis, self._language, self._translations = redis, language, translations
        self._words, self._typos = f"words:{database}", f"typos:{database}"
        self._suspects = f"suspects:{database}"
        self._counts = WordCounts(redis, database, language)
        self.categories = WordCategories(redis, database, self._words)
        self.kinds = KindWords(redis, database, language)
        self._near: set[str] = set()
        self._misspelt: dict[str, tuple[float, list[str]]] = {}
        self._recent: dict[str, tuple[float, int]] = {}

    def in_language(self, code: str) -> "Vocabulary":
        """That of the products' translations; this one where none are searched in the language."""
        return next((each.words for each in self._translations if each.code == code), self)

    def replace(self, products: Iterable[Product], before: Iterable[Product] = ()) -> None:
        """All words of products that are written now, counted; without those that were there before. Only what the shop shows counts."""
        products, before = list(filter(is_public, products)), list(before)
        for each in self._translations:
            each.words.replace(each.read(products), each.read(before))
        changes = Counter(stem for stems in self._add(products) for stem in stems)
        for doc in filter(is_public, before):
            changes.subtract(self._stems(_read(doc)))
        self._counts.change(changes)

    def learn(self, products: Sequence[Product], *, first: bool) -> None:
        """The words of products that are there already, one part of all of them, counted anew. Raises RedisError."""
        for each in self._translations:
            each.words.learn(each.read(products), first=first)
        if first:
            self._near = set()
            self.categories.forget()
            self.kinds.forget()
        counts = Counter(stem for stems in self._add(products) for stem in stems)
        self._counts.count_anew(counts, first=first)

    def finish_learning(self) -> None:
        """All products were learnt: their counts replace those that were kept. Raises RedisError."""
        for each in self._translations:
            each.words.finish_learning()
        self._counts.replace()

    def add(self, products: Iterable[Product]) -> None:
        """All words of these products, not counted."""
        self._add_words([_read(doc) for doc in products])

    def _add(self, products: Sequence[Product]) -> list[set[str]]:
        """All words of these products, and where they stand; of each the stems that count."""
        read = [_read(doc) for doc in products]
        self._add_words(read)
        self.kinds.add(products)
        stems = [self._stems(each) for each in read]
        self.categories.add(zip(stems, (doc["taxonomy"] for doc in products), strict=True))
        return stems

    def _add_words(self, products: Iterable["_Read"]) -> None:
        spelt: set[str] = set()
        written: set[str] = set()
        suspects: set[str] = set()
        for each in products:
            words = each.words
            suspects |= self._suspects_in(each.product, words)
            spelt.update(words, (one + other for one, other in pairwise(words) if len(one) == 1))
            written.update(words, each.described, letters_of(words), each.compounds)
            written.update(
                pair for pair in pairs_of(words) if len(pair) <= _MAX_JOINED_NUMBER or pair.isalpha()
            )
        short = {word for word in spelt if _correctable(word) and f"~{word}" not in self._near}
        fresh = {term for word in written for term in self._language.terms(word)}
        fresh -= self._near
        if not (fresh or short):
            return
        try:
            pipeline = self._redis.pipeline(transaction=False)
            if fresh:
                pipeline.zadd(self._words, dict.fromkeys(fresh, 0))
            if short:
                pipeline.zadd(
                    self._typos, {f"{each}{_MARK}{word}": 0 for word in short for each in _shortened(word)}
                )
            if suspects:
                pipeline.sadd(self._suspects, *suspects)
            pipeline.execute()
        except RedisError as error:
            log.warning("the vocabulary is not writable: %s", error)
            return
        self._cache_locally(fresh | {f"~{word}" for word in short})

    def unknown(self, words: Iterable[str], beginning: str | None) -> set[str]:
        """Those of the words that no product has in any form, and the `beginning` when no product's word begins so."""
        forms = {word: self._language.own_terms(word) for word in words}
        asked = {form: word for word, its in forms.items() for form in its}
        if beginning:
            asked |= {f"{beginning}*": beginning} | dict.fromkeys(
                self._language.own_terms(beginning), beginning
            )
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

    def corrections(self, words: Iterable[str], *, alone: bool = True) -> dict[str, list[str]]:
        """{word that no product has: the words of short texts that are one typo apart, or two for a long one}, the most frequent
        first; if any have the same first letter, those. None where all that are so near are most likely other words: no typo is to
        be forgiven in such a word. One of three letters is only known to lack one where it is not `alone`."""
        words = [word for word in words if not alone or len(word) >= _MIN_CORRECTED]
        plurals = {word: f"{word}s" for word in words if _correctable(word)}
        neighbours = self._neighbours([*words, *plurals.values()])
        found = {word: _closest(word, neighbours.get(word, ())) for word in words}
        near = {word: _likely(word, others) for word, others in found.items()}
        lost = [
            word
            for word in words
            if not near.get(word) and word.isalpha() and len(word) >= _MIN_CORRECTED_TWICE
        ]
        twice = {word: self._two_edits_apart(word) for word in lost[:_MAX_SCANNED_WORDS]}
        near |= {word: _likely(word, others) for word, others in twice.items()}
        counts = self._counts.of(other for others in near.values() for other in others)
        likely = {word: _likeliest(others, counts) for word, others in near.items()}
        unlike = {word for word in words if found[word] or twice.get(word)} | {
            word
            for word, plural in plurals.items()
            if (others := _closest(plural, neighbours.get(plural, ()))) and not _likely(plural, others)
        }
        return {word: others for word, others in likely.items() if others or word in unlike}

    def misspelt(self, words: Iterable[str]) -> dict[str, list[str]]:
        """{word that hardly any product has: what it was meant to be}, where far more products have that."""
        words, now = list(words), time.monotonic()
        known = {word: self._misspelt.get(word, (0.0, [])) for word in words}
        asked = [
            word
            for word, (at, _) in known.items()
            if word.isalpha() and len(word) >= _MIN_MISSPELT and now - at > _MISSPELT_SECONDS
        ]
        if asked:
            found = self._find_misspelt(asked)
            if len(self._misspelt) > _MAX_MISSPELT:
                self._misspelt = {}
            known |= {word: (now, found.get(word, [])) for word in asked}
            self._misspelt |= {word: known[word] for word in asked}
        return {word: meant for word, (_, meant) in known.items() if meant}

    def is_whole(self, word: str) -> bool:
        """Whether several short texts have the word as it is: who types it has most likely finished it."""
        is_word = len(word) >= _MIN_CORRECTED and word.isalpha()
        return is_word and self._counted([word])[word] > RARE

    def frequent(self, words: Sequence[str]) -> set[str]:
        """Those that the short texts of very many products have."""
        return {word for word, count in self._counted(words).items() if count >= ENOUGH and word.isalpha()}

    def described(self, words: Sequence[str]) -> set[str]:
        """Of several words those that stand in no short text, as far as is known, where at least two of the others do."""
        if len(words) <= _MIN_NAMED:
            return set()
        named = self.named(words)
        return set(words) - named if len(named) >= _MIN_NAMED else set()

    def named(self, words: Sequence[str]) -> set[str]:
        """Those that stand in short texts, as far as is known, as one word or written apart: `tshirt` where there are T-shirts."""
        named = {word for word, count in self._counted(words).items() if count > 0 or not word.isalpha()}
        parts = {
            word: [(word[:n], word[n:]) for n in range(1, len(word)) if len(word) - n >= _MIN_LENGTHENED]
            for word in set(words) - named
        }
        asked = {part for pairs in parts.values() for pair in pairs for part in pair}
        counts = self._counted(asked - self._language.stop_words) if asked else {}
        return named | {
            word
            for word, pairs in parts.items()
            if any(counts.get(one) and counts.get(other) for one, other in pairs)
        }

    def _counted(self, words: Iterable[str]) -> dict[str, int]:
        """How many products have each word in their short texts, 0 where that is unknown; asked of Redis once a minute."""
        now = time.monotonic()
        known = {word: self._recent.get(word, (0.0, 0)) for word in words}
        asked = [word for word, (at, _) in known.items() if now - at > _MISSPELT_SECONDS]
        if asked:
            counts = self._counts.of(asked)
            if len(self._recent) > _MAX_MISSPELT:
                self._recent = {}
            fresh = {word: (now, counts.get(word, 0)) for word in asked}
            self._recent |= fresh
            known |= fresh
        return {word: count for word, (_, count) in known.items()}

    def _find_misspelt(self, words: list[str]) -> dict[str, list[str]]:
        counted = self._counts.of(words)
        rare = {word: counted.get(word, 0) for word in words if counted.get(word, 0) <= RARE}
        stems = {word: self._language.stem(word) for word in rare}
        near = self._neighbours(stems.values()) if rare else {}
        counts = self._counts.of(other for others in near.values() for other in others)
        found: dict[str, list[str]] = {}
        for word, stem in stems.items():
            least = (FAR_MORE if len(stem) < _LONG_WORD else _MORE) * max(rare[word], 1)
            others = near.get(stem, set())
            frequent = [each for each in others if each[0] == stem[0] and counts.get(each, 0) >= least]
            meant = [each for each in frequent if is_slip(stem, each) or self._is_suspect(stem, each)]
            if meant:
                found[word] = _likeliest(meant, counts)
        return found

    def _neighbours(self, words: Iterable[str]) -> dict[str, set[str]]:
        """{word: those of short texts that share what is left of it without a letter}, those with its own stem left out."""
        keys = [(word, each) for word in words for each in _shortened(word)]
        found = self._first_in(self._typos, [(f"{each}{_MARK}", _END) for _, each in keys], most=20)
        near: dict[str, set[str]] = {}
        for (word, _), hits in zip(keys, found or (), strict=False):
            others = {hit.decode().partition(_MARK)[2] for hit in hits}
            near.setdefault(word, set()).update(
                each for each in others if self._language.stem(each) != self._language.stem(word)
            )
        return near

    def _two_edits_apart(self, word: str) -> list[str]:
        found = self._first_in(self._words, [(word[:_BEGINNING], _END)], most=_MAX_SCANNED)
        others = [hit.decode() for hit in (found or [[]])[0]]
        near = [each for each in others if each != word and two_edits_apart(word, each)]
        if len(word) == _MIN_CORRECTED_TWICE:
            near = [each for each in near if each[-1] == word[-1] and len(each) >= len(word)]
        short = self._first_in(self._typos, [(f"{each}{_MARK}{each}", "") for each in near])
        return [each for each, there in zip(near, short or (), strict=False) if there]

    def _suspects_in(self, doc: Product, words: Iterable[str]) -> set[str]:
        """Words of a product that nobody knew, beside what may be meant: a word of its category, keywords or brand."""
        fresh = {
            word
            for word in words
            if word not in self._near and _correctable(word) and len(word) >= _MIN_MISSPELT
        }
        if not fresh:
            return set()
        context = set(words_of(" ".join([*doc["taxonomy"], *doc.get("keywords", ()), doc.get("brand", "")])))
        return {
            f"{word}{_MARK}{form}"
            for word in fresh - context
            for other in context
            for form in self._language.terms(other)
            if one_typo_apart(word, form)
        }

    def _is_suspect(self, word: str, other: str) -> bool:
        """Whether a product with this word had the other one in its category, keywords or brand."""
        try:
            return bool(self._redis.sismember(self._suspects, f"{word}{_MARK}{other}"))
        except RedisError as error:
            log.warning("the vocabulary is not readable: %s", error)
            return False

    def _stems(self, read: "_Read") -> set[str]:
        return set(map(self._language.stem, read.words))

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


class Translated(NamedTuple):
    """The words of products as they read in a language."""

    code: str
    words: Vocabulary

    def read(self, products: Sequence[Product]) -> list[Product]:
        return [translated(doc, self.code) for doc in products]


class _Read(NamedTuple):
    """A product, the words of its short texts and what is held together by signs in them, and the words of its description."""

    product: Product
    words: list[str]
    compounds: list[str]
    described: list[str]


def _read(doc: Product) -> _Read:
    product = PRODUCT_FIELDS.content(doc)
    options = [text for option in doc.get("options", ()) for text in (option["name"], *option["values"])]
    short = " ".join(short_texts(product))
    words = words_of(" ".join([short, *options, *attribute_words(doc)]))
    return _Read(doc, words, compounds_of(short), words_of(product["description"]))


def _correctable(word: str) -> bool:
    return len(word) >= _MIN_CORRECTED and word.isalpha()


def _shortened(word: str) -> set[str]:
    """The word, and the word without one of its letters, each in turn; a word of three letters is itself."""
    if not _correctable(word):
        return {word} if word.isalpha() and len(word) == _MIN_LENGTHENED else set()
    return {word, *(word[:n] + word[n + 1 :] for n in range(len(word)))}


def _closest(word: str, others: Iterable[str]) -> list[str]:
    if len(word) <= _MIN_CORRECTED_TWICE:
        others = [other for other in others if one_typo_apart(word, other)]
    if not _correctable(word):
        return sorted(other for other in others if other[0] == word[0])
    ordered = sorted(others, key=lambda other: (other[0] != word[0], abs(len(other) - len(word)), other))
    return [other for other in ordered if other[0] == word[0]] or ordered


def _likely(word: str, others: Iterable[str]) -> list[str]:
    return [other for other in others if is_likely(word, other)]


def _likeliest(others: Iterable[str], counts: Mapping[str, int]) -> list[str]:
    """The most frequent first, without those that hardly anything has beside it."""
    ordered = sorted(others, key=lambda other: -counts.get(other, 0))[:_MAX_CORRECTIONS]
    return [other for other in ordered if counts.get(other, 0) * FAR_MORE >= counts.get(ordered[0], 0)]
