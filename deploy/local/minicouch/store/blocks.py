"""Block summaries: every run of about FAN rows has an entry with its count and its reduction, every run of FAN such
entries one on the next level, and so on. Any range is a few whole blocks and two edges of single rows.
"""

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from ..encoding.whole_numbers import dumps, loads
from ..reducers import Reducer, State

Position = tuple[bytes, str]
Part = tuple[bool, list[Any]]  # (True, rows) or (False, states)

END_DOCID = "\U0010ffff\U0010ffff"
BEGIN: Position = (b"", "")
END: Position = (b"\xff", "")
FAN = 32
READ = 2048
EMPTY: Any = object()


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
    depth: int,
    ranges: Sequence[tuple[Position, Position]],
) -> list[State]:
    """One state for each range, EMPTY for a range without rows. Holds no more than some thousand rows at a time."""
    states: list[list[State]] = [[] for _ in ranges]
    waiting: list[tuple[list[State], int, list[Any]]] = []
    held = 0
    for found, (lo, hi) in zip(states, ranges, strict=True):
        for is_rows, part in _cover(db, view, depth, lo, hi):
            if not is_rows:
                found += part
                continue
            waiting.append((found, len(found), part))
            found.append(EMPTY)
            held += len(part)
            if held >= READ:
                _reduce_waiting(reducer, waiting)
                held = 0
    _reduce_waiting(reducer, waiting)
    many = iter(reducer.rereduce([found for found in states if len(found) > 1]))
    return [EMPTY if not found else found[0] if len(found) == 1 else next(many) for found in states]


def _reduce_waiting(reducer: Reducer, waiting: list[tuple[list[State], int, list[Any]]]) -> None:
    """Put the states of rows into the places kept for them."""
    for (found, place, _), state in zip(
        waiting, reducer.reduce([rows for _, _, rows in waiting]), strict=True
    ):
        found[place] = state
    waiting.clear()


def _cover(db: sqlite3.Connection, view: int, level: int, lo: Position, hi: Position) -> Iterator[Part]:
    """Rows and block states that together are exactly the rows from `lo` to `hi`, in order."""
    if lo >= hi:
        return
    if level == 0:
        sql = (
            f"SELECT k, docid, v FROM rows_{view} WHERE (key, docid) >= (?, ?) AND (key, docid) < (?, ?)"
            " ORDER BY key, docid, n"
        )
        cursor = db.execute(sql, (*lo, *hi))
        while rows := cursor.fetchmany(READ):
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
        yield False, loads(b"[" + states + b"]")
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


def build(db: sqlite3.Connection, view: int, reducer: Reducer | None) -> int:
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
    return raise_tree(db, view, reducer, 1)


def raise_tree(db: sqlite3.Connection, view: int, reducer: Reducer | None, level: int) -> int:
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
    return [b"null"] * count if states is None else [dumps(state) for state in states]


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
        joined = reducer.rereduce([[loads(e[3]) for e in run if e[2]] for run in runs])
    db.executemany(
        f"INSERT OR REPLACE INTO blocks_{view} VALUES (?, ?, ?, ?, ?)",
        [
            (level, run[0][0], run[0][1], sum(e[2] for e in run), state)
            for run, state in zip(runs, _states(joined, len(runs)), strict=True)
        ],
    )


def refresh_level(
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
        changed |= refresh_entry(db, view, reducer, level, start, end)
    return changed


def refresh_entry(
    db: sqlite3.Connection, view: int, reducer: Reducer | None, level: int, start: Position, end: Position
) -> set[Position]:
    """Recompute one entry from what is below it; it may go, or become several. Gives where entries changed."""
    if level == 1:
        return _refresh_block(db, view, reducer, start, end)
    return _refresh_upper(db, view, reducer, level, start, end)


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
