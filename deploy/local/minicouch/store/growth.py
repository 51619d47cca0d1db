"""Summaries after rows came and none went: what the new rows add up to is joined to what is stored, in the blocks and
groups they fall into, so that a row costs about the same beside thousands of rows and beside millions.

What a reducer cannot join (`join` is None) and blocks that have grown too long are read again, as after any other change.
"""

import sqlite3
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from ..encoding.whole_numbers import dumps, loads
from ..reducers import Reducer, State
from . import blocks, groups
from .blocks import BEGIN, END, FAN, Position
from .groups import KeyOrder, Touched


@dataclass(slots=True)
class Part:
    """What came to one block: how many rows, and their reduction; `torn` when its entry could not simply be added to."""

    start: Position
    count: int
    state: State
    torn: bool = False


GroupPart = tuple[list[bytes], bytes, Any]
"""What came to one group: its prefix at each level, a key's JSON, and a row, or the reduction of several."""


def grow_blocks(
    db: sqlite3.Connection, view: int, reducer: Reducer | None, depth: int, added: Sequence[Touched]
) -> None:
    """Bring all levels up to date with these rows, which are sorted and in their table already."""
    parts = [Part(row[:2], 1, row) for row in added]
    for level in range(1, depth + 1):
        parts = _grow_level(db, view, reducer, level, parts)


def _grow_level(
    db: sqlite3.Connection, view: int, reducer: Reducer | None, level: int, parts: list[Part]
) -> list[Part]:
    """`parts` of the level below (single rows below level 1) go into the entries of this one."""
    found = _entries_of(db, view, level, parts)
    grown = _joined(reducer, level, [inside for *_, inside in found])
    changed = []
    for part, (start, end, count, stored, inside) in zip(grown, found, strict=True):
        part.start, total = start, count + part.count
        state = _state(reducer, count, stored, part.state)
        full = level == 1 and total > 2 * FAN
        if full or state is None or any(below.torn for below in inside):
            part.torn = True
            blocks.refresh_entry(db, view, reducer, level, start, end)
        else:
            changed.append((total, state, level, *start))
    db.executemany(
        f"UPDATE blocks_{view} SET count = ?, state = ? WHERE level = ? AND key = ? AND docid = ?", changed
    )
    return grown


def _entries_of(
    db: sqlite3.Connection, view: int, level: int, parts: list[Part]
) -> list[tuple[Position, Position, int, bytes, list[Part]]]:
    """(start, end, count, state, parts inside) of each entry of a level that any of the sorted parts falls into."""
    at_or_before = (
        f"SELECT key, docid, count, state FROM blocks_{view} WHERE level = ? AND (key, docid) <= (?, ?)"
        " ORDER BY key DESC, docid DESC LIMIT 1"
    )
    behind = f"SELECT key, docid FROM blocks_{view} WHERE level = ? AND (key, docid) > (?, ?) ORDER BY key, docid LIMIT 1"
    found: list[tuple[Position, Position, int, bytes, list[Part]]] = []
    end = BEGIN
    for part in parts:
        if found and part.start < end:
            found[-1][4].append(part)
            continue
        key, docid, count, state = db.execute(at_or_before, (level, *part.start)).fetchone()
        end = db.execute(behind, (level, key, docid)).fetchone() or END
        found.append(((key, docid), end, count, state, [part]))
    return found


def _joined(reducer: Reducer | None, level: int, runs: list[list[Part]]) -> list[Part]:
    """One part for the parts of each run."""
    counts = [sum(part.count for part in run) for run in runs]
    if reducer is None:
        states: Sequence[State] = [None] * len(runs)
    elif level == 1:
        states = reducer.reduce([[_row(part.state) for part in run] for run in runs])
    else:
        states = reducer.rereduce([[part.state for part in run] for run in runs])
    return [Part(BEGIN, count, state) for count, state in zip(counts, states, strict=True)]


def _state(reducer: Reducer | None, count: int, stored: bytes, state: State) -> bytes | None:
    if reducer is None:
        return stored
    joined = reducer.join(loads(stored), state) if count else state
    return None if joined is None else dumps(joined)


def _row(added: Touched) -> tuple[bytes, str, bytes]:
    _, docid, k, v = added
    return k, docid, v


def grow_groups(
    db: sqlite3.Connection,
    view: int,
    reducer: Reducer,
    order: KeyOrder,
    depth: int,
    levels: Sequence[int],
    added: Sequence[Touched],
    values: Sequence[Any],
) -> None:
    """Bring the groups of the kept levels up to date with these sorted rows, `values` being their keys; the blocks must be
    right already. Rows are reduced once: what came to a group is joined of what came to those of the next finer level."""
    if not levels:
        return
    deepest = max(levels)
    parts: list[GroupPart] = [
        (order.prefixes(row[0], value, deepest), row[2], _row(row))
        for row, value in zip(added, values, strict=True)
    ]
    dirty: dict[tuple[int, bytes], bytes] = {}
    combine: Callable[[list[list[Any]]], Sequence[State]] = reducer.reduce
    for level in sorted(levels, key=lambda level: level or groups.MAX_LEVELS + 1, reverse=True):
        runs = [list(run) for _, run in groupby(parts, key=lambda part: part[0][level])]
        states = combine([[state for *_, state in run] for run in runs])
        parts = [(run[0][0], run[0][1], state) for run, state in zip(runs, states, strict=True)]
        dirty |= _add_to_groups(db, view, reducer, level, parts)
        combine = reducer.rereduce  # from now on the parts are those of the finer level
    groups.recompute(db, view, reducer, depth, dirty)


def _add_to_groups(
    db: sqlite3.Connection, view: int, reducer: Reducer, level: int, parts: Sequence[GroupPart]
) -> dict[tuple[int, bytes], bytes]:
    """Gives (level, prefix) to key JSON of the groups that could not be added to."""
    dirty: dict[tuple[int, bytes], bytes] = {}
    kept: list[tuple[Any, ...]] = []
    stored = f"SELECT k, state FROM groups_{view} WHERE level = ? AND key = ?"
    for prefixes, key, state in parts:
        prefix = prefixes[level]
        there = db.execute(stored, (level, prefix)).fetchone()
        k, joined = (
            (groups.group_key(key, level), state)
            if there is None
            else (there[0], reducer.join(loads(there[1]), state))
        )
        if joined is None:
            dirty[level, prefix] = key
        else:
            kept.append((level, prefix, k, dumps(joined)))
    db.executemany(f"INSERT OR REPLACE INTO groups_{view} VALUES (?, ?, ?, ?)", kept)
    return dirty
