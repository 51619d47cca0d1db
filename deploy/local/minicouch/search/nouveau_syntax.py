"""The query syntax of Nouveau: Lucene's flexible parser, where it differs from the classic one.

`price>=10`, `word~` with two edits; no wildcard at the beginning of a word (see `nouveau_fields.py`), and its own words for what is wrong.
"""

import re
from dataclasses import replace
from functools import lru_cache

from ..errors import CouchError, bad_request
from .syntax import Node, Parser, Phrase, RangeOf, Term, Wildcard, unescape, wildcard_parts

_START = r'[^\s\u3000+\-!():^@<>=\[\]"{}~*?\\/]|\\.'
_WORD = re.compile(rf"(?:{_START}|[*?])(?:{_START}|[-+*?])*", re.DOTALL)
_NUMBER = re.compile(r"[0-9]+(?:\.[0-9]+)?")
_FUNCTION = re.compile(r"fn:[A-Za-z]+\(")
DEFAULT_EDITS = 2


@lru_cache(maxsize=1024)
def parse(query: str) -> Node:
    """The tree of a query. Errors: 400 as Nouveau words them."""
    return _NouveauParser(query).whole()


class _NouveauParser(Parser):
    word_pattern = _WORD
    in_range = False

    def wrong(self) -> CouchError:
        return bad_request(f"Syntax Error, cannot parse {self.query}: {self.lexical_error()} ")

    def lexical_error(self) -> str:
        """What the scanner says of a sign that begins nothing; of all others nothing is said."""
        rest = self.query[self.at :]
        if not rest or rest[0] not in '"/\\]}' or self.in_range:
            return ""
        line = self.query.count("\n", 0, self.at) + 1
        begin = self.query.rfind("\n", 0, self.at) + 1
        if rest[0] in "]}":
            column = self.at - begin + 1
            return f"Lexical error at line {line}, column {column}.  Encountered: '{ord(rest[0])}' ({ord(rest[0])}), (in lexical state 2)"
        quoted = rest.replace("\\", "\\\\").replace('"', '\\"')
        after = f' after prefix "{quoted}"' if len(rest) > 1 else ""
        column = len(self.query) - begin + 1
        return (
            f"Lexical error at line {line}, column {column}.  Encountered: <EOF>{after} (in lexical state 2)"
        )

    def clause(self, field: str | None, depth: int) -> Node:
        self.refuse_function()
        start = self.at
        named = self.match(self.word_pattern)
        if named:
            self.skip_space()
            if self.query.startswith(":", self.at) and named[0] != "*":
                self.at += 1
                self.skip_space()
                self.refuse_function()
                return self.group_or_simple(unescape(named[0]), depth)
            compared = self.take(">=", "<=", ">", "<", "=")
            if compared:
                return self.comparison(unescape(named[0]), compared)
        self.at = start
        return super().clause(field, depth)

    def refuse_function(self) -> None:
        if _FUNCTION.match(self.query, self.at):
            raise _not_served("an interval function (fn:)")

    def comparison(self, field: str, operator: str) -> Node:
        self.skip_space()
        value = self.bound()
        if value is None:
            raise self.wrong()
        low, high = {"=": (value, value), ">": (value, None), "<": (None, value)}[operator[0]]
        with_it = operator.endswith("=")
        return self.boosted(RangeOf(field, low, high, with_it or low is None, with_it or high is None))

    def word(self, field: str | None, raw: str) -> Node:
        parts = wildcard_parts(raw)
        if any(wild for _, wild in parts):
            return self.boosted(Wildcard(field, parts))
        node, end = Term(field, unescape(raw)), self.at
        self.skip_space()
        if not self.take("~"):
            self.at = end
        else:
            number = self.match(_NUMBER)
            edits = float(number[0]) if number else DEFAULT_EDITS
            if edits > 1 and edits != int(edits):
                raise self.wrong()
            node = replace(node, edits=edits or None)
        return self.boosted(node)

    def phrase(self, field: str | None) -> Node:
        text, slop = self.quoted(), 0
        if self.take("~"):
            number = self.match(_NUMBER)
            if not number or "." in number[0]:
                raise self.wrong()
            slop = int(number[0])
        return self.boosted(Phrase(field, text, slop))

    def range_of(self, field: str | None) -> Node:
        self.in_range = True
        node = super().range_of(field)
        self.in_range = False
        return node

    def boosted(self, node: Node) -> Node:
        boosted = super().boosted(node)
        if self.query.startswith("@", self.at) and self.query[self.at - 1] == ")":
            raise _not_served("how many of a group must match (@)")
        return boosted


def _not_served(what: str) -> CouchError:
    return CouchError(501, "not_implemented", f"{what} is not served by minicouch")
