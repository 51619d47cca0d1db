"""The best hits without scoring them all.

A word stands in many documents in some field, but the best of them have it where it weighs most. So those are ranked first that have the
words there. The last of them on the page says what any other document would have to score; which words that takes follows from the most
that each can add (MaxScore: Turtle and Flood 1995). What has these words is ranked, with the scores that it has anyway; where nothing
follows, every hit has to be scored.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

import tantivy

from .compiling import Compiler, is_number
from .engine import SearchIndex
from .syntax import Clauses, Everything, Node, Phrase, RangeOf, Regexp, Term, Wildcard

COMMON = 10_000
"""A search of no term of so many documents scores them all."""
WEIGHTY, LIGHT = 0.25, 0.1
"""Of what tells most: which other words the very best have too, and of which one need not know exactly what they can add."""
ROUNDING = 1.0001
BM25_MOST = 2.2
"""What BM25 gives at most, however often a term stands in a document, for each unit of how rare it is."""
Hits = list[tuple[float, tantivy.DocAddress]]


class Leaf(NamedTuple):
    """A part of a query that has no parts: what a document can score for it, and what one without it loses of the most there is."""

    node: Node
    adds: float
    loss: float


def best(
    index: SearchIndex,
    searcher: tantivy.Searcher,
    compiler: Compiler,
    tree: Node,
    filters: Sequence[tantivy.Query],
    limit: int,
) -> Hits | None:
    """The first hits of a query and of `filters`, which do not score; None when that needs the scores of all of them."""
    ranking = _Ranking(index, searcher, compiler, filters, limit)
    if not isinstance(tree, Clauses) or not ranking.has_common(tree):
        return None
    leaves = [list(ranking.leaves(part, factor, lost)) for part, factor, lost in ranking.groups(tree)]
    most = ranking.most(tree) * ROUNDING
    for needed in ranking.first_guesses(leaves):
        hits = ranking.hits(tree, needed)
        if len(hits) < limit:
            continue
        least = hits[-1][0]
        required = {leaf.node for group in leaves for leaf in group if most - leaf.loss < least}
        if needed <= required:
            return hits
        hits = ranking.hits(tree, required) if required else []
        return hits if len(hits) == limit else None
    return None


class _Ranking:
    """Knows the words of one index as it is now; what each can score at most is looked up once for each of its states."""

    def __init__(
        self,
        index: SearchIndex,
        searcher: tantivy.Searcher,
        compiler: Compiler,
        filters: Sequence[tantivy.Query],
        limit: int,
    ) -> None:
        self.index, self.searcher, self.compiler = index, searcher, compiler
        self.filters, self.limit = filters, limit
        self.weighty = 0.0
        self._most_of_leaves: dict[Node, float] = {}

    def has_common(self, tree: Clauses) -> bool:
        """Whether a term finds very many. Learns what a term can add at most."""
        terms = [node for node in _leaves(tree) if self._term(node) is not None]
        self.weighty = max(map(self._roughly_most, terms), default=0.0)
        return any(self._frequency(node) >= COMMON for node in terms)

    def groups(self, tree: Clauses) -> Iterator[tuple[Node, float, float]]:
        """What must match, each with its factor and what a document loses that has nothing of it; all of the query where nothing must."""
        musts = [part for occur, part in tree.parts if occur == "must"]
        for part in musts:
            yield part, tree.boost, math.inf
        if not musts:
            yield tree, 1.0, math.inf

    def leaves(self, node: Node, factor: float, lost: float) -> Iterator[Leaf]:
        """Those of a part; a document that does not match the part has `lost` so much."""
        if not isinstance(node, Clauses):
            yield Leaf(node, factor * self.most(node), lost)
            return
        factor *= node.boost
        parts = [(occur, part) for occur, part in node.parts if occur != "not"]
        for occur, part in parts:
            is_needed = occur == "must" or len(parts) == 1
            yield from self.leaves(part, factor, lost if is_needed else factor * self.most(part))

    def first_guesses(self, leaves: Sequence[Sequence[Leaf]]) -> Iterator[set[Node]]:
        """What the best documents may have: all of a word's places that tell much, or the one that tells most. What too few have fills no page."""
        groups = [
            [leaf for leaf in group if leaf.adds and self._frequency(leaf.node) >= self.limit]
            for group in leaves
        ]
        tops = [max(group, key=lambda leaf: leaf.adds) for group in groups if group]
        if not tops:
            return
        some = zip([group for group in groups if group], tops, strict=True)
        strict = {leaf.node for group, top in some for leaf in group if leaf.adds >= WEIGHTY * top.adds}
        loose = {top.node for top in tops}
        yield strict
        if loose != strict:
            yield loose

    def hits(self, tree: Node, needed: set[Node]) -> Hits:
        """The first of those that have all that is needed."""
        musts = [self._query(tree, needed), *self.filters]
        query = self.compiler.joined([("must", each) for each in musts]) if self.filters else musts[0]
        return list(self.searcher.search(query, limit=self.limit, count=False).hits)

    def _query(self, node: Node, needed: set[Node]) -> tantivy.Query:
        """The same scores. What need not be there is joined one by one: together it would be read from end to end."""
        if not isinstance(node, Clauses) or not _has(node, needed):
            return self.compiler.query(node)
        parts, rest = [], []
        for occur, part in node.parts:
            if occur == "must" or (occur == "should" and _has(part, needed)):
                parts.append(("must", self._query(part, needed)))
            elif occur == "not":
                parts.append((occur, self.compiler.query(part)))
            elif self.most(part):
                rest.append(self.compiler.query(part))
        made = self.compiler.joined(parts)
        for each in rest:
            made = self.compiler.joined([("must", made), ("should", each)])
        return made if node.boost == 1.0 else tantivy.Query.boost_query(made, node.boost)

    def most(self, node: Node) -> float:
        """No document scores more for it."""
        if isinstance(node, Clauses):
            return node.boost * sum(self.most(part) for occur, part in node.parts if occur != "not")
        if node not in self._most_of_leaves:
            self._most_of_leaves[node] = self._most(node)
        return self._most_of_leaves[node]

    def _most(self, node: Node) -> float:
        if not node.boost or isinstance(node, Everything | RangeOf | Regexp):
            return node.boost
        if isinstance(node, Wildcard):
            return node.boost if self.compiler.may_begin(node) else 0.0
        term = self._term(node)
        if term is None:
            bare = replace(node, boost=1.0)
            return node.boost * self._known(bare, self.compiler.query(bare))
        roughly = self._roughly_most(node)
        if roughly <= LIGHT * self.weighty:
            return roughly
        return node.boost * self._known(term, self.compiler.term(*term))

    def _roughly_most(self, node: Node) -> float:
        """The same of a term, without a look at any document."""
        frequency, documents = self._frequency(node), self.index.generation.documents
        rarity = math.log1p(max(0.0, documents - frequency + 0.5) / (frequency + 0.5))
        return node.boost * BM25_MOST * rarity if frequency else 0.0

    def _frequency(self, node: Node) -> float:
        """In how many documents it is, infinite where nobody knows."""
        term = self._term(node)
        return math.inf if term is None else self.searcher.doc_freq(*term)

    def _term(self, node: Node) -> tuple[str, str] | None:
        """The field and the one term that a node asks for."""
        if isinstance(node, Term) and (node.edits is not None or is_number(node.text)):
            return None
        if not isinstance(node, Term | Phrase) or node.field is None:
            return None
        field = self.index.field("text", node.field)
        terms = self.index.analyzers.of(node.field).terms(node.text)
        return (field, terms[0]) if field is not None and len(terms) == 1 else None

    def _known(self, key: object, query: tantivy.Query) -> float:
        most = self.index.generation.most
        if key not in most:
            hits = self.searcher.search(query, limit=1, count=False).hits
            most[key] = hits[0][0] if hits else 0.0
        return most[key]


def _has(node: Node, needed: set[Node]) -> bool:
    """Whether something that is needed is in it."""
    if not isinstance(node, Clauses):
        return node in needed
    return any(_has(part, needed) for occur, part in node.parts if occur != "not")


def _leaves(node: Node) -> Iterator[Node]:
    """Those that score."""
    if not isinstance(node, Clauses):
        yield from (node,) if node.boost else ()
    elif node.boost:
        for occur, part in node.parts:
            if occur != "not":
                yield from _leaves(part)
