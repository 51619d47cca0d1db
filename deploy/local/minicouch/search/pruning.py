"""The best hits without scoring them all.

A word that stands almost everywhere and weighs little (in descriptions, beside names) makes a large part of an index match, of which
hardly any document gets to the top. So the documents are ranked that match without such words; when no other one can score as much as
the last of them, they are the best of all, with the scores that they have anyway. Otherwise every hit has to be scored.
"""

from collections.abc import Sequence
from dataclasses import replace

import tantivy

from .compiling import Compiler, is_number
from .engine import SearchIndex
from .syntax import Clauses, Everything, Node, Phrase, RangeOf, Regexp, Term, Wildcard

COMMON = 10_000
"""A term of so many documents is worth leaving out."""
ROUNDING = 1.0001
Part = tuple[str, Node]


def best(
    index: SearchIndex,
    searcher: tantivy.Searcher,
    compiler: Compiler,
    tree: Node,
    filters: Sequence[tantivy.Query],
    limit: int,
) -> list[tuple[float, tantivy.DocAddress]] | None:
    """The first hits of a query and of `filters`, which do not score; None when that needs the scores of all of them."""
    pruning = _Pruning(index, searcher, compiler)
    parts = pruning.clauses(tree)
    if parts is None:
        return None
    halves = [pruning.halves(node) if occur == "must" else None for occur, node in parts]
    if not any(halves):
        return None
    rarer = Clauses(tuple(_narrowed(part, half) for part, half in zip(parts, halves, strict=True)))
    query = compiler.joined([("must", compiler.query(rarer)), *(("must", each) for each in filters)])
    hits = searcher.search(query, limit=limit, count=False).hits
    if len(hits) < limit or hits[-1][0] <= pruning.most_of_others(parts, halves) * ROUNDING:
        return None
    return list(hits)


Halves = tuple[list[Node], list[Node]]
"""Of the alternatives of a clause those that tell much, and the others."""


def _narrowed(part: Part, halves: Halves | None) -> Part:
    if halves is None:
        return part
    rare, common = halves
    needed = Clauses(tuple(("should", each) for each in rare))
    scoring = (("should", each) for each in common if each.boost)
    return "must", Clauses((("must", needed), *scoring), part[1].boost)


class _Pruning:
    """Knows the words of one index as it is now; what each can score at most is looked up once for each of its states."""

    def __init__(self, index: SearchIndex, searcher: tantivy.Searcher, compiler: Compiler) -> None:
        self.index, self.searcher, self.compiler = index, searcher, compiler

    def clauses(self, tree: Node) -> Sequence[Part] | None:
        """What must match, and what must not; None for a query of another form."""
        if not isinstance(tree, Clauses) or tree.boost != 1.0:
            return None
        occurs = {occur for occur, _ in tree.parts}
        if occurs == {"should"}:
            return [("must", tree)]
        return tree.parts if "should" not in occurs else None

    def halves(self, node: Node) -> Halves | None:
        """None when no alternative is worth leaving out, or there is no other."""
        if not isinstance(node, Clauses) or any(occur != "should" for occur, _ in node.parts):
            return None
        nodes = [part for _, part in node.parts]
        most = max(_weight(each) for each in nodes)
        light = [each for each in nodes if not isinstance(each, Clauses) and 2 * each.boost < most]
        fields = {getattr(each, "field", None) for each in light if self._is_common(each)}
        common = [each for each in light if getattr(each, "field", None) in fields]
        rare = [each for each in nodes if each not in common]
        return (rare, common) if common and rare else None

    def most_of_others(self, parts: Sequence[Part], halves: Sequence[Halves | None]) -> float:
        """What a document can score that matches at least one clause by its common words alone."""
        most = [self._most(node) if occur == "must" else 0.0 for occur, node in parts]
        return max(
            sum(most) - most[n] + sum(map(self._most, half[1])) * parts[n][1].boost
            for n, half in enumerate(halves)
            if half
        )

    def _is_common(self, node: Node) -> bool:
        found = self._term(node)
        return found is not None and self.searcher.doc_freq(*found) >= COMMON

    def _term(self, node: Node) -> tuple[str, str] | None:
        """The field and the one term that a node asks for."""
        if isinstance(node, Term) and (node.edits is not None or is_number(node.text)):
            return None
        if not isinstance(node, Term | Phrase) or node.field is None:
            return None
        field = self.index.field("text", node.field)
        terms = self.index.analyzers.of(node.field).terms(node.text)
        return (field, terms[0]) if field is not None and len(terms) == 1 else None

    def _most(self, node: Node) -> float:
        """No document scores more for it."""
        if isinstance(node, Clauses):
            return node.boost * sum(self._most(part) for occur, part in node.parts if occur != "not")
        if isinstance(node, Everything | RangeOf | Regexp | Wildcard):
            return node.boost
        if isinstance(node, Term) and node.edits is not None:
            return node.boost
        term = self._term(node)
        if term is None:
            bare = replace(node, boost=1.0)
            return node.boost * self._known(bare, self.compiler.query(bare))
        return node.boost * self._known(term, self.compiler.term(*term))

    def _known(self, key: object, query: tantivy.Query) -> float:
        most = self.index.generation.most
        if key not in most:
            hits = self.searcher.search(query, limit=1, count=False).hits
            most[key] = hits[0][0] if hits else 0.0
        return most[key]


def _weight(node: Node) -> float:
    """The largest boost in it."""
    if isinstance(node, Clauses):
        return node.boost * max(_weight(part) for _, part in node.parts)
    return node.boost
