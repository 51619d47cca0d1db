"""Runs Mango queries on a database: index files brought up to date, key ranges scanned, documents picked and cut."""

import hashlib
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import orjson

from . import mango
from .collation import sort_key
from .database import Database
from .indexing import IndexSpec, catch_up, get_index, partition_prefix
from .mango import Index, Plan
from .store import StoredDoc
from .store.indexes import Range, ViewSpec

FIRST_BATCH = 64
BATCH = 1000
QUICK_ROWS = 200
PLANS_KEPT = 256
NOTHING = b'{"docs":[\r\n]}\r\n\n'
_INDEXES, _PLANS = "mango indexes", "mango plans"
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
    """A document that may match: its place in the index, and itself (read off the index when that covers it)."""

    key: bytes | str
    docid: str
    key_json: bytes
    doc: StoredDoc | None


def indexes(db: Database) -> list[Index]:
    """Every index of the database in CouchDB's order, `_all_docs` first."""
    kept = db.handles.get(_INDEXES)
    if kept is None or kept[0] != db.design_generation:
        generation = db.design_generation
        found = mango.from_design_docs((doc.dict() for doc in db.design_docs()), db.partitioned)
        kept = db.handles[_INDEXES] = (generation, found)
    return kept[1]


def index_spec(db: Database, index: Index) -> IndexSpec:
    """The index file of a JSON index; its name on disk follows from all that shapes its rows."""
    shape = orjson.dumps([index.columns, index.definition.get("partial_filter_selector"), index.partitioned])
    signature = "mango-" + hashlib.sha256(shape).hexdigest()[:32]
    make = mango.row_maker(index)

    def mapper(docs: list[StoredDoc]) -> list[list[list[tuple[Any, Any]]]]:
        return [[[(key, None) for key in make(_as_indexed(db, doc))]] for doc in docs]

    return IndexSpec(signature, (ViewSpec(summaries=False),), mapper, index.partitioned)


def _as_indexed(db: Database, doc: StoredDoc) -> Document:
    """Indexes see the conflicts of a document."""
    document = doc.dict()
    if doc.has_tree:
        for member, revs in zip(("_conflicts", "_deleted_conflicts"), db.conflicts(doc.id), strict=True):
            if revs:
                document[member] = revs
    return document


def signatures(db: Database) -> set[str]:
    """The index files that are in use, for `_view_cleanup`."""
    return {index_spec(db, index).signature for index in indexes(db) if index.kind == "json"}


def prepare(db: Database, options: dict[str, Any]) -> Scan:
    """Choose the index for checked options and make its scan. Errors: 400 when nothing serves them."""
    plan = mango.plan(indexes(db), options, partitioned=db.partitioned)
    fields = options["fields"]
    project = None if fields is None else mango.projector(fields)
    wanted = mango.compile_node(plan.selector)
    if plan.index is None or plan.index.kind != "json" or plan.empty:
        return Scan(plan, None, _id_bounds(plan), wanted, project, not plan.selector)
    exact = _answered_by_keys(plan) and not options["execution_stats"] and not _stale(options)
    return Scan(plan, index_spec(db, plan.index), _key_bounds(plan, exact), wanted, project, exact)


def _stale(options: dict[str, Any]) -> bool:
    return options["stale"] == "ok" or not options["update"]


def _answered_by_keys(plan: Plan) -> bool:
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


def _key_bounds(plan: Plan, exact: bool) -> tuple[tuple[bytes, str], tuple[bytes, str]]:
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


def _id_bounds(plan: Plan) -> tuple[tuple[Any, Any], tuple[Any, Any]]:
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


def _hits(db: Database, scan: Scan, stats: Stats) -> Iterator[Hit]:
    if scan.plan.index.kind == "special":
        return _all_docs_hits(db, scan, stats)
    return _index_hits(db, scan, stats)


def _index_hits(db: Database, scan: Scan, stats: Stats) -> Iterator[Hit]:
    options = scan.plan.options
    index = get_index(db, scan.spec) if _stale(options) else catch_up(db, scan.spec)
    stats.seq = index.seq
    descending = scan.plan.descending
    low, high = scan.bounds
    skip_first = False
    if options["bookmark"] is not None:
        docid, key_hex = mango.unpack(options["bookmark"], 2)
        place = (_bookmark_key(options["bookmark"], key_hex), docid)
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


def _bookmark_key(bookmark: str, key_hex: Any) -> bytes:
    try:
        return bytes.fromhex(key_hex)
    except (TypeError, ValueError):
        raise mango.invalid_bookmark(bookmark) from None


def _first_batch(scan: Scan) -> int:
    """As many rows as the answer needs when each one counts, a few more when some will be dropped."""
    needed = scan.plan.options["limit"] + scan.plan.options["skip"]
    return max(1, min(needed, BATCH)) if scan.exact else max(FIRST_BATCH, min(needed, BATCH))


def _all_docs_hits(db: Database, scan: Scan, stats: Stats) -> Iterator[Hit]:
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


@dataclass(slots=True)
class Answer:
    docs: list[bytes]
    bookmark: str | None
    stats: Stats
    warnings: list[str]


def run(db: Database, scan: Scan) -> Answer:
    """The documents of a scan as JSON, and where it ended. Blocks; may come from any thread."""
    options = scan.plan.options
    stats = Stats(started=time.perf_counter(), quorum=options["r"] > 1)
    limit, skip = options["limit"], options["skip"]
    docs: list[bytes] = []
    last: Hit | None = None
    if limit:
        for hit in _hits(db, scan, stats):
            encoded = _chosen(db, scan, hit, stats.seq)
            if encoded is None:
                continue
            if len(docs) >= limit:
                break
            last = hit
            if skip:
                skip -= 1
                continue
            docs.append(encoded)
            if len(docs) >= limit and not options["execution_stats"]:
                break
    stats.returned = len(docs)
    warnings = scan.plan.index_warnings() + mango.scan_warning(stats.docs, len(docs))
    return Answer(docs, _bookmark(last) if last else options["bookmark"], stats, warnings)


def _bookmark(last: Hit) -> str:
    return mango.pack(last.docid, last.key.hex() if isinstance(last.key, bytes) else last.key)


def _chosen(db: Database, scan: Scan, hit: Hit, seq: int) -> bytes | None:
    """The JSON to answer with, None when the document does not match; parsed only where that is needed.

    A document that changed after the index was read is tested again.
    """
    known = scan.exact and (hit.doc is None or scan.spec is None or hit.doc.seq <= seq)
    if known and scan.project is None and not scan.plan.options["conflicts"]:
        return hit.doc.json()
    document = _covered(scan, hit) if hit.doc is None else _with_conflicts(db, scan, hit.doc)
    if not known and not scan.wanted(document):
        return None
    return orjson.dumps(scan.project(document) if scan.project else document)


def _with_conflicts(db: Database, scan: Scan, doc: StoredDoc) -> Document:
    document = doc.dict()
    if scan.plan.options["conflicts"] and doc.has_tree:
        conflicts, _ = db.conflicts(doc.id)
        if conflicts:
            document["_conflicts"] = conflicts
    return document


def _covered(scan: Scan, hit: Hit) -> Document:
    values = orjson.loads(hit.key_json)
    document: Document = {"_id": hit.docid}
    for column, value in zip(scan.plan.index.columns, values, strict=True):
        mango.set_field(document, mango.parse_field(column), value)
    return document


def cached_scan(db: Database, raw: Any, make: Callable[[], Scan]) -> Scan:
    """The scan for a request's text, kept so that a repeated query is not checked and planned again."""
    plans = db.handles.get(_PLANS)
    if plans is None or plans[0] != db.design_generation:
        plans = db.handles[_PLANS] = (db.design_generation, {})
    scan = plans[1].get(raw)
    if scan is None:
        scan = make()
        if len(plans[1]) >= PLANS_KEPT:
            plans[1].clear()
        plans[1][raw] = scan
    return scan


def is_quick(db: Database, scan: Scan) -> bool:
    """Will it read no more than it answers with, from an index that is current?"""
    options = scan.plan.options
    if not scan.exact or scan.spec is None or options["limit"] + options["skip"] > QUICK_ROWS:
        return False
    return get_index(db, scan.spec).seq >= db.update_seq


def wants_current(scan: Scan) -> bool:
    """Must an index be brought up to date first?"""
    return scan.spec is not None and not scan.plan.empty and not _stale(scan.plan.options)


def find(db: Database, scan: Scan) -> bytes:
    """The whole answer of `_find`. Blocks; may come from any thread."""
    return NOTHING if scan.plan.empty else render(scan, run(db, scan))


def render(scan: Scan, answer: Answer) -> bytes:
    parts = [b'{"docs":[', b",".join([b"\r\n" + doc for doc in answer.docs]), b"\r\n],\r\n"]
    bookmark = "nil" if answer.bookmark is None else answer.bookmark
    parts += [b'"bookmark": ', orjson.dumps(bookmark)]
    if scan.plan.options["execution_stats"]:
        parts += [b',\r\n"execution_stats": ', orjson.dumps(answer.stats.to_json())]
    if answer.warnings:
        parts += [b',\r\n"warning": ', orjson.dumps("\n".join(answer.warnings))]
    parts.append(b"}\r\n\n")
    return b"".join(parts)
