"""Partial results beside the rows of a view, so that a reduction costs about the same over few rows and over millions.

Two kinds. Blocks: every run of about FAN rows has one entry with its count and its reduction, every run of FAN such
entries one entry on the next level, and so on; any range is a few whole blocks and two edges of single rows.
Groups: for array keys, the finished reduction of every key prefix, level by level, so that a grouped report reads
one entry a group. Levels with hardly fewer groups than rows are not kept; those are read from the rows.
"""

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any

import orjson

from ..collation import sort_key
from ..reducers import Reducer, State
from ..reducers import Row as ReduceRow

Position = tuple[bytes, str]
Touched = tuple[bytes, str, bytes]  # key, document id, key JSON
Group = tuple[bytes, State]  # group's key JSON, reduction
Part = tuple[bool, list[Any]]  # (True, rows) or (False, states)

END_DOCID = "\U0010ffff\U0010ffff"
BEGIN: Position = (b"", "")
END: Position = (b"\xff", "")
FAN = 32
EXACT = 0
EMPTY: Any = object()
MAX_LEVELS = 8
SMALLEST = 256
READ = 2048
OUTGROWN_UPTO = 50_000
SAFE = 1 << 53
NUMBER_WIDTH = 9


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
        wanted = EXACT if level >= self.longest else level
        return wanted if wanted in self.levels else None


def outgrown(shape: Shape) -> bool:
    """Whether levels that were not worth keeping might be by now; found out while that is still cheap."""
    return 4 * shape.built < shape.count <= OUTGROWN_UPTO


def dump(state: State) -> bytes:
    return orjson.dumps(state)


def after(prefix: bytes) -> Position:
    """The position behind every key that starts with `prefix`."""
    return (prefix + b"\xff", "")


def width(element: Any) -> int:
    """How many bytes of a key an array element takes."""
    kind = type(element)
    if kind is float or (kind is int and -SAFE < element < SAFE):
        return NUMBER_WIDTH
    return len(sort_key(element))


def prefix_of(key: bytes, value: Any, level: int) -> bytes:
    """The part of `key` all rows of its group at `level` share; the whole key for whole-key groups and short arrays."""
    if level == EXACT or not isinstance(value, list) or len(value) < level:
        return key
    return key[: -sum(map(width, value[level:])) - 1]


def prefixes_of(key: bytes, value: Any, deepest: int) -> list[bytes]:
    """`prefix_of` for the levels 0 (EXACT) to `deepest`."""
    if not isinstance(value, list):
        return [key] * (deepest + 1)
    found = [key]
    end = len(key) - 1 - sum(map(width, value))
    for element in value[:deepest]:
        end += width(element)
        found.append(key[:end])
    return found + [key] * (deepest + 1 - len(found))


def group_key(k: bytes, level: int) -> bytes:
    if level == EXACT or k[:1] != b"[":
        return k
    return orjson.dumps(orjson.loads(k)[:level])


# -- reading


def rank(db: sqlite3.Connection, view: int, depth: int, position: Position) -> int:
    """How many rows come before `position`."""
    total, start = 0, BEGIN
    for level in range(depth, 0, -1):
        entries = _entries(db, view, level, start, position, "key, docid, count")
        if entries:
            total += sum([entry[2] for entry in entries[:-1]])
            start = entries[-1][:2]
    sql = f"SELECT count(*) FROM rows_{view} WHERE (key, docid) >= (?, ?) AND (key, docid) < (?, ?)"
    return total + db.execute(sql, (*start, *position)).fetchone()[0]


def reduce_ranges(
    db: sqlite3.Connection,
    view: int,
    reducer: Reducer,
    shape: Shape,
    ranges: Sequence[tuple[Position, Position]],
) -> list[State]:
    """One state for each range, EMPTY for a range without rows."""
    covers = [list(_cover(db, view, shape.depth, lo, hi)) for lo, hi in ranges]
    reduced = iter(reducer.reduce([part for cover in covers for is_rows, part in cover if is_rows]))
    states = [
        [state for is_rows, part in cover for state in ([next(reduced)] if is_rows else part)]
        for cover in covers
    ]
    many = iter(reducer.rereduce([s for s in states if len(s) > 1]))
    return [EMPTY if not s else s[0] if len(s) == 1 else next(many) for s in states]


def _cover(db: sqlite3.Connection, view: int, level: int, lo: Position, hi: Position) -> Iterator[Part]:
    """Rows and block states that together are exactly the rows from `lo` to `hi`, in order."""
    if lo >= hi:
        return
    if level == 0:
        sql = (
            f"SELECT k, docid, v FROM rows_{view} WHERE (key, docid) >= (?, ?) AND (key, docid) < (?, ?)"
            " ORDER BY key, docid, n"
        )
        rows = db.execute(sql, (*lo, *hi)).fetchall()
        if rows:
            yield True, rows
        return
    entries = _entries(db, view, level, lo, hi, "key, docid, count, state")
    if not entries:
        yield from _cover(db, view, level - 1, lo, hi)
        return
    yield from _cover(db, view, level - 1, lo, entries[0][:2])
    whole = entries if hi == END else entries[:-1]
    states = b",".join([state for _, _, count, state in whole if count])
    if states:
        yield False, orjson.loads(b"[" + states + b"]")
    if hi != END:
        yield from _cover(db, view, level - 1, entries[-1][:2], hi)


def _entries(
    db: sqlite3.Connection, view: int, level: int, lo: Position, hi: Position, columns: str
) -> list[tuple[Any, ...]]:
    sql = (
        f"SELECT {columns} FROM blocks_{view} WHERE level = ? AND (key, docid) >= (?, ?) AND (key, docid) < (?, ?)"
        " ORDER BY key, docid"
    )
    return db.execute(sql, (level, *lo, *hi)).fetchall()


def groups(
    db: sqlite3.Connection,
    view: int,
    reducer: Reducer,
    shape: Shape,
    bounds: tuple[Position, Position],
    level: int,
    descending: bool,
) -> Iterator[Group]:
    """Every group between the bounds with its reduction; `level` EXACT groups by the whole key."""
    stored = EXACT if level == EXACT else shape.stored_level(level)
    if stored is None or stored not in shape.levels:
        yield from _groups_of_rows(db, view, reducer, bounds, level, descending)
        return
    lo, hi = bounds
    order = "DESC" if descending else "ASC"
    # The group that `lo` falls into starts before it; there is at most one.
    sql = f"SELECT key FROM groups_{view} WHERE level = ? AND key < ? ORDER BY key DESC LIMIT 1"
    before = db.execute(sql, (stored, lo[0])).fetchone()
    first = before[0] if before and after(before[0]) > lo else lo[0]
    upto = "<=" if hi[1] else "<"
    sql = f"SELECT key, k, state FROM groups_{view} WHERE level = ? AND key >= ? AND key {upto} ? ORDER BY key {order}"
    for key, k, state in db.execute(sql, (stored, first, hi[0])).fetchall():
        if (key, "") >= lo and after(key) <= hi:
            yield k, orjson.loads(state)
            continue
        cut = (max((key, ""), lo), min(after(key), hi))
        (part,) = reduce_ranges(db, view, reducer, shape, [cut])
        if part is not EMPTY:
            yield k, part


def _groups_of_rows(
    db: sqlite3.Connection,
    view: int,
    reducer: Reducer,
    bounds: tuple[Position, Position],
    level: int,
    descending: bool,
) -> Iterator[Group]:
    order = "key DESC, docid DESC, n DESC" if descending else "key, docid, n"
    sql = (
        f"SELECT key, docid, k, v FROM rows_{view} WHERE (key, docid) >= (?, ?) AND (key, docid) < (?, ?)"
        f" ORDER BY {order}"
    )
    cursor = db.execute(sql, (*bounds[0], *bounds[1]))
    batch: list[tuple[bytes, list[ReduceRow]]] = []
    held, wanted = 0, 64
    for _, k, rows in _runs(cursor, level):
        batch.append((k, rows[::-1] if descending else rows))
        held += len(rows)
        if held >= wanted:
            yield from _reduce_batch(reducer, batch, level)
            batch, held, wanted = [], 0, min(wanted * 4, READ)
    yield from _reduce_batch(reducer, batch, level)


def _runs(
    cursor: Iterable[tuple[bytes, str, bytes, bytes]], level: int
) -> Iterator[tuple[bytes, bytes, list[ReduceRow]]]:
    """(prefix, first key JSON, rows) of each group in a sorted stream of rows."""
    prefix, first, rows = b"", b"", []
    for key, run in groupby(cursor, key=lambda row: row[0]):
        part = [(k, docid, v) for _, docid, k, v in run]
        own = key if level == EXACT else prefix_of(key, orjson.loads(part[0][0]), level)
        if rows and own == prefix:
            rows += part
            continue
        if rows:
            yield prefix, first, rows
        prefix, first, rows = own, part[0][0], part
    if rows:
        yield prefix, first, rows


def _reduce_batch(
    reducer: Reducer, batch: list[tuple[bytes, list[ReduceRow]]], level: int
) -> Iterator[Group]:
    for (k, _), state in zip(batch, reducer.reduce([rows for _, rows in batch]), strict=True):
        yield group_key(k, level), state


# -- building from scratch


def rebuild(db: sqlite3.Connection, view: int, reducer: Reducer | None, count: int) -> Shape:
    """All blocks and groups anew from the rows."""
    db.execute(f"DELETE FROM blocks_{view}")
    db.execute(f"DELETE FROM groups_{view}")
    if count < SMALLEST:
        return Shape(count, False, 0, (), 0, count)
    depth = _build_blocks(db, view, reducer)
    levels, longest = _build_groups(db, view, reducer, count) if reducer else ((), 0)
    return Shape(count, False, depth, levels, longest, count)


def _build_blocks(db: sqlite3.Connection, view: int, reducer: Reducer | None) -> int:
    cursor = db.cursor()
    cursor.execute(f"SELECT k, docid, v, key FROM rows_{view} ORDER BY key, docid, n")
    start = BEGIN
    carry: list[tuple[bytes, str, bytes, bytes]] = []
    while fetched := cursor.fetchmany(READ):
        carry += fetched
        cuts = _cuts(carry, last=False)
        _insert_blocks(db, view, reducer, [carry[a:b] for a, b in cuts], start)
        carry = carry[cuts[-1][1] :] if cuts else carry
        if cuts and carry:
            start = (carry[0][3], carry[0][1])
    if carry:
        _insert_blocks(db, view, reducer, [carry], start)
    return _raise_tree(db, view, reducer, 1)


def _raise_tree(db: sqlite3.Connection, view: int, reducer: Reducer | None, level: int) -> int:
    """Add levels above `level` until the highest has few entries; gives the highest."""
    while db.execute(f"SELECT count(*) FROM blocks_{view} WHERE level = ?", (level,)).fetchone()[0] > 2 * FAN:
        level += 1
        entries = _entries(db, view, level - 1, BEGIN, END, "key, docid, count, state")
        _insert_upper(db, view, reducer, level, [entries[i : i + FAN] for i in range(0, len(entries), FAN)])
    return level


def _cuts(rows: Sequence[tuple[bytes, str, bytes, bytes]], last: bool) -> list[tuple[int, int]]:
    """Slices of about FAN rows; rows of one key and document stay together, and an unfinished slice waits for more."""
    cuts, start = [], 0
    for i in range(FAN, len(rows)):
        if i - start >= FAN and (rows[i][3], rows[i][1]) != (rows[i - 1][3], rows[i - 1][1]):
            cuts.append((start, i))
            start = i
    if last and start < len(rows):
        cuts.append((start, len(rows)))
    return cuts


def _insert_blocks(
    db: sqlite3.Connection,
    view: int,
    reducer: Reducer | None,
    runs: Sequence[Sequence[tuple[bytes, str, bytes, bytes]]],
    start: Position,
) -> None:
    """Level 1 entries for runs of (key JSON, document id, value JSON, key); the first one starts at `start`."""
    states = _states(
        reducer.reduce([[row[:3] for row in run] for run in runs]) if reducer else None, len(runs)
    )
    starts = [start, *((run[0][3], run[0][1]) for run in runs[1:])]
    db.executemany(
        f"INSERT OR REPLACE INTO blocks_{view} VALUES (1, ?, ?, ?, ?)",
        [(*at, len(run), state) for at, run, state in zip(starts, runs, states, strict=False)],
    )


def _states(states: Sequence[State] | None, count: int) -> list[bytes]:
    return [b"null"] * count if states is None else [dump(state) for state in states]


def _insert_upper(
    db: sqlite3.Connection,
    view: int,
    reducer: Reducer | None,
    level: int,
    runs: Sequence[Sequence[tuple[Any, ...]]],
) -> None:
    """Entries of `level`, one for each run of (key, document id, count, state) entries of the level below."""
    joined = None
    if reducer:
        joined = reducer.rereduce([[orjson.loads(e[3]) for e in run if e[2]] for run in runs])
    db.executemany(
        f"INSERT OR REPLACE INTO blocks_{view} VALUES (?, ?, ?, ?, ?)",
        [
            (level, run[0][0], run[0][1], sum(e[2] for e in run), state)
            for run, state in zip(runs, _states(joined, len(runs)), strict=True)
        ],
    )


def _build_groups(
    db: sqlite3.Connection, view: int, reducer: Reducer, count: int
) -> tuple[tuple[int, ...], int]:
    """Groups of every level worth keeping, in one pass over the rows. Gives those levels and the longest array."""
    longest = db.execute(f"SELECT max(json_array_length(CAST(k AS TEXT))) FROM rows_{view}").fetchone()[0]
    # At and beyond the longest array a group is a whole key, which is level EXACT.
    deepest = max(0, min(longest - 1, MAX_LEVELS))
    cursor = db.cursor()
    cursor.execute(f"SELECT key, docid, k, v FROM rows_{view} ORDER BY key, docid, n")
    writer = GroupWriter(db, view, reducer, deepest, count // 4)
    batch: list[tuple[bytes, bytes, list[ReduceRow]]] = []
    held = 0
    for key, k, rows in _runs(cursor, EXACT):
        batch.append((key, k, rows))
        held += len(rows)
        if held >= READ:
            writer.add(batch)
            batch, held = [], 0
    writer.add(batch)
    writer.flush()
    return tuple(sorted(writer.levels)), longest


class GroupWriter:
    """Turns exact keys in order into the entries of all levels; a level that grows past `most` is dropped."""

    def __init__(self, db: sqlite3.Connection, view: int, reducer: Reducer, deepest: int, most: int) -> None:
        self._db, self._view, self._reducer, self._most = db, view, reducer, most
        self._deepest = deepest
        self.levels = set(range(deepest + 1))
        self._counts = dict.fromkeys(self.levels, 0)
        self._open: dict[int, tuple[bytes, bytes, list[State]]] = {}
        self._closed: list[tuple[int, bytes, bytes, list[State]]] = []

    def add(self, batch: list[tuple[bytes, bytes, list[ReduceRow]]]) -> None:
        states = self._reducer.reduce([rows for _, _, rows in batch])
        for (key, k, _), state in zip(batch, states, strict=True):
            prefixes = prefixes_of(key, orjson.loads(k), self._deepest)
            for level in self.levels:
                current = self._open.get(level)
                if current and current[0] == prefixes[level]:
                    current[2].append(state)
                    continue
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
                (level, prefix, group_key(k, level), dump(state))
                for (level, prefix, k, _), state in zip(closed, joined, strict=True)
            ],
        )
        self._closed = []
        for level in [level for level in self.levels if self._counts[level] > self._most]:
            self.levels.discard(level)
            self._open.pop(level, None)
            self._db.execute(f"DELETE FROM groups_{self._view} WHERE level = ?", (level,))


# -- keeping up with few changes


def update(
    db: sqlite3.Connection,
    view: int,
    reducer: Reducer | None,
    shape: Shape,
    added: Sequence[Touched],
    removed: Sequence[Touched],
) -> Shape:
    """Bring the summaries up to date after these rows came and went."""
    if shape.depth == 0:
        return shape
    touched = [*added, *removed]
    starts: Iterable[Position] = {(key, docid) for key, docid, _ in touched}
    for level in range(1, shape.depth + 1):
        starts = _refresh_level(db, view, reducer, level, starts)
    shape = replace(shape, depth=_raise_tree(db, view, reducer, shape.depth))
    if not reducer:
        return shape
    lengths = [len(value) for value in (orjson.loads(k) for _, _, k in added) if isinstance(value, list)]
    shape = replace(shape, longest=max([shape.longest, *lengths]))
    _refresh_groups(db, view, reducer, shape, touched)
    return shape


def _refresh_level(
    db: sqlite3.Connection, view: int, reducer: Reducer | None, level: int, positions: Iterable[Position]
) -> set[Position]:
    """Recompute the blocks of `level` that hold the positions; gives where entries changed, for the level above."""
    at_or_before = (
        f"SELECT key, docid FROM blocks_{view} WHERE level = ? AND (key, docid) <= (?, ?)"
        " ORDER BY key DESC, docid DESC LIMIT 1"
    )
    behind = f"SELECT key, docid FROM blocks_{view} WHERE level = ? AND (key, docid) > (?, ?) ORDER BY key, docid LIMIT 1"
    dirty = {db.execute(at_or_before, (level, *position)).fetchone() for position in positions}
    changed: set[Position] = set()
    for start in sorted(dirty):
        end = db.execute(behind, (level, *start)).fetchone() or END
        if level == 1:
            changed |= _refresh_block(db, view, reducer, start, end)
        else:
            changed |= _refresh_upper(db, view, reducer, level, start, end)
    return changed


def _refresh_block(
    db: sqlite3.Connection, view: int, reducer: Reducer | None, start: Position, end: Position
) -> set[Position]:
    sql = (
        f"SELECT k, docid, v, key FROM rows_{view} WHERE (key, docid) >= (?, ?) AND (key, docid) < (?, ?)"
        " ORDER BY key, docid, n"
    )
    rows = db.execute(sql, (*start, *end)).fetchall()
    if not rows and start != BEGIN:
        db.execute(f"DELETE FROM blocks_{view} WHERE level = 1 AND key = ? AND docid = ?", start)
        return {start}
    runs = [rows[a:b] for a, b in _cuts(rows, last=True)] if len(rows) > 2 * FAN else [rows]
    _insert_blocks(db, view, reducer, runs, start)
    return {start, *((run[0][3], run[0][1]) for run in runs[1:])}


def _refresh_upper(
    db: sqlite3.Connection, view: int, reducer: Reducer | None, level: int, start: Position, end: Position
) -> set[Position]:
    entries = _entries(db, view, level - 1, start, end, "key, docid, count, state")
    db.execute(f"DELETE FROM blocks_{view} WHERE level = ? AND key = ? AND docid = ?", (level, *start))
    if not entries:
        return {start}
    size = FAN if len(entries) > 2 * FAN else len(entries)
    runs = [entries[i : i + size] for i in range(0, len(entries), size)]
    _insert_upper(db, view, reducer, level, runs)
    return {start, *(run[0][:2] for run in runs)}


def _refresh_groups(
    db: sqlite3.Connection, view: int, reducer: Reducer, shape: Shape, touched: Sequence[Touched]
) -> None:
    decoded = [(key, k, orjson.loads(k)) for key, k in {key: k for key, _, k in touched}.items()]
    dirty: dict[tuple[int, bytes], bytes] = {}
    for level in shape.levels:
        for key, k, value in decoded:
            dirty.setdefault((level, prefix_of(key, value, level)), k)
    ranges = [((prefix, ""), after(prefix)) for _, prefix in dirty]
    for ((level, prefix), k), state in zip(
        dirty.items(), reduce_ranges(db, view, reducer, shape, ranges), strict=True
    ):
        if state is EMPTY:
            db.execute(f"DELETE FROM groups_{view} WHERE level = ? AND key = ?", (level, prefix))
        else:
            db.execute(
                f"INSERT OR REPLACE INTO groups_{view} VALUES (?, ?, ?, ?)",
                (level, prefix, group_key(k, level), dump(state)),
            )
