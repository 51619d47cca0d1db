"""Cloudant's query syntax (Lucene's classic parser) as a tree; nothing here knows the index.

`name:term "a phrase"~2 wild* f?zzy~1 price:[1 TO 5} +must -not (a OR b)^2 *:*`
"""

import re
from dataclasses import dataclass, replace
from functools import lru_cache

from ..errors import CouchError


@dataclass(frozen=True, slots=True)
class Term:
    """One word; `edits` is what stands behind `~`: how many, or below 1 a similarity."""

    field: str | None
    text: str
    edits: float | None = None
    boost: float = 1.0


@dataclass(frozen=True, slots=True)
class Wildcard:
    """A word with wildcards; `parts` are texts and the characters `*` and `?` as (text, is wildcard)."""

    field: str | None
    parts: tuple[tuple[str, bool], ...]
    boost: float = 1.0


@dataclass(frozen=True, slots=True)
class Phrase:
    field: str | None
    text: str
    slop: int = 0
    boost: float = 1.0


@dataclass(frozen=True, slots=True)
class Regexp:
    field: str | None
    pattern: str
    boost: float = 1.0


@dataclass(frozen=True, slots=True)
class RangeOf:
    """Bounds of None are open; `words` are compared as text, even if they look like numbers."""

    field: str | None
    low: str | None
    high: str | None
    with_low: bool
    with_high: bool
    boost: float = 1.0
    words: bool = False


@dataclass(frozen=True, slots=True)
class Everything:
    boost: float = 1.0


@dataclass(frozen=True, slots=True)
class Clauses:
    """`must`, `should` or `not` for each part."""

    parts: tuple[tuple[str, "Node"], ...]
    boost: float = 1.0


Node = Term | Wildcard | Phrase | Regexp | RangeOf | Everything | Clauses

_SPACE = re.compile("[ \\t\\n\\r\\u3000]*")
_START = r'[^\s\u3000+\-!():^\[\]"{}~*?\\/]|\\.'
_WORD = re.compile(rf"(?:{_START}|[*?])(?:{_START}|[-+*?])*", re.DOTALL)
_QUOTED = re.compile(r'"((?:[^"\\]|\\.)*)"', re.DOTALL)
_REGEXP = re.compile(r"/((?:[^/\\]|\\.)*)/", re.DOTALL)
_NUMBER = re.compile(r"[0-9]+(?:\.[0-9]+)?")
_BOUND = re.compile(r'"((?:[^"\\]|\\.)*)"|((?:[^\s\]}"\\]|\\.)+)', re.DOTALL)
MAX_DEPTH = 100
MAX_CLAUSES = 1024


@lru_cache(maxsize=1024)
def parse(query: str) -> Node:
    """The tree of a query. Errors: 400 as Cloudant words them."""
    return Parser(query).whole()


def unescape(text: str) -> str:
    if "\\" not in text:
        return text
    return re.sub(
        r"\\(?:u([0-9A-Fa-f]{4})|(.))", lambda m: chr(int(m[1], 16)) if m[1] else m[2], text, flags=re.DOTALL
    )


class Parser:
    word_pattern = _WORD

    def __init__(self, query: str) -> None:
        self.query = query
        self.at = 0

    def whole(self) -> Node:
        node = self.clauses(None, 0)
        self.skip_space()
        if not self.done:
            raise self.wrong()
        return node

    @property
    def done(self) -> bool:
        return self.at >= len(self.query)

    def wrong(self) -> CouchError:
        if self.done:
            found = '"<EOF>"'
        else:
            char = self.query[self.at]
            found = f'"{char}" "{char} "'
        line = self.query.count("\n", 0, self.at) + 1
        column = self.at - (self.query.rfind("\n", 0, self.at) + 1)
        reason = f"Cannot parse '{self.query}': Encountered {found} at line {line}, column {column}."
        return CouchError(400, "bad_request", reason)

    def skip_space(self) -> None:
        self.at = _SPACE.match(self.query, self.at).end()  # type: ignore[union-attr]

    def take(self, *words: str) -> str | None:
        """The first of the words that stands here, stepped over."""
        for word in words:
            if self.query.startswith(word, self.at):
                end = self.at + len(word)
                if (
                    not word.isalpha()
                    or end >= len(self.query)
                    or not self.word_pattern.match(self.query, end)
                ):
                    self.at = end
                    return word
        return None

    def match(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        found = pattern.match(self.query, self.at)
        if found:
            self.at = found.end()
        return found

    def clauses(self, field: str | None, depth: int) -> Node:
        if depth > MAX_DEPTH:
            raise CouchError(400, "bad_request", "The query is nested too deeply.")
        parts: list[tuple[str, Node]] = []
        self.skip_space()
        while not self.done and self.query[self.at] != ")":
            joined = self.take("AND", "&&", "OR", "||") if parts else None
            self.skip_space()
            mark = self.take("NOT", "+", "-", "!")
            self.skip_space()
            node = self.clause(field, depth)
            prohibited = mark in ("NOT", "-", "!")
            if joined in ("AND", "&&"):
                if parts[-1][0] == "should":
                    parts[-1] = ("must", parts[-1][1])
                occur = "not" if prohibited else "must"
            else:
                occur = "not" if prohibited else "must" if mark == "+" else "should"
            parts.append((occur, node))
            if len(parts) > MAX_CLAUSES:
                raise CouchError(400, "bad_request", f"Cannot parse '{self.query}': too many boolean clauses")
            self.skip_space()
        if not parts:
            raise self.wrong()
        return parts[0][1] if len(parts) == 1 and parts[0][0] != "not" else Clauses(tuple(parts))

    def clause(self, field: str | None, depth: int) -> Node:
        start = self.at
        if self.take("*:*"):
            return self.boosted(Everything())
        if self.take("*:"):
            field = "*"
        else:
            named = self.match(self.word_pattern)
            if named and self.take(":"):
                field = unescape(named[0])
                self.skip_space()
            else:
                self.at = start
        return self.group_or_simple(field, depth)

    def group_or_simple(self, field: str | None, depth: int) -> Node:
        if self.take("("):
            node = self.clauses(field, depth + 1)
            if not self.take(")"):
                raise self.wrong()
            return self.boosted(node)
        return self.simple(field)

    def simple(self, field: str | None) -> Node:
        char = "" if self.done else self.query[self.at]
        if char == '"':
            return self.phrase(field)
        if char in ("[", "{"):
            return self.range_of(field)
        if char == "/":
            found = self.match(_REGEXP)
            if not found:
                raise self.wrong()
            return self.boosted(Regexp(field, found[1].replace("\\/", "/")))
        found = self.match(self.word_pattern)
        if not found or found[0] in ("AND", "OR", "NOT"):
            self.at = found.start() if found else self.at
            raise self.wrong()
        return self.word(field, found[0])

    def word(self, field: str | None, raw: str) -> Node:
        parts = wildcard_parts(raw)
        if any(wild for _, wild in parts):
            return self.boosted(Wildcard(field, parts))
        edits = None
        node = self.boosted(Term(field, unescape(raw)))
        if self.take("~"):
            number = self.match(_NUMBER)
            edits = float(number[0]) if number else 0.5
            node = self.boosted(replace(node, edits=edits))
        return node

    def phrase(self, field: str | None) -> Node:
        text, slop = self.quoted(), 0
        if self.take("~"):
            number = self.match(_NUMBER)
            slop = int(float(number[0])) if number else 0
        return self.boosted(Phrase(field, text, slop))

    def quoted(self) -> str:
        found = self.match(_QUOTED)
        if not found:
            raise self.wrong()
        return unescape(found[1])

    def range_of(self, field: str | None) -> Node:
        with_low = self.take("[", "{") == "["
        low = self.bound()
        self.skip_space()
        if not self.take("TO"):
            raise self.wrong()
        high = self.bound()
        self.skip_space()
        closing = self.take("]", "}")
        if closing is None:
            raise self.wrong()
        return self.boosted(RangeOf(field, low, high, with_low, closing == "]"))

    def bound(self) -> str | None:
        self.skip_space()
        found = self.match(_BOUND)
        if not found:
            raise self.wrong()
        if found[2] == "*":
            return None
        return unescape(found[1] if found[2] is None else found[2])

    def boosted(self, node: Node) -> Node:
        if not self.take("^"):
            return node
        number = self.match(_NUMBER)
        if not number:
            raise self.wrong()
        return replace(node, boost=node.boost * float(number[0]))


def wildcard_parts(raw: str) -> tuple[tuple[str, bool], ...]:
    if "*" not in raw and "?" not in raw:
        return ((unescape(raw), False),)
    parts: list[tuple[str, bool]] = []
    for piece in re.findall(r"(?:[^*?\\]|\\.)+|[*?]", raw, flags=re.DOTALL):
        parts.append((piece, True) if piece in ("*", "?") else (unescape(piece), False))
    return tuple(parts)
