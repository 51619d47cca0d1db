"""What is asked of a search index, and its text in Lucene syntax, in which nothing a person typed is syntax."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import NamedTuple, TypedDict, Unpack

from .fields import SHORT, SearchIndex
from .languages import Language
from .words import pairs_of, words_of

UNBOUNDED = 10**15
MAX_WORDS, MAX_COMBINED_WORDS = 16, 4
MIN_PREFIX = 2
MIN_FORGIVEN, MIN_FORGIVEN_TWICE = 4, 8

_PHRASE = re.compile(r'"([^"]*)"')


class Band(NamedTuple):
    """A stretch of a number field to count: `least` and `most` belong to it."""

    label: str
    least: int
    most: int


@dataclass(frozen=True)
class SearchQuery:
    """Every word must match; `prefix` is a last word that may go on; `phrases` are words in a row; filters must hold.

    `filters` is {keyword field: values, one of which must be there}, for a member of a `pairs` field {field.name: values}, `ranges` {number field: (least, most)}, `sort` a
    field's name (with `-` for the largest first) or None for relevance. A word that is `forgiven` may differ by a letter (a long one
    by two); for a word that has `corrections` one of these does, for words in a row that have `synonyms` one row of these. An
    `optional` word only moves what has it forward; with `any_word` all are, but what has more of them comes first.
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
    corrections: Mapping[str, Sequence[str]] = field(default_factory=dict)
    synonyms: Mapping[tuple[str, ...], Sequence[tuple[str, ...]]] = field(default_factory=dict)
    optional: frozenset[str] = frozenset()
    any_word: bool = False

    @property
    def all_words(self) -> tuple[str, ...]:
        """Every word that was asked for, in the order typed as far as it is known."""
        spoken = tuple(word for phrase in self.phrases for word in phrase)
        return (*spoken, *self.words, *((self.prefix,) if self.prefix else ()))

    @property
    def loose_words(self) -> tuple[str, ...]:
        """Those outside of phrases, in the order typed."""
        return (*self.words, *((self.prefix,) if self.prefix else ()))

    def content_words(self, language: Language) -> list[str]:
        """The loose words without those that say nothing, unless there are no others; no more than a server takes clauses for."""
        words = [word for word in self.loose_words if word not in language.stop_words]
        return list(dict.fromkeys(words or self.loose_words))[:MAX_WORDS]

    def content_rows(self, language: Language) -> list[tuple[tuple[str, ...], Sequence[tuple[str, ...]]]]:
        """The content words one by one, but those that have synonyms together: each row with its synonyms."""
        words = tuple(self.content_words(language))
        lengths = sorted({len(row) for row in self.synonyms}, reverse=True)
        rows, place = [], 0
        while place < len(words):
            found = (words[place : place + length] for length in lengths)
            row = next((each for each in found if each in self.synonyms), words[place : place + 1])
            rows.append((row, self.synonyms.get(row, ())))
            place += len(row)
        return rows

    @property
    def words_with_synonyms(self) -> frozenset[str]:
        return frozenset(word for row in self.synonyms for word in row)

    def ignored_words(self, language: Language) -> list[str]:
        """Those that are too many to be asked."""
        asked = language.stop_words.union(self.content_words(language))
        return [word for word in dict.fromkeys(self.loose_words) if word not in asked]

    def without_filter(self, name: str) -> "SearchQuery":
        """The same question, whatever is in this field."""
        filters = {each: values for each, values in self.filters.items() if each != name}
        return replace(
            self,
            filters=filters,
            ranges={each: bounds for each, bounds in self.ranges.items() if each != name},
        )

    def condition(self) -> tuple[object, ...]:
        """All that decides what is found, whatever the order and the counts."""
        return (
            self.words,
            self.prefix,
            self.phrases,
            sorted(self.filters.items()),
            sorted(self.ranges.items()),
            sorted(self.forgiven),
            sorted(self.corrections.items()),
            sorted(self.synonyms.items()),
            sorted(self.optional),
            self.any_word,
        )

    def without(self, words: Iterable[str]) -> "SearchQuery":
        """The same question without these words."""
        gone = set(words)
        prefix = None if self.prefix in gone else self.prefix
        return replace(self, words=tuple(word for word in self.words if word not in gone), prefix=prefix)

    def lucene(self, index: SearchIndex) -> str:
        """The query text for `_search` and `_nouveau`."""
        required, optional = self._loose(index)
        required += [
            _any(f'{each.name}:"{_row(phrase, index.language)}"^{each.weight}' for each in index.texts)
            for phrase in self.phrases
        ]
        required += [_any(_filter(name, value) for value in values) for name, values in self.filters.items()]
        required += [f"{name}:[{_low(low)} TO {_high(high)}]" for name, (low, high) in self.ranges.items()]
        if not optional:
            return " AND ".join(required) or "*:*"
        return " ".join([*(f"+{clause}" for clause in required), *optional])

    def _loose(self, index: SearchIndex) -> tuple[list[str], list[str]]:
        """The clauses of the loose words: those that must match, and those that need not."""
        loose, content = self.loose_words, set(self.content_words(index.language))
        clauses = {
            word: self._word(index, word, pairs_of(list(loose[max(0, n - 1) : n + 2])), word == self.prefix)
            for n, word in enumerate(loose)
            if word in content
        }
        rows = {
            row: _any([_all(clauses[word] for word in row), *(_synonym(index, each) for each in synonyms)])
            if synonyms
            else clauses[row[0]]
            for row, synonyms in self.content_rows(index.language)
        }
        if self.any_word and len(rows) > 1:
            return [_as_many_as_possible(list(rows.values()))], []
        required = [clause for row, clause in rows.items() if not self.optional.issuperset(row)]
        return required, [f"{clause}^100" for row, clause in rows.items() if self.optional.issuperset(row)]

    def _word(self, index: SearchIndex, word: str, pairs: list[str], last: bool) -> str:
        # In quotes, because `_search` takes a bare 028 or 1e5 for a number, which no text field holds.
        stem = index.language.stem
        best = max(each.weight for each in index.texts)
        terms = [
            f'{each.name}:"{word if each.code else stem(word)}"^{each.weight * 2}' for each in index.texts
        ]
        if stem(word) != word:
            terms += [f'{each.name}:"{word}"^{each.weight}' for each in index.texts if each.weight == best]
        if any(each.short for each in index.texts):
            terms += [f'{SHORT}:"{stem(each)}"^{best}' for each in dict.fromkeys([word, *pairs])]
        for each in self.corrections.get(word, ()):
            terms += [f'{field.name}:"{stem(each)}"^{field.weight}' for field in index.texts]
        if last and len(word) >= MIN_PREFIX:
            terms += [
                f"{each}:{word}*^{weight}"
                for each, weight in _beginnings(
                    index, word, lost=word in self.forgiven or word in self.corrections
                )
            ]
        if word in self.forgiven and len(word) >= MIN_FORGIVEN and word.isalpha():
            edits = 2 if len(word) >= MIN_FORGIVEN_TWICE else 1
            terms += [f"{each}:{word}~{edits}^1" for each in _forgiving_fields(index)]
        return _any(terms)


class SearchOptions(TypedDict, total=False):
    """What a search asks for besides its words: see SearchQuery."""

    filters: Mapping[str, Sequence[str]]
    ranges: Mapping[str, tuple[int | None, int | None]]
    sort: str | None
    counts: tuple[str, ...]
    bands: Mapping[str, Sequence[Band]]


def search_for(text: str, **options: Unpack[SearchOptions]) -> SearchQuery:
    """The query for what a person typed: "quoted words" are phrases, the last word may be unfinished unless a space follows."""
    phrases = tuple(tuple(found) for quoted_part in _PHRASE.findall(text) if (found := words_of(quoted_part)))
    rest = _PHRASE.sub(" ", text)
    words = words_of(rest)
    unfinished = bool(words) and text[-1:].isalnum()
    return SearchQuery(
        words=tuple(words[:-1] if unfinished else words),
        prefix=words[-1] if unfinished else None,
        phrases=phrases,
        **options,
    )


def filter_term(name: str, value: str) -> tuple[str, str]:
    """The field and the value in it that a filter names."""
    field_name, dot, member = name.partition(".")
    return field_name, f"{member}={value}" if dot else value


def _filter(name: str, value: str) -> str:
    field_name, term = filter_term(name, value)
    return f"{field_name}:{quoted(term)}"


def quoted(value: str) -> str:
    """A value as one exact term of the query language."""
    return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _beginnings(index: SearchIndex, word: str, *, lost: bool) -> list[tuple[str, int]]:
    """The fields in which a word may go on, each with its weight: short texts are asked together, but for the weightiest; codes
    for a word with digits, and for one that is no word at all."""
    best = max(each.weight for each in index.texts)
    numbered = lost or not word.isalpha()
    found = [
        (each.name, each.weight)
        for each in index.texts
        if (numbered if each.code else not each.short or each.weight == best)
    ]
    return found + ([(SHORT, 1)] if any(each.short for each in index.texts) else [])


def _forgiving_fields(index: SearchIndex) -> list[str]:
    """Where typos are looked for: short texts together; a long text has words that are near to anything."""
    if any(each.short for each in index.texts):
        return [SHORT]
    return [each.name for each in index.texts]


def _row(phrase: Sequence[str], language: Language) -> str:
    """The words as they stand in the index, in a row."""
    return " ".join(term for word in phrase for term in language.terms(word))


def _as_many_as_possible(clauses: list[str]) -> str:
    """Any of them; all count for more than all but one do, and so on down."""
    tiers = []
    for size in range(len(clauses) if len(clauses) <= MAX_COMBINED_WORDS else 1, 0, -1):
        together = [" AND ".join(some) for some in combinations(clauses, size)]
        tiers += [f"({each})^{100 ** (size - 1)}" for each in together]
    return _any(tiers)


def _synonym(index: SearchIndex, row: Sequence[str]) -> str:
    """All words of a row, each in any of its forms."""
    stem = index.language.stem
    return _all(_any(f'{each.name}:"{stem(word)}"^{each.weight}' for each in index.texts) for word in row)


def _all(clauses: Iterable[str]) -> str:
    return "(" + " AND ".join(clauses) + ")"


def _any(terms: Iterable[str]) -> str:
    return "(" + " OR ".join(terms) + ")"


def _low(value: int | None) -> str:
    return str(0 if value is None else value)


def _high(value: int | None) -> str:
    return str(UNBOUNDED if value is None else value)
