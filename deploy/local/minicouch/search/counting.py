"""What finds the same documents as a query when scores do not matter, in the form that is the fastest to count."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import product
from math import prod

from .syntax import Clauses, Node

MAX_COMBINATIONS, MAX_ROWS = 256, 24


def unscored(node: Node) -> Node:
    """Without boosts and what need not match."""
    bare = plain(node)
    return _distributed(bare) if isinstance(bare, Clauses) else bare


def plain(node: Node) -> Node:
    """The same documents, without what decides about scores alone."""
    if not isinstance(node, Clauses):
        return replace(node, boost=1.0)
    needed = [part for part in node.parts if part[0] != "should"]
    kept = needed if any(occur == "must" for occur, _ in needed) else node.parts
    parts = tuple(dict.fromkeys((occur, plain(part)) for occur, part in kept))
    return parts[0][1] if len(parts) == 1 and parts[0][0] != "not" else Clauses(parts)


def clauses_of(node: Node) -> int:
    """How many of a query must match together."""
    bare = plain(node)
    musts = [part for part in bare.parts if part[0] == "must"] if isinstance(bare, Clauses) else []
    return max(1, len(musts))


def _distributed(node: Clauses) -> Clauses:
    """Terms that are all there, or others that are, instead of alternatives of which one must be there, when one clause's alternatives
    stand in others too: an alternative is read from end to end, of terms together the rarest leads and the others are skipped through."""
    needed = [alternatives(part) for occur, part in node.parts if occur == "must"]
    if prod(map(len, needed)) > MAX_COMBINATIONS or not any(_repeats(n, needed) for n in range(len(needed))):
        return node
    rows = _shortest({frozenset(row) for row in product(*needed)})
    if len(rows) > MAX_ROWS:
        return node
    ways = Clauses(tuple(("should", Clauses(tuple(("must", each) for each in row))) for row in rows))
    return Clauses((("must", ways), *(part for part in node.parts if part[0] == "not")))


def alternatives(node: Node) -> list[Node]:
    """Of which one must match."""
    if not isinstance(node, Clauses) or any(occur != "should" for occur, _ in node.parts):
        return [node]
    return list(dict.fromkeys(each for _, part in node.parts for each in alternatives(part)))


def _repeats(place: int, needed: Sequence[Sequence[Node]]) -> bool:
    """Whether each alternative of a clause stands in another one."""
    others = {each for n, clause in enumerate(needed) if n != place for each in clause}
    return others.issuperset(needed[place])


def _shortest(rows: set[frozenset[Node]]) -> list[frozenset[Node]]:
    """Without those that need more than another one does."""
    return [row for row in rows if not any(other < row for other in rows)]
