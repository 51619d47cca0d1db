"""Analyzers: how text becomes terms, by the names Cloudant gives them."""

import re
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

import tantivy

from ..errors import bad_request
from . import porter
from .stopwords import STOPWORDS

MAX_TERM = 255
_LONG = re.compile(rf"\w{{{MAX_TERM}}}(?=\w)")
_LETTERS = re.compile(r"[^\W\d_]+")
_CJK = "\u3040-\u309f\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
# Words as Unicode's UAX #29 cuts them: apostrophes, dots and colons inside words and numbers, ideographs one by one.
_WORDS = re.compile(
    rf"[{_CJK}]|(?:(?![{_CJK}])\w)+(?:(?:['’.:·](?=[^\W\d_])|[.,;'](?=\d))(?:(?![{_CJK}])\w)+)*"
)
_ADDRESSES = re.compile(rf"[\w.%+\-]+@[\w\-]+(?:\.[\w\-]+)+|(?:https?|ftp)://[^\s<>\"]+|{_WORDS.pattern}")
_CLASSIC = re.compile(r"[\w.%+\-]+@[\w\-]+(?:\.[\w\-]+)+|\w+(?:[.'&]\w+)*|(?=\w*\d)\w+(?:[-./_,]\w+)+")
_STEMMERS = {
    "arabic",
    "danish",
    "dutch",
    "english",
    "finnish",
    "french",
    "german",
    "greek",
    "hungarian",
    "italian",
    "norwegian",
    "portuguese",
    "romanian",
    "russian",
    "spanish",
    "swedish",
    "turkish",
}
_WITHOUT_STEMMER = {
    "armenian",
    "basque",
    "bulgarian",
    "catalan",
    "chinese",
    "cjk",
    "czech",
    "galician",
    "hindi",
    "indonesian",
    "irish",
    "japanese",
    "latvian",
    "persian",
    "polish",
    "thai",
}


class Token(NamedTuple):
    """A term with its place among the terms and in the text."""

    term: str
    position: int
    start: int
    end: int


Tokens = list[Token]


Places = list[str | None]


@dataclass(frozen=True, slots=True)
class Analyzer:
    """`folds`: terms are lower-cased, so that wildcards must be as well. `quick_places` are the `places`, made without tokens."""

    tokens: Callable[[str], Tokens]
    folds: bool
    quick_places: Callable[[str], Places] | None = None

    def places(self, text: str) -> Places:
        """The terms in their places, None where one is left out."""
        if self.quick_places is not None:
            return self.quick_places(text)
        found: Places = []
        for token in self.tokens(text):
            found += [None] * (token.position - len(found))
            found.append(token.term)
        return found

    def terms(self, text: str) -> list[str]:
        return [token.term for token in self.tokens(text)]


KEYWORD = Analyzer(lambda text: [Token(text, 0, 0, len(text))], False, lambda text: [text])
"""A text is one term as it is."""


def analyzer(name: str, stopwords: list[str] | None = None, *, splits: bool = False) -> Analyzer:
    """The analyzer of that name. What is longer than a term may be is left out, as in Lucene 4, or `splits`, as in Lucene 9. Errors: 400 for
    an unknown one."""
    made = _analyzer(name, None if stopwords is None else tuple(stopwords))
    return _splitting(made) if splits and name not in ("keyword", "classic") else made


def _splitting(whole: Analyzer) -> Analyzer:
    """A text is analysed with its long words in pieces; where it has none, which is almost always, as it is."""

    def tokens(text: str) -> Tokens:
        return whole.tokens(_in_pieces(text))

    return Analyzer(tokens, whole.folds, lambda text: whole.places(_in_pieces(text)))


def _in_pieces(text: str) -> str:
    return text if len(text) <= MAX_TERM else _LONG.sub(r"\g<0> ", text)


@lru_cache(maxsize=64)
def _analyzer(name: str, stopwords: tuple[str, ...] | None) -> Analyzer:
    if name == "keyword":
        return KEYWORD
    if name == "whitespace":
        return _of_words(re.compile(r"\S+"), str, frozenset(), folds=False)
    if name in ("simple", "simple_asciifolding"):
        fold = _ascii if name == "simple_asciifolding" else str.lower
        return _of_words(_LETTERS, fold, frozenset())
    if name in ("standard", "classic", "email"):
        pattern = {"standard": _WORDS, "classic": _CLASSIC, "email": _ADDRESSES}[name]
        stops = frozenset(STOPWORDS["english"] if stopwords is None else stopwords)
        finish = _without_possessive if name == "classic" else str.lower
        return _of_words(pattern, finish, stops)
    if name == "cjk":
        return Analyzer(_bigrams, True)
    language = "portuguese" if name == "brazilian" else name
    if language in _STEMMERS or language in _WITHOUT_STEMMER:
        return _of_language(language, stopwords)
    raise bad_request(f"{name} is not a recognized analyzer")


def _of_words(
    pattern: re.Pattern[str], finish: Callable[[str], str], stops: frozenset[str], *, folds: bool = True
) -> Analyzer:
    """Terms are what the pattern finds, finished, without the stop words."""

    def places(text: str) -> Places:
        found: Places = [
            term if len(term) <= MAX_TERM and term not in stops else None
            for term in map(finish, pattern.findall(text))
        ]
        while found and found[-1] is None:
            found.pop()
        return found

    return Analyzer(lambda text: _cut(pattern, text, finish, stops), folds, places)


def _of_language(language: str, stopwords: tuple[str, ...] | None) -> Analyzer:
    stops = frozenset(STOPWORDS.get(language, ()) if stopwords is None else stopwords)
    stem = _stem_of(language)

    def tokens(text: str) -> Tokens:
        found = _cut(_WORDS, text, _without_possessive if language == "english" else str.lower, stops)
        return [Token(stem(token.term), token.position, token.start, token.end) for token in found]

    return Analyzer(tokens, True)


def _stem_of(language: str) -> Callable[[str], str]:
    if language == "english":
        return porter.stem
    return _stemmer(language) if language in _STEMMERS else str


def _stemmer(language: str) -> Callable[[str], str]:
    built = (
        tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.raw()).filter(tantivy.Filter.stemmer(language)).build()
    )
    return lru_cache(maxsize=4096)(lambda term: built.analyze(term)[0])


def _cut(pattern: re.Pattern[str], text: str, finish: Callable[[str], str], stops: frozenset[str]) -> Tokens:
    """The words of a text; left-out stop words leave a gap in the positions."""
    tokens: Tokens = []
    for position, found in enumerate(pattern.finditer(text)):
        term = finish(found[0])
        if len(term) <= MAX_TERM and term not in stops:
            tokens.append(Token(term, position, found.start(), found.end()))
    return tokens


def _without_possessive(term: str) -> str:
    term = term.lower()
    return term[:-2] if term.endswith(("'s", "’s")) else term


def _ascii(term: str) -> str:
    term = term.lower()
    return term if term.isascii() else "".join(map(_folded, term))


@lru_cache(4096)
def _folded(letter: str) -> str:
    """A letter without its marks, if it is one of ASCII's then."""
    plain = "".join(c for c in unicodedata.normalize("NFKD", letter) if not unicodedata.combining(c))
    return plain if plain.isascii() else _ASCII_OF.get(letter, letter)


_ASCII_OF = {
    "æ": "ae",
    "œ": "oe",
    "ø": "o",
    "ß": "ss",
    "đ": "d",
    "ð": "d",
    "þ": "th",
    "ł": "l",
    "ħ": "h",
    "ı": "i",
    "ŧ": "t",
    "ŋ": "n",
}


def _bigrams(text: str) -> Tokens:
    """Neighbouring ideographs in pairs, other words whole."""
    tokens: Tokens = []
    for token in _cut(_WORDS, text, str.lower, frozenset(STOPWORDS["english"])):
        last = tokens[-1] if tokens else None
        if last and last.end == token.start and len(token.term) == 1 and ord(token.term) > 0x3000:
            tokens[-1] = Token(last.term[-1] + token.term, last.position, last.start, token.end)
            tokens.append(Token(token.term, token.position, token.start, token.end))
        else:
            tokens.append(token)
    return tokens


class Analyzers:
    """The analyzers of an index, one a field; `definition` is what the design document says."""

    def __init__(self, definition: Any) -> None:
        self._fields: dict[str, Analyzer] = {"_id": analyzer("keyword"), "_partition": analyzer("keyword")}
        if isinstance(definition, dict) and definition.get("name") == "perfield":
            self._default = _defined(definition.get("default", "standard"))
            for field, named in (definition.get("fields") or {}).items():
                self._fields[field] = _defined(named)
        else:
            self._default = _defined("standard" if definition is None else definition)

    def of(self, field: str) -> Analyzer:
        return self._fields.get(field, self._default)


def _defined(definition: Any) -> Analyzer:
    if isinstance(definition, str):
        return analyzer(definition)
    if isinstance(definition, dict) and isinstance(definition.get("name"), str):
        splits = definition.get("splits") is True
        return analyzer(definition["name"], definition.get("stopwords"), splits=splits)
    raise bad_request("analyzer must be a string or an object with a name")
