"""For documents of which types a function does anything, as far as its text says so: the others need not be sent to it.

Most functions ask for a document's type first: `if (doc.type === "order") emit(...)`, or `if (doc.type !== "order") return;`. Only
what is sure counts: a function with anything before or beside that is taken to be for all documents.
"""

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Final, NamedTuple

_TOKEN: Final = re.compile(
    r"""(?P<space>(?:[ \t]|/\*[^\n]*?\*/)+)
      | (?P<line>(?:\r?\n|//[^\n]*|/\*.*?\*/)+)
      | (?P<string>"[^"\\\n]*"|'[^'\\\n]*')
      | (?P<word>[A-Za-z_$][\w$]*|\d[\w.]*)
      | (?P<sign>[!=]==?|&&|\|\||<=|>=|=>|\+\+|--|[-+*%&|^~!?:;,.<>=()\[\]{}])""",
    re.VERBOSE | re.DOTALL | re.ASCII,
)
_COMMENT_OF_HTML: Final = ("<!--", "-->")
_OPENING: Final = {"(": ")", "[": "]", "{": "}"}
_ELSEWISE: Final = frozenset({"||", "?", ",", "="})
"""With one of these in it a condition may hold though its first part does not."""


class _Unknown(Exception):
    """More than is understood here."""


class _Token(NamedTuple):
    text: str
    string: str | None = None


def _tokens(source: str) -> Iterator[_Token]:
    """Without spaces and comments; ends of lines are "\\n". What may be anything else, such as a regular expression, is the last one."""
    place = 0
    while not source.startswith(_COMMENT_OF_HTML, place) and (found := _TOKEN.match(source, place)):
        place, text = found.end(), found[0]
        if found.lastgroup == "string":
            yield _Token(text, text[1:-1])
        elif found.lastgroup == "line":
            yield _Token("\n")
        elif found.lastgroup != "space":
            yield _Token(text)
    if place < len(source):
        yield _Token(source[place])


class _Reader:
    def __init__(self, source: str) -> None:
        self._tokens = _tokens(source)
        self._next: _Token | None = next(self._tokens, None)

    def peek(self) -> str:
        """The next token, behind ends of lines; "" at the end of what is understood."""
        while self._next is not None and self._next.text == "\n":
            self._next = next(self._tokens, None)
        return self._next.text if self._next is not None else ""

    def take(self, *expected: str) -> _Token:
        """The next token. Raises _Unknown when it is none of those."""
        text = self.peek()
        if self._next is None or (expected and text not in expected):
            raise _Unknown
        taken, self._next = self._next, next(self._tokens, None)
        return taken

    def take_all(self, *expected: str) -> None:
        for each in expected:
            self.take(each)

    def skip_to(self, closing: str, refused: frozenset[str] = frozenset()) -> None:
        """Past `closing`, with all that is in brackets before it. Raises _Unknown at one of `refused` outside of brackets."""
        while True:
            if "\n" in refused and self._next is not None and self._next.text == "\n":
                raise _Unknown
            token = self.take()
            if token.text == closing:
                return
            if token.text in refused or token.text in _OPENING.values():
                raise _Unknown
            if token.text in _OPENING:
                self.skip_to(_OPENING[token.text])


@lru_cache(1000)
def types_of(source: str) -> frozenset[str] | None:
    """The `type` that a document must have for a map or index function to do anything; None where every document may have it."""
    try:
        return frozenset(_types(_Reader(source)))
    except _Unknown:
        return None


def _types(reader: _Reader) -> set[str]:
    reader.take("function")
    if reader.peek() != "(":
        reader.take()
    reader.take("(")
    doc = reader.take().text
    reader.take_all(")", "{")
    found: set[str] = set()
    while reader.peek() != "}":
        reader.take_all("if", "(", doc, ".", "type")
        if reader.take("===", "!==").text == "!==":
            return found | _those_that_go_on(reader, doc)
        found |= _those_that_are_meant(reader, doc)
    reader.take("}")
    if reader.peek():
        raise _Unknown
    return found


def _those_that_go_on(reader: _Reader, doc: str) -> set[str]:
    """Of `"a" && doc.type !== "b") return;` the types, or of `"a" || ...) return;` the one."""
    found = {_string(reader)}
    while reader.peek() == "&&":
        reader.take_all("&&", doc, ".", "type", "!==")
        found.add(_string(reader))
    if reader.peek() == "||" and len(found) == 1:
        reader.take("||")
        reader.skip_to(")", frozenset({"?", ",", "="}))
    else:
        reader.take(")")
    reader.take_all("return", ";")
    return found


def _those_that_are_meant(reader: _Reader, doc: str) -> set[str]:
    """Of `"a" || doc.type === "b") emit(...);` the types, or of `"a" && ...) emit(...);` the one."""
    found = {_string(reader)}
    while reader.peek() == "||":
        reader.take_all("||", doc, ".", "type", "===")
        found.add(_string(reader))
    if reader.peek() == "&&" and len(found) == 1:
        reader.take("&&")
        reader.skip_to(")", _ELSEWISE)
    else:
        reader.take(")")
    _skip_statement(reader, doc)
    if reader.peek() == "else":
        raise _Unknown
    return found


def _skip_statement(reader: _Reader, doc: str) -> None:
    """A block, or an expression that ends with a semicolon in its line: what follows is another statement then."""
    first = reader.take("{", "[", "emit", "index", doc).text
    if first in _OPENING:
        reader.skip_to(_OPENING[first])
    elif first == doc:
        reader.take(".")
    else:
        reader.take("(")
        reader.skip_to(")")
    if first != "{":
        reader.skip_to(";", frozenset({"\n"}))


def _string(reader: _Reader) -> str:
    found = reader.take().string
    if found is None:
        raise _Unknown
    return found
