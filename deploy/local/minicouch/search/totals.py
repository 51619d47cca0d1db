"""How many documents have two words, from how many have each of them and how many have either.

What two long lists have in common is found document by document; what is in one of them or another is counted by whole blocks, at less
than half the price, and how many have one word is known from the last time that somebody asked for it.
"""

import math
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait

import tantivy

from .compiling import Compiler
from .counting import alternatives, plain
from .engine import SearchIndex
from .pruning import FEW
from .syntax import Clauses, Everything, Node

DEARER = 5
"""So many times a document of both lists takes what one of either takes."""
MAX_KEPT = 1024
_counters = ThreadPoolExecutor(2, "size")
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
    """Counts documents of one index as it is now. `frequency`: as for `pair_of`."""

    def __init__(
        self,
        index: SearchIndex,
        searcher: tantivy.Searcher,
        compiler: Compiler,
        frequency: Callable[[Node], float],
    ) -> None:
        self._searcher, self._compiler, self._frequency = searcher, compiler, frequency
        self._kept = index.generation.sizes
        self._few = index.generation.documents * FEW

    def of_both(self, one: Leaves, other: Leaves) -> int:
        """What is not known of each is counted beside what either has."""
        one, other = self._without_parts(one), self._without_parts(other)
        begun = [_counters.submit(self._of, leaves) for leaves in (one, other) if leaves not in self._kept]
        either = self._count(one | other)
        wait(begun)
        return self._of(one) + self._of(other) - either

    def _without_parts(self, leaves: Leaves) -> Leaves:
        """The same documents without what only some of those of a word have, such as two words written as one: so the word is counted once."""
        words: dict[str, Node] = {}
        for leaf in sorted(leaves, key=self._frequency):
            if not isinstance(leaf, Clauses | Everything) and leaf.field and self._frequency(leaf) < math.inf:
                words[leaf.field] = leaf
        return frozenset(
            leaf for leaf in leaves if not any(self._is_part(leaf, word) for word in words.values())
        )

    def _is_part(self, leaf: Node, word: Node) -> bool:
        """Whether the few documents that one finds are among those of another in the same field."""
        if isinstance(leaf, Clauses | Everything) or isinstance(word, Clauses | Everything):
            return False
        if leaf == word or leaf.field != word.field or self._frequency(leaf) > self._few:
            return False
        both = Clauses((("must", leaf), ("must", word)))
        return self._of(frozenset((leaf,))) == self._of(frozenset((both,)))

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
