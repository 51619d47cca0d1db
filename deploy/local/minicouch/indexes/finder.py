"""Runs Mango queries on a database: index files brought up to date, key ranges scanned, documents picked and cut."""

import hashlib
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import orjson

from .. import mango
from ..documents.database import Database
from ..mango import Index
from ..store import StoredDoc
from ..store.indexes import ViewSpec
from . import indexing, scanning, textfind
from .for_types import run_for_types
from .indexing import IndexSpec, get_index
from .scanning import Document, Hit, Scan, Stats, is_stale
from .searching import SearchSpec

QUICK_ROWS = 200
PLANS_KEPT = 256
NOTHING = b'{"docs":[\r\n]}\r\n\n'
_INDEXES, _PLANS = "mango indexes", "mango plans"


def indexes(db: Database) -> list[Index]:
    """Every index of the database in CouchDB's order, `_all_docs` first."""
    kept = db.handles.get(_INDEXES)
    if kept is None or kept[0] != db.design_generation:
        generation = db.design_generation
        found = mango.from_design_docs((doc.dict() for doc in db.design_docs()), db.partitioned)
        kept = db.handles[_INDEXES] = (generation, found)
    return kept[1]


class SharedRows:
    """What makes the rows of a JSON index, and in one go those of others: each document is read and parsed once for all of them."""

    environment = b"mango"

    def __init__(self, db: Database, index: Index) -> None:
        self.maps = (index,)
        self._db = db

    def run(self, maps: Sequence[Index], docs: list[StoredDoc]) -> list[list[list[tuple[Any, Any]]]]:
        makers = [mango.row_maker(index) for index in maps]

        def run(chosen: list[StoredDoc]) -> list[list[list[tuple[Any, Any]]]]:
            documents = (_as_indexed(self._db, doc) for doc in chosen)
            return [[[(key, None) for key in make(document)] for make in makers] for document in documents]

        types = (mango.types_of(index.partial) for index in maps)
        return run_for_types(types, docs, run, lambda: [[] for _ in maps])


def index_spec(db: Database, index: Index) -> IndexSpec:
    """The index file of a JSON index; its name on disk follows from all that shapes its rows."""
    shape = orjson.dumps([index.columns, index.definition.get("partial_filter_selector"), index.partitioned])
    signature = "mango-" + hashlib.sha256(shape).hexdigest()[:32]
    shared = SharedRows(db, index)
    mapper = partial(shared.run, shared.maps)
    return IndexSpec(signature, (ViewSpec(summaries=False),), mapper, index.partitioned, shared=shared)


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
    found = {index_spec(db, index).signature for index in indexes(db) if index.kind == "json"}
    return found | {textfind.text_spec(index).signature for index in indexes(db) if index.is_text}


def prepare(db: Database, options: dict[str, Any]) -> Scan:
    """Choose the index for checked options and make its scan. Errors: 400 when nothing serves them."""
    plan = mango.plan(indexes(db), options, partitioned=db.partitioned)
    fields = options["fields"]
    project = None if fields is None else mango.projector(fields)
    wanted = mango.compile_node(plan.selector)
    if plan.index.is_text:
        return textfind.prepare(db, plan, wanted, project)
    if plan.index.kind == "special" or plan.empty:
        return Scan(plan, None, scanning.id_bounds(plan), wanted, project, not plan.selector)
    exact = scanning.answered_by_keys(plan) and not options["execution_stats"] and not is_stale(options)
    return Scan(plan, index_spec(db, plan.index), scanning.key_bounds(plan, exact), wanted, project, exact)


def _hits(db: Database, scan: Scan, stats: Stats) -> Iterator[Hit]:
    if scan.plan.index.is_text:
        return textfind.hits(db, scan, stats)
    hits = {"json": scanning.index_hits, "special": scanning.all_docs_hits}
    return hits[scan.plan.index.kind](db, scan, stats)


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
    return mango.pack(last.docid, last.place.hex() if isinstance(last.place, bytes) else last.place)


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
    if (
        not scan.exact
        or not isinstance(scan.spec, IndexSpec)
        or options["limit"] + options["skip"] > QUICK_ROWS
    ):
        return False
    return get_index(db, scan.spec).seq >= db.update_seq


async def ready(db: Database, scan: Scan) -> None:
    """Wait for the index, if the query wants it current."""
    if scan.plan.empty or is_stale(scan.plan.options):
        return
    if isinstance(scan.spec, SearchSpec):
        await textfind.ready(db, scan.spec)
    elif scan.spec is not None:
        await indexing.ready(db, scan.spec)


def find(db: Database, scan: Scan) -> tuple[bytes, tuple[int, int]]:
    """The whole answer of `_find`, and the rows and documents that were read for it. Blocks; may come from any thread."""
    if scan.plan.empty:
        return NOTHING, (0, 0)
    answer = run(db, scan)
    return render(scan, answer), (answer.stats.keys, answer.stats.docs)


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
