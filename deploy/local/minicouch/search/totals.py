"""How many documents have two words, from how many have each of them and how many have either.

What two long lists have in common is found document by document; what is in one of them or another is counted by whole blocks, at less
than half the price, and how many have one word is known from the last time that somebody asked for it.
"""

from collections.abc import Callable

import tantivy

from .compiling import Compiler
from .counting import alternatives, plain
from .engine import SearchIndex
from .syntax import Clauses, Node

DEARER = 5
"""So many times a document of both lists takes what one of either takes."""
MAX_KEPT = 1024
Leaves = frozenset[Node]


def pair_of(tree: Node, frequency: Callable[[Node], float]) -> tuple[Leaves, Leaves] | None:
    """The alternatives of each of two clauses that must match, if so many documents have them that counting either is cheaper. `frequency`: in how many documents
    a node without parts is at most, infinite where nobody knows."""
    node = plain(tree)
    if not isinstance(node, Clauses):
        return None
    clauses = [part for occur, part in node.parts if occur == "must"]
    excluded = [part for occur, part in node.parts if occur == "not"]
    if len(clauses) != 2 or any(isinstance(part, Clauses) or frequency(part) for part in excluded):
        return None
    one, other = (frozenset(filter(frequency, alternatives(part))) for part in clauses)
    known = [[each for each in map(frequency, leaves) if each != float("inf")] for leaves in (one, other)]
    if not all(known):
        return None
    least = min(map(max, known))
    return (one, other) if least * DEARER > sum(map(sum, known)) else None


class Sizes:
    """Counts documents of one index as it is now."""

    def __init__(self, index: SearchIndex, searcher: tantivy.Searcher, compiler: Compiler) -> None:
        self._searcher, self._compiler = searcher, compiler
        self._kept = index.generation.sizes

    def of_both(self, one: Leaves, other: Leaves) -> int:
        return self._of(one) + self._of(other) - self._count(one | other)

    def _of(self, leaves: Leaves) -> int:
        size = self._kept.get(leaves)
        if size is None:
            if len(self._kept) >= MAX_KEPT:
                self._kept.clear()
            size = self._kept[leaves] = self._count(leaves)
        return size

    def _count(self, leaves: Leaves) -> int:
        asked = {"there": {"value_count": {"field": "seq"}}}
        return int(self._searcher.aggregate(self._compiler.any_of(leaves), asked)["there"]["value"])
