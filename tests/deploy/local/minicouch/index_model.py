"""What an index should answer, computed the slow way."""

import random
from pathlib import Path
from typing import Any

import orjson

from deploy.local.minicouch.collation import sort_key
from deploy.local.minicouch.reducers import built_in
from deploy.local.minicouch.store.indexes import (
    EMPTY,
    END_DOCID,
    Index,
    Range,
    ViewSpec,
)

REDUCER = built_in("_sum", sort_key)
LEVELS = (0, 1, 2, 3, 4, 7)
ODD_KEYS: list[Any] = [None, 5, "x", [], {"a": 1}, True]


class Model:
    """The same rows kept in a dictionary, and every answer computed the slow way."""

    def __init__(self, path: Path, seed: int) -> None:
        self.index = Index(path, [ViewSpec(REDUCER)])
        self.chance = random.Random(seed)
        self.docs: dict[str, list[tuple[Any, int]]] = {}
        self.seq = 0

    def emitted(self, before: list[tuple[Any, int]]) -> list[tuple[Any, int]]:
        """Some of the rows from before, and others."""
        stay = [row for row in before if self.chance.random() < 0.3]
        new = [(self.key(), self.chance.randrange(100)) for _ in range(self.chance.choice([0, 1, 1, 1, 2]))]
        return stay + new

    def key(self) -> Any:
        if self.chance.random() < 0.1:
            return self.chance.choice(ODD_KEYS)
        whole = ["GBP", self.chance.randrange(3), self.chance.randrange(12), self.chance.randrange(28)]
        return whole[: self.chance.choice([1, 2, 3, 4, 4, 4])]

    def change(self, numbers: list[int], empty: bool = False, **how: int) -> None:
        changes = []
        for number in numbers:
            docid = f"d{number}"
            self.docs[docid] = [] if empty else self.emitted(self.docs.get(docid, []))
            rows = [(sort_key(k), orjson.dumps(k), orjson.dumps(v)) for k, v in self.docs[docid]]
            changes.append((docid, [rows]))
        self.seq += len(numbers)
        self.index.apply(changes, self.seq, **how)

    def rows(self) -> list[tuple[bytes, str, int, Any, int]]:
        return sorted(
            (sort_key(k), docid, n, k, v)
            for docid, rows in self.docs.items()
            for n, (k, v) in enumerate(rows)
        )

    def some_range(self) -> Range:
        rows = self.rows()
        if not rows or self.chance.random() < 0.1:
            return Range(None, None, self.chance.random() < 0.5)
        lo, hi = sorted(self.chance.choice(rows)[:2] for _ in range(2))
        if self.chance.random() < 0.4:
            lo, hi = (lo[0], ""), (hi[0], END_DOCID)
        return Range(lo, hi, self.chance.random() < 0.5)

    def check(self, ranges: int = 8) -> None:
        rows = self.rows()
        assert self.index.count(0) == len(rows)
        assert [row[:2] for row in self.index.rows(0, Range())] == [row[:2] for row in rows]
        with self.index.reading() as db:
            for _ in range(ranges):
                self.check_range(db, self.some_range())

    def check_range(self, db: Any, rng: Range) -> None:
        rows = self.rows()
        lo, hi = rng.bounds
        chosen = [row for row in rows if lo <= row[:2] < hi]
        (total,) = self.index.reduce(db, 0, [rng])
        assert total == (sum(row[4] for row in chosen) if chosen else EMPTY)
        before = [row for row in rows if (row[:2] >= hi if rng.descending else row[:2] < lo)]
        assert self.index.offset(db, 0, rng) == len(before)
        for level in LEVELS:
            wanted: dict[bytes, int] = {}
            for row in reversed(chosen) if rng.descending else chosen:
                key = row[3][:level] if level and isinstance(row[3], list) else row[3]
                wanted[orjson.dumps(key)] = wanted.get(orjson.dumps(key), 0) + row[4]
            assert list(self.index.groups(db, 0, rng, level)) == list(wanted.items())
