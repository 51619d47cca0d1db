"""The tables of an index file, what its views keep, and how a stretch of rows is read."""

import sqlite3
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import orjson

from ..reducers import Reducer
from .blocks import BEGIN, END, Position
from .groups import ICU, KeyOrder
from .summaries import Shape

Row = tuple[bytes, str, bytes, bytes]  # key, document id, key JSON, value JSON
Emitted = tuple[bytes, bytes, bytes]  # key, key JSON, value JSON
Change = tuple[str, Sequence[Sequence[Emitted]]]  # document id, rows per view

SCHEMA = """
CREATE TABLE IF NOT EXISTS meta (seq INTEGER NOT NULL, format TEXT NOT NULL, by_doc INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS views (
  no INTEGER PRIMARY KEY, count INTEGER NOT NULL, stale INTEGER NOT NULL, depth INTEGER NOT NULL,
  levels TEXT NOT NULL, longest INTEGER NOT NULL, built INTEGER NOT NULL
);
"""
VIEW_SCHEMA = """
CREATE TABLE IF NOT EXISTS rows_{n} (
  key BLOB NOT NULL, docid TEXT NOT NULL, n INTEGER NOT NULL, k BLOB NOT NULL, v BLOB NOT NULL,
  PRIMARY KEY (key, docid, n)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS blocks_{n} (
  level INTEGER NOT NULL, key BLOB NOT NULL, docid TEXT NOT NULL, count INTEGER NOT NULL, state BLOB,
  PRIMARY KEY (level, key, docid)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS groups_{n} (
  level INTEGER NOT NULL, key BLOB NOT NULL, k BLOB NOT NULL, state BLOB NOT NULL,
  PRIMARY KEY (level, key)
) WITHOUT ROWID;
"""


@dataclass(frozen=True, slots=True)
class ViewSpec:
    """What a view keeps beside its rows: partial results of `reducer`, and counts unless `summaries` is off."""

    reducer: Reducer | None = None
    summaries: bool = True
    order: KeyOrder = ICU


@dataclass(frozen=True, slots=True)
class Range:
    """Rows from `lo` (included) to `hi` (excluded), each a (key, document id); None is open."""

    lo: Position | None = None
    hi: Position | None = None
    descending: bool = False

    @property
    def bounds(self) -> tuple[Position, Position]:
        return self.lo or BEGIN, self.hi or END


def shape_of(db: sqlite3.Connection, view: int) -> Shape:
    row = db.execute(
        "SELECT count, stale, depth, levels, longest, built FROM views WHERE no = ?", (view,)
    ).fetchone()
    count, stale, depth, levels, longest, built = row
    if stale:
        return Shape(count, True, 0, (), longest, built)
    return Shape(count, False, depth, tuple(orjson.loads(levels)), longest, built)


def scan(
    db: sqlite3.Connection, view: int, rng: Range, limit: int | None = None, skip: int = 0
) -> Iterator[Row]:
    """The rows of `rng` in its direction."""
    conditions: list[str] = []
    values: list[object] = []
    for bound, operator in ((rng.lo, ">="), (rng.hi, "<")):
        if bound is not None:
            conditions.append(f"(key, docid) {operator} (?, ?)")
            values += bound
    where = f"WHERE {' AND '.join(conditions)}" if conditions else ""
    order = "key DESC, docid DESC, n" if rng.descending else "key, docid, n"
    sql = f"SELECT key, docid, k, v FROM rows_{view} {where} ORDER BY {order} LIMIT ? OFFSET ?"
    return db.execute(sql, (*values, -1 if limit is None else limit, skip))
