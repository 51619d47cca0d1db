"""What categories and attributes are called, as words that a search finds their products by."""

from bisect import bisect_left
from collections.abc import Iterable, Mapping
from typing import Final

from services.products.rules.search_rules import content_of, stems_of
from shared.couch import Language, SearchQuery, words_of

MAX_PATHS: Final = 30
MIN_BEGINNING: Final = 2

Words = tuple[str, ...]


class CategoryWords:
    """The categories whose labels have a word, in any of its forms, or one that begins so."""

    def __init__(self, labels: Mapping[str, str], language: Language) -> None:
        """`labels` are {path: label}."""
        self._language = language
        self._paths: dict[str, set[str]] = {}
        for path, label in labels.items():
            for term in {term for word in content_of(label, language) for term in language.terms(word)}:
                self._paths.setdefault(term, set()).add(path)
        self._terms = sorted(self._paths)

    def paths_of(self, query: SearchQuery) -> dict[str, tuple[str, ...]]:
        """{word of the query: paths of the categories called so}, none of them below another."""
        found = {}
        for word in query.content_words(self._language) if self._paths else ():
            paths = set(self._paths.get(self._language.stem(word), ()))
            if word == query.prefix and len(word) >= MIN_BEGINNING:
                paths |= self._begun(word)
            if paths:
                found[word] = tuple(_highest(paths)[:MAX_PATHS])
        return found

    def _begun(self, word: str) -> set[str]:
        place, paths = bisect_left(self._terms, word), set[str]()
        while place < len(self._terms) and self._terms[place].startswith(word):
            paths |= self._paths[self._terms[place]]
            place += 1
        return paths


def label_synonyms(labels: Iterable[tuple[str, str]], language: Language) -> dict[Words, dict[Words, None]]:
    """{stems of a label, and of each of its words: what products have instead} of pairs (what products have, what it is called)."""
    found: dict[Words, dict[Words, None]] = {}
    for text, label in sorted(labels, key=lambda pair: (len(pair[0]), pair)):
        own, called = tuple(words_of(text)), content_of(label, language)
        if own and called and stems_of(own, language) != stems_of(called, language):
            for row in dict.fromkeys([called, *((word,) for word in called)]):
                found.setdefault(stems_of(row, language), {})[own] = None
    return found


def _highest(paths: Iterable[str]) -> list[str]:
    """Those that are not below another."""
    found: list[str] = []
    for path in sorted(paths):
        if not any(path.startswith(f"{above}#") for above in found):
            found.append(path)
    return found
