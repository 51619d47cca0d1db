"""Partial results beside the rows of a view, so that a reduction costs about the same over few rows and over millions."""

import sqlite3
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import orjson

from ..reducers import Reducer
from . import blocks, groups, growth
from .blocks import Position
from .groups import EXACT, KeyOrder, Touched

SMALLEST = 256
OUTGROWN_UPTO = 50_000


@dataclass(frozen=True, slots=True)
class Shape:
    """What a view has: rows, block levels, materialised group levels (EXACT: whole keys), longest array key.

    `built`: number of rows when the summaries were last built from scratch.
    """

    count: int
    stale: bool
    depth: int
    levels: tuple[int, ...]
    longest: int
    built: int

    def stored_level(self, level: int) -> int | None:
        """Which materialised level answers group_level `level`, if any."""
        wanted = EXACT if level == EXACT or level >= self.longest else level
        return wanted if wanted in self.levels else None


def outgrown(shape: Shape) -> bool:
    """Whether levels that were not worth keeping might be by now; found out while that is still cheap."""
    return 4 * shape.built < shape.count <= OUTGROWN_UPTO


def rebuild(db: sqlite3.Connection, view: int, reducer: Reducer | None, order: KeyOrder, count: int) -> Shape:
    """All blocks and groups anew from the rows."""
    db.execute(f"DELETE FROM blocks_{view}")
    db.execute(f"DELETE FROM groups_{view}")
    if count < SMALLEST:
        return Shape(count, False, 0, (), 0, count)
    depth = blocks.build(db, view, reducer)
    levels, longest = groups.build(db, view, reducer, order, count) if reducer else ((), 0)
    return Shape(count, False, depth, levels, longest, count)


def update(
    db: sqlite3.Connection,
    view: int,
    reducer: Reducer | None,
    order: KeyOrder,
    shape: Shape,
    added: Sequence[Touched],
    removed: Sequence[Touched],
) -> Shape:
    """Bring the summaries up to date after these rows came and went; `added` is sorted."""
    if shape.depth == 0:
        return shape
    if removed:
        _refresh_blocks(db, view, reducer, shape.depth, [*added, *removed])
    else:
        growth.grow_blocks(db, view, reducer, shape.depth, added)
    shape = replace(shape, depth=blocks.raise_tree(db, view, reducer, shape.depth))
    if not reducer:
        return shape
    values = [orjson.loads(k) for _, _, k, _ in added]
    lengths = [len(value) for value in values if isinstance(value, list)]
    shape = replace(shape, longest=max([shape.longest, *lengths]))
    if removed:
        groups.refresh(db, view, reducer, order, shape.depth, shape.levels, [*added, *removed])
    else:
        growth.grow_groups(db, view, reducer, order, shape.depth, shape.levels, added, values)
    return shape


def _refresh_blocks(
    db: sqlite3.Connection, view: int, reducer: Reducer | None, depth: int, touched: Sequence[Touched]
) -> None:
    starts: Iterable[Position] = {(key, docid) for key, docid, *_ in touched}
    for level in range(1, depth + 1):
        starts = blocks.refresh_level(db, view, reducer, level, starts)
