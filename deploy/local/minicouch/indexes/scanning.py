"""Key ranges of Mango plans, and the documents that lie in them, read in batches that grow."""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from .. import mango
from ..collation import sort_key
from ..documents.database import Database
from ..mango import Plan
from ..store import StoredDoc
from ..store.indexes import Range
from .indexing import IndexSpec, caught_up, get_index, partition_prefix

FIRST_BATCH = 64
BATCH = 1000
_EXACT_OPERATORS = {"$eq", "$lt", "$lte", "$gt", "$gte"}
Document = dict[str, Any]


@dataclass(slots=True)
class Stats:
    keys: int = 0
    docs: int = 0
    returned: int = 0
    started: float = 0.0
    seq: int = 0
    quorum: bool = False

    def to_json(self) -> dict[str, Any]:
        return {
            "total_keys_examined": self.keys,
            "total_docs_examined": 0 if self.quorum else self.docs,
            "total_quorum_docs_examined": self.docs if self.quorum else 0,
            "results_returned": self.returned,
            "execution_time_ms": round((time.perf_counter() - self.started) * 1000, 3),
        }


@dataclass(slots=True)
class Scan:
    """A plan made ready to run: key bounds, the selector as a test, how to cut documents.

    `exact`: every row inside the bounds matches, so documents need not be tested, nor parsed for it.
    """

    plan: Plan
    spec: IndexSpec | None
    bounds: tuple[tuple[Any, Any], tuple[Any, Any]]
    wanted: Callable[[Document], bool]
    project: Callable[[Document], Document] | None
    exact: bool


@dataclass(slots=True)
class Hit:
    """A document that may match, or None where the index covers what is asked; `place` is what a bookmark needs."""

    place: Any
    docid: str
    key_json: bytes
    doc: StoredDoc | None


def is_stale(options: dict[str, Any]) -> bool:
    return options["stale"] == "ok" or not options["update"]


def answered_by_keys(plan: Plan) -> bool:
    """Does every row of the key range match? True for values in the leading columns and one range behind them."""
    selector, columns = plan.selector, plan.index.columns
    answered = columns[: len(plan.ranges)]
    promised = _conjuncts(plan.index.partial)
    for name, condition in (part for part in _conjuncts(selector) if part not in promised):
        field = "".join(name) if isinstance(name, tuple) else None
        # Tests on `_id` compare code points, its rows in an index collate.
        exists = condition == ("$exists", True) and field in columns
        if not exists and (field == "_id" or field not in answered or condition[0] not in _EXACT_OPERATORS):
            return False
    first_open = next((n for n, found in enumerate(plan.ranges) if not found.is_value), len(plan.ranges))
    return all(found.low.open_ended and found.high.open_ended for found in plan.ranges[first_open + 1 :])


def _conjuncts(selector: mango.Node | None) -> list[mango.Node]:
    if not selector:
        return []
    return selector[1] if selector[0] == "$and" else [selector]


def key_bounds(plan: Plan, exact: bool) -> tuple[tuple[bytes, str], tuple[bytes, str]]:
    """[low, high) as index keys. `exact` leaves out what `$gt` and `$lt` exclude, else the matcher does."""
    partition = plan.options["partition"]
    prefix = (partition_prefix(partition) if partition else b"") + sort_key([])[:-1]
    low = high = prefix
    for found in plan.ranges:
        if found.low.open_ended:
            break
        low += found.low.key
        if exact and found.low.operator == "$gt":
            low += b"\xff"
    for found in plan.ranges:
        if found.high.open_ended:
            high += b"\xff"
            break
        high += found.high.key
        if exact and found.high.operator == "$lt":
            break
    else:
        high += b"\xff"
    return (low, ""), (high, "")


def id_bounds(plan: Plan) -> tuple[tuple[Any, Any], tuple[Any, Any]]:
    """(first, last) document ids, both included; None is open. Ids compare by code point, other types are below."""
    low: str | None = None
    high: str | None = None
    if plan.ranges and not plan.empty:
        found = plan.ranges[0]
        if not found.low.open_ended and isinstance(found.low.value, str):
            low = found.low.value
        if not found.high.open_ended:
            high = found.high.value if isinstance(found.high.value, str) else ""
    partition = plan.options["partition"]
    if partition:
        low = max(low or "", f"{partition}:")
        high = min(high, f"{partition};") if high is not None else f"{partition};"
    return (low, None), (high, None)


def index_hits(db: Database, scan: Scan, stats: Stats) -> Iterator[Hit]:
    options = scan.plan.options
    index = get_index(db, scan.spec) if is_stale(options) else caught_up(db, scan.spec)
    stats.seq = index.seq
    descending = scan.plan.descending
    low, high = scan.bounds
    skip_first = False
    if options["bookmark"] is not None:
        docid, key_hex = mango.unpack(options["bookmark"], 2)
        place = (_key_of(options["bookmark"], key_hex), docid)
        low, high = (low, min(high, place)) if descending else (max(low, place), high)
        skip_first = not descending and low == place
    batch = _first_batch(scan)
    while True:
        rows = index.rows(0, Range(low, high, descending), batch, int(skip_first))
        documents = {} if scan.plan.covering else db.get_many([row[1] for row in rows])
        for key, docid, key_json, _ in rows:
            stats.keys += 1
            doc = documents.get(docid)
            if doc is not None and not doc.deleted:
                stats.docs += 1
            elif not scan.plan.covering:
                continue
            yield Hit(key, docid, key_json, doc)
        if len(rows) < batch:
            return
        place = (rows[-1][0], rows[-1][1])
        if descending:
            high = place
        else:
            low, skip_first = place, True
        batch = min(batch * 4, BATCH)


def _key_of(bookmark: str, key_hex: Any) -> bytes:
    try:
        return bytes.fromhex(key_hex)
    except (TypeError, ValueError):
        raise mango.invalid_bookmark(bookmark) from None


def _first_batch(scan: Scan) -> int:
    """As many rows as the answer needs when each one counts, a few more when some will be dropped."""
    needed = scan.plan.options["limit"] + scan.plan.options["skip"]
    return max(1, min(needed, BATCH)) if scan.exact else max(FIRST_BATCH, min(needed, BATCH))


def all_docs_hits(db: Database, scan: Scan, stats: Stats) -> Iterator[Hit]:
    (low, _), (high, _) = scan.bounds
    options = scan.plan.options
    descending = scan.plan.descending
    resume = None
    if options["bookmark"] is not None:
        resume, _ = mango.unpack(options["bookmark"], 2)
        if descending:
            high = resume if high is None else min(high, resume)
        else:
            low = resume if low is None else max(low, resume)
    partition = options["partition"]
    first, last = (high, low) if descending else (low, high)
    for doc in db.range(first, last, descending=descending):
        if doc.id == resume or (partition and not doc.id.startswith(f"{partition}:")):
            continue
        stats.keys += 1
        stats.docs += 1
        if not doc.id.startswith("_design/"):
            yield Hit(doc.id, doc.id, b"", doc)
