"""What is asked of a search index, and its text in Lucene syntax, in which nothing a person typed is syntax."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from .fields import SearchField, SearchIndex
from .words import words_of

BEYOND = 10**15
MIN_PREFIX = 2
MIN_FORGIVEN = 4

_PHRASE = re.compile(r'"([^"]*)"')


class Band(NamedTuple):
    """A stretch of a number field to count: `least` and `most` belong to it."""

    label: str
    least: int
    most: int


@dataclass(frozen=True)
class SearchQuery:
    """Every word must match; `prefix` is a last word that may go on; `phrases` are words in a row; filters must hold.

    `filters` is {keyword field: values, one of which must be there}, `ranges` {number field: (least, most)}, `sort` a
    field's name (with `-` for the largest first) or None for relevance. A word that is `forgiven` may differ by one letter if it is not too short.
    """

    words: tuple[str, ...] = ()
    prefix: str | None = None
    phrases: tuple[tuple[str, ...], ...] = ()
    filters: Mapping[str, Sequence[str]] = field(default_factory=dict)
    ranges: Mapping[str, tuple[int | None, int | None]] = field(default_factory=dict)
    sort: str | None = None
    counts: tuple[str, ...] = ()
    bands: Mapping[str, Sequence[Band]] = field(default_factory=dict)
    forgiven: frozenset[str] = frozenset()

    @property
    def all_words(self) -> tuple[str, ...]:
        """Every word that was asked for, in the order typed as far as it is known."""
        spoken = tuple(word for phrase in self.phrases for word in phrase)
        return (*spoken, *self.words, *((self.prefix,) if self.prefix else ()))

    def forgiving(self, words: Iterable[str]) -> "SearchQuery":
        """The same question, one typo forgiven in each of these words."""
        return replace(self, forgiven=frozenset(words))

    def lucene(self, index: SearchIndex) -> str:
        """The query text for `_search` and `_nouveau`."""
        texts = [each for each in index.fields if each.kind == "text"]
        clauses = [self._word(texts, word, last=False) for word in self.words]
        clauses += [self._word(texts, self.prefix, last=True)] if self.prefix else []
        clauses += [
            _any(f'{each.name}:"{" ".join(phrase)}"^{each.weight}' for each in texts)
            for phrase in self.phrases
        ]
        clauses += [
            _any(f"{name}:{quoted(value)}" for value in values) for name, values in self.filters.items()
        ]
        clauses += [f"{name}:[{_low(low)} TO {_high(high)}]" for name, (low, high) in self.ranges.items()]
        return " AND ".join(clauses) or "*:*"

    def _word(self, texts: list[SearchField], word: str, last: bool) -> str:
        # In quotes, because `_search` takes a bare 028 or 1e5 for a number, which no text field holds.
        terms = [f'{each.name}:"{word}"^{each.weight * 2}' for each in texts]
        if last and len(word) >= MIN_PREFIX:
            terms += [f"{each.name}:{word}*^{each.weight}" for each in texts]
        if word in self.forgiven and len(word) >= MIN_FORGIVEN:
            terms += [f"{each.name}:{word}~1^{each.weight}" for each in texts]
        return _any(terms)


def search_for(text: str, **asked: object) -> SearchQuery:
    """The query for what a person typed: "quoted words" are phrases, the last word may be unfinished unless a space follows."""
    phrases = tuple(tuple(found) for quoted_part in _PHRASE.findall(text) if (found := words_of(quoted_part)))
    rest = _PHRASE.sub(" ", text)
    words = words_of(rest)
    unfinished = bool(words) and text[-1:].isalnum()
    return SearchQuery(
        words=tuple(words[:-1] if unfinished else words),
        prefix=words[-1] if unfinished else None,
        phrases=phrases,
        **asked,  # type: ignore[arg-type]
    )


def quoted(value: str) -> str:
    """A value as one exact term of the query language."""
    return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _any(terms: Iterable[str]) -> str:
    return "(" + " OR ".join(terms) + ")"


def _low(value: int | None) -> str:
    return str(0 if value is None else value)


def _high(value: int | None) -> str:
    return str(BEYOND if value is None else value)
