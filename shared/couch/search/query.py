"""What is asked of a search index, and its text in Lucene syntax, in which nothing a person typed is syntax."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import combinations, product
from typing import NamedTuple, TypedDict, Unpack

from ..copies import altered
from .clauses import SHORT, Word, begun_pair
from .fields import SearchIndex
from .languages import Language
from .words import pairs_of, words_of

UNBOUNDED = 10**15
MAX_WORDS, MAX_COMBINED_WORDS = 16, 4
MAX_EXCLUDING_WORDS, MAX_EXCLUDED_ROWS = 5, 40
SEVERAL = 2
PATH_WEIGHT = 6
_MAX_REMEMBERED, _MAX_CLAUSES = 10_000, 1_000

_CODE = re.compile(r"[0-9]|[^\W_][-._/][^\W_]")
_PHRASE = re.compile(r'"([^"]*)"')


class Band(NamedTuple):
    """A stretch of a number field to count: `min` and `max` belong to it."""

    label: str
    min: int
    max: int


class _Clauses(NamedTuple):
    """Of a query's words: what must match, what need not, and what must not."""

    required: tuple[str, ...]
    optional: tuple[str, ...]
    excluded: tuple[str, ...]


@dataclass(frozen=True)
class SearchQuery:
    """Every word must match; `prefix` is a last word that may go on; `phrases` are words in a row; filters must hold.

    `filters` is {keyword field: values, one of which must be there}, for a member of a `pairs` field {field.name: values}, `ranges` {number field: (min, max)}, `sort` a
    field's name (with `-` for the largest first) or None for relevance. A word that is `forgiven` may differ by a letter (a long one
    by two); for a word that has `corrections` one of these does, for words in a row that have `synonyms` one row of these; what is at or below one of the `paths` of a word
    has it too, in an index that has a field of them. An `optional` word only moves what has it forward; with `any_word` all are, but what has more of them comes first. Where very
    many products are `named` by each of several words at least one must be in a short text, if the server can tell them apart. With `code` the words may be an article number: they have digits, or signs hold them together.
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
    paths: Mapping[str, Sequence[str]] = field(default_factory=dict)
    optional: frozenset[str] = frozenset()
    named: frozenset[str] = frozenset()
    any_word: bool = False
    code: bool = False

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
        return list(_content_words(self.loose_words, language))

    def content_rows(self, language: Language) -> list[tuple[tuple[str, ...], Sequence[tuple[str, ...]]]]:
        """The content words one by one, but those that have synonyms together: each row with its synonyms."""
        words = _content_words(self.loose_words, language)
        if not self.synonyms:
            return [((word,), ()) for word in words]
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
        return altered(
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
            sorted(self.paths.items()),
            sorted(self.optional),
            sorted(self.named),
            self.any_word,
        )

    def finished(self) -> "SearchQuery":
        """The same question with a last word that is whole."""
        return altered(self, words=self.loose_words, prefix=None) if self.prefix else self

    def without(self, words: Iterable[str]) -> "SearchQuery":
        """The same question without these words."""
        gone = set(words)
        prefix = None if self.prefix in gone else self.prefix
        return altered(self, words=tuple(word for word in self.words if word not in gone), prefix=prefix)

    def lucene(self, index: SearchIndex) -> str:
        """The query text for `_search` and `_nouveau`."""
        required, optional, excluded = self._clauses(index)
        filters = (_any(_filter(name, value) for value in values) for name, values in self.filters.items())
        ranges = (f"{name}:[{_low(low)} TO {_high(high)}]" for name, (low, high) in self.ranges.items())
        required = (*required, *filters, *ranges)
        if optional:
            return " ".join(
                [*(f"+{clause}" for clause in required), *optional, *(f"-{each}" for each in excluded)]
            )
        return " AND ".join([*required, *(f"NOT {each}" for each in excluded)]) or "*:*"

    def _clauses(self, index: SearchIndex) -> "_Clauses":
        """Those of the words. The same words come again and again: what asks for them alone is remembered."""
        if self.corrections or self.synonyms or self.paths:
            return self._made_clauses(index)
        words = (self.words, self.prefix, self.phrases, self.forgiven, self.optional, self.named)
        return _clauses_of_words(index, *words, self.any_word, self.code)

    def _made_clauses(self, index: SearchIndex) -> "_Clauses":
        named = self.named_words(index.language)
        required, optional = self._loose(index, named)
        required += self._naming(index, named)
        required += [
            _any(f'{each.name}:"{_row(phrase, index.language)}"^{each.weight}' for each in index.texts)
            for phrase in self.phrases
        ]
        excluded = [
            f"{field.name}:{quoted(row)}"
            for field in index.exclusions
            for row in self.excluded_rows(index.language)
        ]
        return _Clauses(tuple(required), tuple(optional), tuple(excluded))

    def head(self, language: Language) -> str:
        """The word that says what is looked for, as far as one can see: the last before a preposition that names a thing, no person."""
        words = self.loose_words
        place = next((n for n, word in enumerate(words) if n and word in language.prepositions), len(words))
        things = [
            word
            for word in words[:place]
            if word.isalpha() and word not in language.stop_words and not language.is_person(word)
        ]
        return things[-1] if things else ""

    def named_words(self, language: Language) -> list[str]:
        """Those of which one must be in a short text: all that need be there, if so many products are named by each of them. What says for
        whom a thing is names none."""
        content = self.content_words(language)
        if len(content) < SEVERAL or self.any_word or self.synonyms or self.paths:
            return []
        things = [word for word in content if word not in self.optional and not language.is_person(word)]
        return things if self.named.issuperset(things) else []

    def _naming(self, index: SearchIndex, named: list[str]) -> list[str]:
        if not named or not any(each.short for each in index.texts):
            return []
        forms = dict.fromkeys(map(index.language.stem, (*named, *pairs_of(list(self.loose_words)))))
        return [_any(f'{SHORT}:"{form}"' for form in forms) + "^0"]

    def excluded_rows(self, language: Language) -> list[str]:
        """What a document must not have in a field of kind `exclusion`: two and three of the words, in any meaning, as stems."""
        words = [word for word in self.content_words(language) if word not in self.optional][
            :MAX_EXCLUDING_WORDS
        ]
        meanings = [self._meanings(word, language) for word in words]
        rows = (
            " ".join(sorted(stems))
            for size in (2, 3)
            for some in combinations(meanings, size)
            for stems in product(*some)
        )
        return list(dict.fromkeys(rows))[:MAX_EXCLUDED_ROWS]

    def _meanings(self, word: str, language: Language) -> list[str]:
        """The stems of a word, of its corrections and of its synonyms of one word."""
        synonyms = [row[0] for row in self.synonyms.get((word,), ()) if len(row) == 1]
        return list(dict.fromkeys(map(language.stem, (word, *self.corrections.get(word, ()), *synonyms))))

    def _loose(self, index: SearchIndex, named: list[str]) -> tuple[list[str], list[str]]:
        """The clauses of the loose words: those that must match, and those that need not."""
        loose, content = self.loose_words, set(self.content_words(index.language))
        begun, head = begun_pair(loose) if self.prefix else "", self.head(index.language)
        clauses = {
            word: self._or_below(
                word,
                index,
                index.clause_of(
                    Word(
                        word,
                        tuple(pairs_of(list(loose[max(0, n - 1) : n + 2]))),
                        begun=begun if n >= len(loose) - 2 else "",
                        last=word == self.prefix,
                        head=len(content) > 1 and word == head,
                        named=word in named or (content == {word} and word in self.named),
                        code=self.code or len(content) == 1,
                        forgiven=word in self.forgiven,
                        corrections=tuple(self.corrections.get(word, ())),
                    )
                ),
            )
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

    def _or_below(self, word: str, index: SearchIndex, clause: str) -> str:
        """The clause of a word, or what is below one of its paths."""
        paths = self.paths.get(word, ())
        if not paths:
            return clause
        field_of_paths = next((each for each in index.fields if each.kind == "path"), None)
        if field_of_paths is None:
            return clause
        return _any([clause, *(f"{field_of_paths.name}:{quoted(path)}^{PATH_WEIGHT}" for path in paths)])


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
        code=_CODE.search(text) is not None,
        **options,
    )


@lru_cache(_MAX_REMEMBERED)
def _content_words(loose: tuple[str, ...], language: Language) -> tuple[str, ...]:
    words = [word for word in loose if word not in language.stop_words]
    return tuple(dict.fromkeys(words or loose))[:MAX_WORDS]


@lru_cache(_MAX_CLAUSES)
def _clauses_of_words(
    index: SearchIndex,
    words: tuple[str, ...],
    prefix: str | None,
    phrases: tuple[tuple[str, ...], ...],
    forgiven: frozenset[str],
    optional: frozenset[str],
    named: frozenset[str],
    any_word: bool,
    code: bool,
) -> _Clauses:
    query = SearchQuery(
        words,
        prefix,
        phrases,
        forgiven=forgiven,
        optional=optional,
        named=named,
        any_word=any_word,
        code=code,
    )
    return query._made_clauses(index)


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
    fields = [f"{each.name}:{{}}^{each.weight}" for each in index.texts]
    fields += [f"{SHORT}:{{}}^1"] if any(each.short for each in index.fields) else []
    return _all(_any(each.format(f'"{stem(word)}"') for each in fields) for word in row)


def _all(clauses: Iterable[str]) -> str:
    return "(" + " AND ".join(clauses) + ")"


def _any(terms: Iterable[str]) -> str:
    return "(" + " OR ".join(terms) + ")"


def _low(value: int | None) -> str:
    return str(0 if value is None else value)


def _high(value: int | None) -> str:
    return str(UNBOUNDED if value is None else value)
