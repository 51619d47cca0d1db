"""What admins say about search, ready to be asked: synonyms, redirects and pinned products by the words of a query."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Generic, TypeVar

from services.products.search_documents import HIDDEN_QUERY, PIN, REDIRECT, SYNONYM
from shared.couch import Doc, Language, SearchQuery, altered, words_of

MAX_WORDS_ADDED = 32
"""So many words synonyms may add to one query: a server takes a bounded number of clauses."""

Words = tuple[str, ...]
T = TypeVar("T")


def rule_query(text: str) -> str:
    """A query as rules are kept under: its words, with single spaces; "" when it has none."""
    return " ".join(words_of(text))


class ByQuery(Generic[T]):
    """Values by query: one written just so, else one in other forms of the same words."""

    def __init__(self, language: Language) -> None:
        self._language = language
        self._exact: dict[Words, T] = {}
        self._stems: dict[Words, T] = {}

    def add(self, query: str, value: T) -> None:
        words = tuple(words_of(query))
        self._exact[words] = value
        self._stems.setdefault(stems_of(words, self._language), value)

    def get(self, query: str) -> T | None:
        if not self._exact:
            return None
        words = tuple(words_of(query))
        found = self._exact.get(words)
        return self._stems.get(stems_of(words, self._language)) if found is None else found


@dataclass(frozen=True)
class SearchRules:
    """`synonyms` are {stems of words in a row: rows of words that do as well}, a row has `longest` words at most; `redirects` and `pins` the rules' documents."""

    language: Language
    synonyms: Mapping[Words, Sequence[Words]] = field(default_factory=dict)
    longest: int = 0
    redirects: ByQuery[Doc] | None = None
    pins: ByQuery[Doc] | None = None
    hidden: ByQuery[Doc] | None = None
    labelled: dict[str, tuple[object, "SearchRules"]] = field(default_factory=dict, repr=False, compare=False)
    """With the labels of a language, and what these were made of."""

    def with_labels(
        self, source: object, language: str, synonyms: Callable[[], Mapping[Words, Iterable[Words]]]
    ) -> "SearchRules":
        """The rules that know these synonyms too, which are made once for each `source` of them in a language."""
        known = self.labelled.get(language)
        if known is None or known[0] is not source:
            merged = {row: dict.fromkeys(others) for row, others in self.synonyms.items()}
            for row, others in synonyms().items():
                merged.setdefault(row, {}).update(dict.fromkeys(others))
            rows = {row: tuple(others) for row, others in merged.items()}
            rules = replace(self, synonyms=rows, longest=max(map(len, rows), default=0), labelled={})
            known = self.labelled[language] = (source, rules)
        return known[1]

    def redirect_for(self, query: str) -> Doc | None:
        return self.redirects.get(query) if self.redirects else None

    def pin_for(self, query: str) -> Doc | None:
        return self.pins.get(query) if self.pins else None

    def is_hidden(self, query: str) -> bool:
        """Whether it is not to be suggested."""
        return self.hidden is not None and self.hidden.get(query) is not None

    def with_synonyms(self, query: SearchQuery) -> SearchQuery:
        """The query that asks for the synonyms of its words too."""
        if not self.synonyms:
            return query
        words = tuple(query.content_words(self.language))
        found, room = {}, MAX_WORDS_ADDED
        for row in self._rows(words):
            others = []
            for other in self.synonyms[stems_of(row, self.language)]:
                if len(other) <= room:
                    others.append(other)
                    room -= len(other)
            if others:
                found[row] = others
        return altered(query, synonyms=found) if found else query

    def _rows(self, words: Words) -> Iterable[Words]:
        """The words in a row that have synonyms, the longest first at each place."""
        stems = stems_of(words, self.language)
        place = 0
        while place < len(words):
            lengths = range(min(self.longest, len(words) - place), 0, -1)
            length = next((n for n in lengths if stems[place : place + n] in self.synonyms), 0)
            if length:
                yield words[place : place + length]
            place += length or 1


def search_rules(docs: Iterable[Doc], language: Language) -> SearchRules:
    """The rules of these documents; one that this version does not know is left aside."""
    synonyms: dict[Words, dict[Words, None]] = {}
    redirects, pins, hidden = ByQuery[Doc](language), ByQuery[Doc](language), ByQuery[Doc](language)
    for doc in docs:
        if doc["type"] == SYNONYM.name:
            _add_synonyms(synonyms, doc, language)
        elif doc["type"] == REDIRECT.name:
            redirects.add(doc["query"], doc)
        elif doc["type"] == PIN.name:
            pins.add(doc["query"], doc)
        elif doc["type"] == HIDDEN_QUERY.name:
            hidden.add(doc["query"], doc)
    rows = {row: tuple(others) for row, others in synonyms.items()}
    return SearchRules(language, rows, max(map(len, rows), default=0), redirects, pins, hidden)


def stems_of(words: Iterable[str], language: Language) -> Words:
    return tuple(map(language.stem, words))


def _add_synonyms(synonyms: dict[Words, dict[Words, None]], doc: Doc, language: Language) -> None:
    rows = [content_of(text, language) for text in (doc["query"], *doc["synonyms"])]
    for row in rows[:1] if doc.get("one_way") else rows:
        others = {other: None for other in rows if stems_of(other, language) != stems_of(row, language)}
        synonyms.setdefault(stems_of(row, language), {}).update(others)


def content_of(text: str, language: Language) -> Words:
    """The words of a text as a query asks for them: without those that say nothing, unless there are no others."""
    words = tuple(words_of(text))
    return tuple(word for word in words if word not in language.stop_words) or words
