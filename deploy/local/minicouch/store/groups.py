"""Group summaries: for array keys the finished reduction of every key prefix, level by level, so that a grouped report
reads one entry a group. Levels with hardly fewer groups than rows are not kept; those are read from the rows, or blocks of rows.
"""

import sqlite3
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, islice
from typing import Any

import orjson

from ..collation import sort_key
from ..encoding.whole_numbers import dumps, loads
from ..reducers import Reducer, State
from ..reducers import Row as ReduceRow
from .blocks import EMPTY, READ, Position, reduce_ranges

Touched = tuple[bytes, str, bytes, bytes]  # key, document id, key JSON, value JSON
Group = tuple[bytes, State]  # group's key JSON, reduction
OpenGroup = tuple[bytes, bytes, list[State]]  # prefix, first key JSON, states so far
EXACT = 0
MAX_LEVELS = 8
LONG = 256  # rows of a group that are more work to read than the blocks it is made of
SAFE = 1 << 53
REMAINDER = 0xFF
NUMBER_WIDTH = 9


def after(prefix: bytes) -> Position:
    """The position behind every key that starts with `prefix`."""
    return (prefix + b"\xff", "")


def is_inside(key: bytes, prefix: bytes) -> bool:
    """Whether a key is of the group with this prefix. No value's bytes begin another's, but those of a large number, which go on
    with what its double has lost."""
    end = len(prefix)
    return key.startswith(prefix) and (len(key) == end or key[end] != REMAINDER)


@dataclass(frozen=True)
class KeyOrder:
    """How keys become bytes. An array is a tag, its elements' bytes and one closing byte, so its prefixes can be cut."""

    encode: Callable[[Any], bytes]

    def width(self, element: Any) -> int:
        """How many bytes of a key an array element takes."""
        kind = type(element)
        if kind is float or (kind is int and -SAFE < element < SAFE):
            return NUMBER_WIDTH
        return len(self.encode(element))

    def prefix(self, key: bytes, value: Any, level: int) -> bytes:
        """The part of `key` all rows of its group at `level` share; all of it for whole-key groups and short arrays."""
        if level == EXACT or not isinstance(value, list) or len(value) < level:
            return key
        return key[: -sum(map(self.width, value[level:])) - 1]

    def prefixes(self, key: bytes, value: Any, deepest: int) -> list[bytes]:
        """`prefix` for the levels 0 (EXACT) to `deepest`."""
        if not isinstance(value, list):
            return [key] * (deepest + 1)
        found = [key]
        widths = list(map(self.width, value))
        end = len(key) - 1 - sum(widths)
        for element in widths[:deepest]:
            end += element
            found.append(key[:end])
        return found + [key] * (deepest + 1 - len(found))


ICU = KeyOrder(sort_key)


def group_key(k: bytes, level: int) -> bytes:
    if level == EXACT or k[:1] != b"[":
        return k
    return orjson.dumps(orjson.loads(k)[:level])


def groups(
    db: sqlite3.Connection,
    view: int,
    reducer: Reducer,
    order: KeyOrder,
    depth: int,
    stored: int | None,
    bounds: tuple[Position, Position],
    level: int,
    descending: bool,
) -> Iterator[Group]:
    """Every group between the bounds with its reduction; `stored` is the kept level that has them, if any."""
    if stored is None:
        yield from _not_kept(db, view, reducer, order, depth, bounds, level, descending)
        return
    lo, hi = bounds
    direction = "DESC" if descending else "ASC"
    # The group that `lo` falls into starts before it; there is at most one.
    sql = f"SELECT key FROM groups_{view} WHERE level = ? AND key < ? ORDER BY key DESC LIMIT 1"
    before = db.execute(sql, (stored, lo[0])).fetchone()
    first = before[0] if before and after(before[0]) > lo else lo[0]
    upto = "<=" if hi[1] else "<"
    sql = f"SELECT key, k, state FROM groups_{view} WHERE level = ? AND key >= ? AND key {upto} ? ORDER BY key {direction}"
    for key, k, state in db.execute(sql, (stored, first, hi[0])):
        if (key, "") >= lo and after(key) <= hi:
            yield k, loads(state)
            continue
        cut = (max((key, ""), lo), min(after(key), hi))
        (part,) = reduce_ranges(db, view, reducer, depth, [cut])
        if part is not EMPTY:
            yield k, part


def _not_kept(
    db: sqlite3.Connection,
    view: int,
    reducer: Reducer,
    order: KeyOrder,
    depth: int,
    bounds: tuple[Position, Position],
    level: int,
    descending: bool,
) -> Iterator[Group]:
    """Groups of a level that is not kept: short ones from their rows, each long one from the blocks that it is made of."""
    lo, hi = bounds
    while long := (yield from _from_rows(db, view, reducer, order, depth, (lo, hi), level, descending)):
        prefix, k = long
        begin, end = max((prefix, ""), lo), min(after(prefix), hi)
        (state,) = reduce_ranges(db, view, reducer, depth, [(begin, end)])
        yield group_key(k, level), state
        lo, hi = (lo, begin) if descending else (end, hi)


def _from_rows(
    db: sqlite3.Connection,
    view: int,
    reducer: Reducer,
    order: KeyOrder,
    depth: int,
    bounds: tuple[Position, Position],
    level: int,
    descending: bool,
) -> Generator[Group, None, tuple[bytes, bytes] | None]:
    """Groups by reading their rows, up to the first one with LONG rows where there are blocks: its prefix and a key's JSON."""
    columns = "key DESC, docid DESC, n DESC" if descending else "key, docid, n"
    sql = (
        f"SELECT key, docid, k, v FROM rows_{view} WHERE (key, docid) >= (?, ?) AND (key, docid) < (?, ?)"
        f" ORDER BY {columns}"
    )
    cursor = db.execute(sql, (*bounds[0], *bounds[1]))
    most = LONG if depth else READ
    batch: list[tuple[bytes, bytes, list[ReduceRow]]] = []
    last: OpenGroup | None = None
    long: tuple[bytes, bytes] | None = None
    held, wanted = 0, 64
    for prefix, k, rows in _runs(cursor, order, level, most):
        if depth and len(rows) >= LONG:
            long = (prefix, k)
            break
        batch.append((prefix, k, rows[::-1] if descending else rows))
        held += len(rows)
        if held >= wanted:
            complete, last = _reduce_runs(reducer, batch, last)
            yield from _joined(reducer, complete, level, descending)
            batch, held, wanted = [], 0, min(wanted * 4, READ)
    complete, last = _reduce_runs(reducer, batch, last)
    yield from _joined(reducer, complete + ([last] if last else []), level, descending)
    return long


def _runs(
    cursor: Iterable[tuple[bytes, str, bytes, bytes]], order: KeyOrder, level: int, most: int = READ
) -> Iterator[tuple[bytes, bytes, list[ReduceRow]]]:
    """(prefix, first key JSON, rows) of each group in a sorted stream of rows; one of more than `most` comes in several runs."""
    prefix, first, rows = b"", b"", []
    for key, run in groupby(cursor, key=lambda row: row[0]):
        own: bytes | None = None
        while part := [(k, docid, v) for _, docid, k, v in islice(run, most)]:
            own = own or _group_of(key, part[0][0], order, level, prefix)
            if rows and own == prefix and len(rows) < most:
                rows += part
                continue
            if rows:
                yield prefix, first, rows
            prefix, first, rows = own, part[0][0], part
    if rows:
        yield prefix, first, rows


def _group_of(key: bytes, k: bytes, order: KeyOrder, level: int, current: bytes) -> bytes:
    """The prefix of a key's group. One that begins like the `current` group is not decoded and cut: long groups are read quickly."""
    if level == EXACT:
        return key
    return current if current and is_inside(key, current) else order.prefix(key, orjson.loads(k), level)


def _reduce_runs(
    reducer: Reducer, batch: list[tuple[bytes, bytes, list[ReduceRow]]], last: OpenGroup | None
) -> tuple[list[OpenGroup], OpenGroup | None]:
    """The groups that are complete after these runs, and the one that may go on."""
    complete: list[OpenGroup] = []
    for (prefix, k, _), state in zip(batch, reducer.reduce([rows for _, _, rows in batch]), strict=True):
        if last is not None and last[0] == prefix:
            last[2].append(state)
            continue
        if last is not None:
            complete.append(last)
        last = (prefix, k, [state])
    return complete, last


def _joined(reducer: Reducer, found: list[OpenGroup], level: int, descending: bool) -> Iterator[Group]:
    joined = reducer.rereduce([states[::-1] if descending else states for _, _, states in found])
    for (_, k, _), state in zip(found, joined, strict=True):
        yield group_key(k, level), state


def build(
    db: sqlite3.Connection, view: int, reducer: Reducer, order: KeyOrder, count: int
) -> tuple[tuple[int, ...], int]:
    """Groups of every level worth keeping, in one pass over the rows. Gives those levels and the longest array."""
    longest = db.execute(f"SELECT max(json_array_length(CAST(k AS TEXT))) FROM rows_{view}").fetchone()[0]
    # At and beyond the longest array a group is a whole key, which is level EXACT.
    deepest = max(0, min(longest - 1, MAX_LEVELS))
    cursor = db.cursor()
    cursor.execute(f"SELECT key, docid, k, v FROM rows_{view} ORDER BY key, docid, n")
    writer = GroupWriter(db, view, reducer, order, deepest, count // 4)
    batch: list[tuple[bytes, bytes, list[ReduceRow]]] = []
    held = 0
    for key, k, rows in _runs(cursor, order, EXACT):
        batch.append((key, k, rows))
        held += len(rows)
        if held >= READ:
            writer.add(batch)
            batch, held = [], 0
            if not writer.levels:
                return (), longest
    writer.add(batch)
    writer.flush()
    return tuple(sorted(writer.levels)), longest


class GroupWriter:
    """Turns exact keys in order into the entries of all levels; a level that grows past `most` is dropped."""

    def __init__(
        self, db: sqlite3.Connection, view: int, reducer: Reducer, order: KeyOrder, deepest: int, most: int
    ) -> None:
        self._db, self._view, self._reducer, self._order, self._most = db, view, reducer, order, most
        self.levels = set(range(deepest + 1))
        self._counts = dict.fromkeys(self.levels, 0)
        self._open: dict[int, tuple[bytes, bytes, list[State]]] = {}
        self._closed: list[tuple[int, bytes, bytes, list[State]]] = []

    def add(self, batch: list[tuple[bytes, bytes, list[ReduceRow]]]) -> None:
        states = self._reducer.reduce([rows for _, _, rows in batch])
        for (key, k, _), state in zip(batch, states, strict=True):
            prefixes: list[bytes] | None = None
            for level in self.levels:
                current = self._open.get(level)
                if current and is_inside(key, current[0]):
                    current[2].append(state)
                    continue
                if prefixes is None:
                    prefixes = self._order.prefixes(key, orjson.loads(k), max(self.levels))
                if current:
                    self._closed.append((level, *current))
                self._open[level] = (prefixes[level], k, [state])
                self._counts[level] += 1
        self._write()

    def flush(self) -> None:
        self._closed += [(level, *current) for level, current in self._open.items()]
        self._open = {}
        self._write()

    def _write(self) -> None:
        closed = [entry for entry in self._closed if entry[0] in self.levels]
        joined = self._reducer.rereduce([entry[3] for entry in closed])
        self._db.executemany(
            f"INSERT OR REPLACE INTO groups_{self._view} VALUES (?, ?, ?, ?)",
            [
                (level, prefix, group_key(k, level), dumps(state))
                for (level, prefix, k, _), state in zip(closed, joined, strict=True)
            ],
        )
        self._closed = []
        for level in [level for level in self.levels if self._counts[level] > self._most]:
            self.levels.discard(level)
            self._open.pop(level, None)
            self._db.execute(f"DELETE FROM groups_{self._view} WHERE level = ?", (level,))


def refresh(
    db: sqlite3.Connection,
    view: int,
    reducer: Reducer,
    order: KeyOrder,
    depth: int,
    levels: Sequence[int],
    touched: Sequence[Touched],
) -> None:
    """Recompute the groups of the kept levels that rows came to or went from; the blocks must be right already."""
    decoded = [(key, k, orjson.loads(k)) for key, k in {key: k for key, _, k, _ in touched}.items()]
    dirty: dict[tuple[int, bytes], bytes] = {}
    for level in levels:
        for key, k, value in decoded:
            dirty.setdefault((level, order.prefix(key, value, level)), k)
    recompute(db, view, reducer, depth, dirty)


def recompute(
    db: sqlite3.Connection, view: int, reducer: Reducer, depth: int, dirty: dict[tuple[int, bytes], bytes]
) -> None:
    """Reduce these groups, (level, prefix) to a key's JSON, anew from the blocks."""
    ranges = [((prefix, ""), after(prefix)) for _, prefix in dirty]
    for ((level, prefix), k), state in zip(
        dirty.items(), reduce_ranges(db, view, reducer, depth, ranges), strict=True
    ):
        if state is EMPTY:
            db.execute(f"DELETE FROM groups_{view} WHERE level = ? AND key = ?", (level, prefix))
        else:
            db.execute(
                f"INSERT OR REPLACE INTO groups_{view} VALUES (?, ?, ?, ?)",
                (level, prefix, group_key(k, level), dumps(state)),
            )
