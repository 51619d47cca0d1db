"""The best hits without scoring them all.

A word stands in many documents in some field, but the best of them have it where it weighs most. So those are ranked first that have the
words there. The last of them on the page says what any other document would have to score; which words that takes follows from the most
that each can add (MaxScore: Turtle and Flood 1995). What has these words is ranked, with the scores that it has anyway; where nothing
follows, every hit has to be scored.
"""

import itertools
import math
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

import tantivy

from .compiling import Compiler, is_number
from .counting import plain
from .engine import SearchIndex
from .syntax import Clauses, Everything, Node, Phrase, RangeOf, Regexp, Term, Wildcard

COMMON = 10_000
"""A search of no term of so many documents scores them all."""
WEIGHTY, LIGHT = 0.25, 0.1
"""Of what tells most: which other words the very best have too, and of which one need not know exactly what they can add."""
ROUNDING = 1.0001
FEW = 0.02
"""A part of the documents; a clause that so many match at most leads the others."""
MAX_COMBINATIONS, MAX_ROWS, MAX_RARE = 256, 24, 8
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
    if rows := ranking.rare_rows(tree):
        return ranking.hits_of_rows(tree, rows)
    return ranking.pruned(tree, []) or ranking.pruned(tree, ranking.set_rare_aside(tree)) or None


def counted_by_rows(
    index: SearchIndex, searcher: tantivy.Searcher, compiler: Compiler, tree: Node
) -> Node | None:
    """What finds the same documents as a query with a clause that few have, led by what few have; None for any other query."""
    ranking = _Ranking(index, searcher, compiler, (), 0)
    if not isinstance(tree, Clauses) or not ranking.has_common(tree):
        return None
    rows = ranking.rare_rows(tree)
    if not rows:
        return None
    bare = [[replace(node, boost=1.0) for node in sorted(row, key=ranking.frequency)] for row in rows]
    ways = Clauses(tuple(("should", Clauses(tuple(("must", each) for each in row))) for row in bare))
    return Clauses((("must", ways), *(part for part in tree.parts if part[0] == "not")))


def frequencies(
    index: SearchIndex, searcher: tantivy.Searcher, compiler: Compiler
) -> Callable[[Node], float]:
    """In how many documents a node without parts is, at most; infinite where nobody knows."""
    return _Ranking(index, searcher, compiler, (), 0).frequency


def without_everywhere(
    index: SearchIndex, searcher: tantivy.Searcher, compiler: Compiler, tree: Node
) -> Node:
    """What finds the same documents, without what must match and every document has, such as the one currency of a shop."""
    node, ranking = plain(tree), _Ranking(index, searcher, compiler, (), 0)
    if not isinstance(node, Clauses):
        return node
    kept = tuple(part for part in node.parts if part[0] != "must" or not ranking.is_everywhere(part[1]))
    return Clauses(kept) if any(occur == "must" for occur, _ in kept) else node


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
        self._frequencies: dict[Node, float] = {}
        self._everywhere: set[Node] = set()

    def has_common(self, tree: Clauses) -> bool:
        """Whether a term finds very many, and nothing takes longer than that. Learns what a term can add at most."""
        terms = [node for node in _leaves(tree) if self._term(node) is not None]
        self.weighty = max(map(self._roughly_most, terms), default=0.0)
        self._everywhere = set(filter(self.is_everywhere, terms))
        if any(isinstance(node, Wildcard) and math.isinf(self.frequency(node)) for node in _leaves(tree)):
            return False  # each search would gather what it finds anew
        return any(self.frequency(node) >= COMMON for node in terms)

    def is_everywhere(self, node: Node) -> bool:
        """Whether it is a term that every document has."""
        return self._term(node) is not None and self.frequency(node) == self.index.generation.documents

    def pruned(self, tree: Clauses, others: Hits) -> Hits:
        """The first of `others` and of what has none of the terms that were set aside; [] where that needs the scores of all."""
        leaves = [list(self.leaves(part, factor, lost)) for part, factor, lost in self.groups(tree)]
        most = self.most(tree) * ROUNDING
        for needed in self.first_guesses(leaves):
            hits = self._first([others, self.hits(tree, needed)])
            if len(hits) < self.limit:
                continue
            least = hits[-1][0]
            losses: dict[Node, float] = {}
            for leaf in self.leaves(tree, 1.0, math.inf):
                losses[leaf.node] = min(leaf.loss, losses.get(leaf.node, math.inf))
            required = {node for node, loss in losses.items() if most - loss < least}
            if not needed <= required:
                hits = self._first([others, self.hits(tree, required)]) if required else []
            return hits
        return []

    def set_rare_aside(self, tree: Clauses) -> Hits:
        """The first hits to which a term that few documents have adds something, of those of which each can add much. Others are ranked as if there
        were no such terms. One that stands in several places may add something in one of them: all that have it are ranked."""
        rare = {
            node
            for node in _leaves(tree)
            if self._term(node)
            and 0 < self.frequency(node) < COMMON
            and self.most(node) > LIGHT * self.weighty
        }
        if not rare or len(rare) > MAX_RARE:
            return []
        places = Counter(_leaves(tree))
        some = [
            self.hits(tree, {node}) if places[node] == 1 else self.hits(tree, (), {node}) for node in rare
        ]
        found = self._first(some)
        self._most_of_leaves |= dict.fromkeys(rare, 0.0)
        return found

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
            [leaf for leaf in group if leaf.adds and self.frequency(leaf.node) >= self.limit]
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

    def rare_rows(self, tree: Clauses) -> list[frozenset[Node]]:
        """The ways to match a query of which a clause finds few documents, each the leaves that are there together; [] for others, and where
        there are too many ways, or where each search would gather what a beginning finds. A clause of alternatives beside others is read from end
        to end, however few documents these leave."""
        if any(self.compiler.is_gathered(node) for node in _leaves(tree)):
            return []
        groups = [self._ways(part) for occur, part in tree.parts if occur == "must"]
        if len(groups) < 2 or any(ways is None for ways in groups):
            return []
        known = [ways for ways in groups if ways is not None]
        found = [sum(min(map(self.frequency, way), default=math.inf) for way in ways) for ways in known]
        if (
            min(found) > self.index.generation.documents * FEW
            or math.prod(map(len, known)) > MAX_COMBINATIONS
        ):
            return []
        rows = {frozenset().union(*some) for some in itertools.product(*known)}
        shortest = [row for row in rows if not any(other < row for other in rows)]
        return shortest if len(shortest) <= MAX_ROWS else []

    def _ways(self, node: Node) -> list[frozenset[Node]] | None:
        """The leaves that are there together, for each way to match a part; those that no document has are left out. None for too many."""
        if not isinstance(node, Clauses):
            if self.is_everywhere(node):
                return [frozenset()]
            return [frozenset((node,))] if self.frequency(node) else []
        if any(occur == "not" for occur, _ in node.parts):
            return None
        musts = [self._ways(part) for occur, part in node.parts if occur == "must"]
        some = musts or [self._ways(part) for _, part in node.parts]
        known = [ways for ways in some if ways is not None]
        if len(known) < len(some):
            return None
        if not musts:
            return list(dict.fromkeys(itertools.chain.from_iterable(known)))
        if math.prod(map(len, known)) > MAX_COMBINATIONS:
            return None
        return list({frozenset().union(*each) for each in itertools.product(*known)})

    def hits_of_rows(self, tree: Node, rows: Sequence[frozenset[Node]]) -> Hits:
        """The first hits of a query that matches in these ways, and no other."""
        return self._first([self.hits(tree, (), row) for row in rows])

    def _first(self, some: Sequence[Hits]) -> Hits:
        """The best of all of them, each once, with the most that it scored."""
        found: dict[tuple[int, int], tuple[float, tantivy.DocAddress]] = {}
        for score, address in itertools.chain.from_iterable(some):
            place = address.segment_ord, address.doc
            if place not in found or found[place][0] < score:
                found[place] = score, address
        best = sorted(found.items(), key=lambda hit: (-hit[1][0], hit[0]))
        return [hit for _, hit in best[: self.limit]]

    def hits(self, tree: Node, needed: Collection[Node], there: Collection[Node] = ()) -> Hits:
        """The first of those to which all that is `needed` adds something, and which have a leaf of each kind that is `there`."""
        certain = self._everywhere.union(there)
        musts = [self._query(tree, needed, certain), *self.filters]
        query = self.compiler.joined([("must", each) for each in musts]) if self.filters else musts[0]
        return list(self.searcher.search(query, limit=self.limit, count=False).hits)

    def _query(self, node: Node, needed: Collection[Node], there: Collection[Node]) -> tantivy.Query:
        """The same scores. What need not be there is joined one by one: together it would be read from end to end."""
        if not isinstance(node, Clauses) or not _has(node, needed, there):
            return self.compiler.query(node)
        parts, rest = [], []
        for occur, part in node.parts:
            decides = occur == "must" or not _has_musts(node)
            if occur == "must" or (occur == "should" and _has(part, needed, there if decides else ())):
                parts.append(("must", self._query(part, needed, there)))
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
            return node.boost if self.frequency(node) else 0.0
        term = self._term(node)
        if term is None and not self.frequency(node):
            return 0.0
        if term is None:
            bare = replace(node, boost=1.0)
            return node.boost * self._known(bare, self.compiler.query(bare))
        roughly = self._roughly_most(node)
        if roughly <= LIGHT * self.weighty:
            return roughly
        return node.boost * self._known(term, self.compiler.term(*term))

    def _roughly_most(self, node: Node) -> float:
        """The same of a term, without a look at any document."""
        frequency, documents = self.frequency(node), self.index.generation.documents
        rarity = math.log1p(max(0.0, documents - frequency + 0.5) / (frequency + 0.5))
        return node.boost * BM25_MOST * rarity if frequency else 0.0

    def frequency(self, node: Node) -> float:
        """In how many documents it is, at most; infinite where nobody knows."""
        if node not in self._frequencies:
            self._frequencies[node] = self._frequency(node)
        return self._frequencies[node]

    def _frequency(self, node: Node) -> float:
        if isinstance(node, Wildcard | Regexp):
            return self.compiler.max_documents(node)
        if isinstance(node, Phrase) and node.field and self.index.field("text", node.field) is None:
            return 0
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


def _has(node: Node, needed: Collection[Node], there: Collection[Node]) -> bool:
    """Whether something that is needed is in it, or something by which what is there matches it."""
    if not isinstance(node, Clauses):
        return node in needed or node in there
    has_musts = _has_musts(node)
    return any(
        _has(part, needed, there if occur == "must" or not has_musts else ())
        for occur, part in node.parts
        if occur != "not"
    )


def _has_musts(node: Clauses) -> bool:
    return any(occur == "must" for occur, _ in node.parts)


def _leaves(node: Node) -> Iterator[Node]:
    """Those that score."""
    if not isinstance(node, Clauses):
        yield from (node,) if node.boost else ()
    elif node.boost:
        for occur, part in node.parts:
            if occur != "not":
                yield from _leaves(part)
