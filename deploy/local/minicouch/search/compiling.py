"""Query trees to tantivy queries, with the rules of Cloudant's parser: bare numbers are numbers, words are analysed."""

import math
import re
from collections.abc import Iterable
from typing import Any

import tantivy

from ..errors import CouchError
from .engine import SearchIndex
from .syntax import Clauses, Everything, Node, Phrase, RangeOf, Regexp, Term, Wildcard

_NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?[fFdD]?|[+-]?(?:Infinity|NaN)", re.ASCII)
_OCCUR = {"must": tantivy.Occur.Must, "should": tantivy.Occur.Should, "not": tantivy.Occur.MustNot}
_SPECIAL = re.compile(r"[\\.+*?()|\[\]{}^$#&\-~]")
DEFAULT_FIELD = "default"


def is_number(text: str) -> bool:
    return _NUMBER.fullmatch(text) is not None


class Compiler:
    """Compiles for one index as it is now. `words_too`: a bare number may also be a word, as in Nouveau."""

    def __init__(self, index: SearchIndex, *, words_too: bool = False) -> None:
        self._index = index
        self._words_too = words_too
        self._schema = index.schema

    def query(self, node: Node) -> tantivy.Query:
        made = self._bare(node)
        return made if node.boost == 1.0 else tantivy.Query.boost_query(made, node.boost)

    def _bare(self, node: Node) -> tantivy.Query:
        if isinstance(node, Everything):
            return tantivy.Query.all_query()
        if isinstance(node, Clauses):
            return self.joined([(occur, self.query(part)) for occur, part in node.parts])
        name = node.field or DEFAULT_FIELD
        if isinstance(node, RangeOf):
            return self._range(name, node)
        field = self._index.field("text", name)
        if isinstance(node, Term) and node.edits is None and is_number(node.text):
            value = float(node.text.rstrip("fFdD"))
            number = self.numbers(name, value, value, True, True)
            if field is None or not self._words_too:
                return number
            return self.joined([("should", number), ("should", self._words(name, field, node.text))])
        if field is None:
            return tantivy.Query.empty_query()
        if isinstance(node, Term) and node.edits is not None:
            return self._fuzzy(name, field, node)
        if isinstance(node, Term):
            return self._words(name, field, node.text)
        if isinstance(node, Phrase):
            return self._phrase(name, field, node)
        if isinstance(node, Wildcard) and (asked := self.beginning(node)):
            terms, _ = self._index.generation.beginnings(*asked)
            if terms is None:
                return tantivy.Query.fuzzy_term_query(self._schema, *asked, 0, True, True)
            return self._one_of(field, terms)
        if isinstance(node, Regexp) and (found := self._index.generation.patterns.get((field, node.pattern))):
            return self._one_of(field, found)
        pattern = node.pattern if isinstance(node, Regexp) else self._wildcard(name, node)
        return self.matching(field, pattern)

    def joined(self, parts: list[tuple[str, tantivy.Query]]) -> tantivy.Query:
        if all(occur == "not" for occur, _ in parts):
            return tantivy.Query.empty_query()
        return tantivy.Query.boolean_query([(_OCCUR[occur], query) for occur, query in parts])

    def any_of(self, nodes: Iterable[Node]) -> tantivy.Query:
        """What matches one of them, in the form that is the fastest to count: terms beside terms."""
        parts: list[tantivy.Query] = []
        for node in nodes:
            parts += self._terms_begun(node) or [self.query(node)]
        return self.joined([("should", part) for part in parts])

    def _terms_begun(self, node: Node) -> list[tantivy.Query]:
        """Of a plain `word*` that begins few terms, or of a pattern whose terms are known."""
        asked, terms = self._begun(node)
        return [self.term(asked, term) for term in terms or ()]

    def _begun(self, node: Node) -> tuple[str, tuple[str, ...] | None]:
        """The field and the terms, None where they are not known or many."""
        if isinstance(node, Wildcard) and (asked := self.beginning(node)):
            return asked[0], self._index.generation.beginnings(*asked)[0]
        field = self._index.field("text", node.field or DEFAULT_FIELD) if isinstance(node, Regexp) else None
        if isinstance(node, Regexp) and field is not None:
            return field, self._index.generation.patterns.get((field, node.pattern))
        return "", None

    def term(self, field: str, term: str) -> tantivy.Query:
        return tantivy.Query.term_query(self._schema, field, term)

    def numbers(
        self, name: str, low: float | None, high: float | None, with_low: bool, with_high: bool
    ) -> tantivy.Query:
        field = self._index.field("number", name)
        if field is None:
            return tantivy.Query.empty_query()
        if low is None and high is None:
            return tantivy.Query.exists_query(field)
        with_low, with_high = with_low or low is None, with_high or high is None
        return tantivy.Query.range_query(
            self._schema, field, tantivy.FieldType.Float, low, high, with_low, with_high
        )

    def matching(self, field: str, pattern: str) -> tantivy.Query:
        try:
            return tantivy.Query.regex_query(self._schema, field, pattern)
        except ValueError as error:
            raise CouchError(400, "bad_request", f"Cannot parse the pattern /{pattern}/: {error}") from None

    def _words(self, name: str, field: str, text: str) -> tantivy.Query:
        """A word may become several terms, of which any will do, or none."""
        terms = self._index.analyzers.of(name).terms(text)
        if len(terms) == 1:
            return self.term(field, terms[0])
        return self.joined([("should", self.term(field, term)) for term in terms])

    def _phrase(self, name: str, field: str, node: Phrase) -> tantivy.Query:
        tokens = self._index.analyzers.of(name).tokens(node.text)
        if len(tokens) < 2:
            return self.term(field, tokens[0].term) if tokens else tantivy.Query.empty_query()
        first = tokens[0].position
        words = [(token.position - first, token.term) for token in tokens]
        return tantivy.Query.phrase_query(self._schema, field, words, node.slop)

    def _fuzzy(self, name: str, field: str, node: Term) -> tantivy.Query:
        text = node.text.lower() if self._index.analyzers.of(name).folds else node.text
        edits = int(node.edits) if node.edits >= 1 else int((1 - node.edits) * len(text))
        edits = min(edits, 2)
        if not edits:
            return self.term(field, text)
        return tantivy.Query.fuzzy_term_query(self._schema, field, text, edits, True)

    def beginning(self, node: Wildcard) -> tuple[str, str] | None:
        """The field of a plain `word*` and what it begins with: no edit of a prefix finds the same as a pattern, at a fraction of its price."""
        name = node.field or DEFAULT_FIELD
        field = self._index.field("text", name)
        match node.parts:
            case [(str() as text, False), ("*", True)] if field is not None and text:
                return field, text.lower() if self._index.analyzers.of(name).folds else text
        return None

    def _one_of(self, field: str, terms: tuple[str, ...]) -> tantivy.Query:
        any_term = self.joined([("should", self.term(field, term)) for term in terms])
        return tantivy.Query.const_score_query(any_term, 1.0) if terms else any_term

    def max_documents(self, node: Wildcard | Regexp) -> float:
        """In how many documents a plain `word*` or a pattern is at most; infinite for very many terms, or where nobody knows them."""
        if self._index.field("text", node.field or DEFAULT_FIELD) is None:
            return 0
        if isinstance(node, Wildcard):
            asked = self.beginning(node)
            return self._index.generation.beginnings(*asked)[1] if asked else math.inf
        field, terms = self._begun(node)
        return (
            math.inf if terms is None else sum(self._index.searcher.doc_freq(field, each) for each in terms)
        )

    def is_gathered(self, node: Node) -> bool:
        """Whether each search looks for its documents anew."""
        return isinstance(node, Wildcard) and self._begun(node)[1] is None and self.max_documents(node) > 0

    def _wildcard(self, name: str, node: Wildcard) -> str:
        folds = self._index.analyzers.of(name).folds
        signs = {"*": ".*", "?": "."}
        return "".join(
            signs[text] if wild else _SPECIAL.sub(r"\\\g<0>", text.lower() if folds else text)
            for text, wild in node.parts
        )

    def _range(self, name: str, node: RangeOf) -> tantivy.Query:
        low = "-Infinity" if node.low is None else node.low
        high = "Infinity" if node.high is None else node.high
        if not node.words and is_number(low) and is_number(high):
            return self.numbers(name, _limit(low), _limit(high), node.with_low, node.with_high)
        field = self._index.field("text", name)
        if field is None:
            return tantivy.Query.empty_query()
        folds = self._index.analyzers.of(name).folds
        bounds = [None if text is None else text.lower() if folds else text for text in (node.low, node.high)]
        terms = self._terms_between(field, bounds[0], bounds[1], node)
        return (
            tantivy.Query.term_set_query(self._schema, field, terms) if terms else tantivy.Query.empty_query()
        )

    def _terms_between(self, field: str, low: str | None, high: str | None, node: RangeOf) -> list[Any]:
        shared = 0
        if low is not None and high is not None:
            while shared < min(len(low), len(high)) and low[shared] == high[shared]:
                shared += 1
        prefix = (low or "")[:shared]
        return [
            term
            for term, _ in self._index.searcher.terms_with_prefix(field, prefix)
            if (low is None or term > low or (node.with_low and term == low))
            and (high is None or term < high or (node.with_high and term == high))
        ]


def number_of(text: str) -> float:
    """A number as queries write it, which may end with `f` or `d`."""
    return float(text.rstrip("dD") if text[-1] in "dD" else text.rstrip("fF") if text[-1] in "fF" else text)


def _limit(text: str) -> float | None:
    number = number_of(text)
    return None if number in (float("inf"), float("-inf")) else number
