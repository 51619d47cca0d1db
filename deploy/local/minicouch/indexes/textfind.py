"""Mango queries over text indexes: the selector asks the search engine, its answers are tested once more."""

import hashlib
from collections.abc import Callable, Iterator
from typing import Any

import orjson

from .. import mango
from ..documents.database import Database
from ..errors import CouchError
from ..mango import Index, Plan
from ..store import StoredDoc
from . import searching
from .scanning import Document, Hit, Scan, Stats
from .searching import Question, SearchSpec

MAX_BATCH = 200


def text_spec(index: Index) -> SearchSpec:
    """The search index of a Mango text index; its name on disk follows from all that shapes it."""
    emit_one = mango.entry_maker(index.stored["index"], index.partial)
    shape = orjson.dumps([index.stored, index.partitioned])
    signature = "search-mango-" + hashlib.sha256(shape).hexdigest()[:32]

    def emit(docs: list[StoredDoc]) -> list[list[Any]]:
        return [emit_one(doc.dict()) for doc in docs]

    return SearchSpec(signature, index.stored.get("analyzer", "keyword"), emit, index.partitioned)


def prepare(
    db: Database,
    plan: Plan,
    wanted: Callable[[Document], bool],
    project: Callable[[Document], Document] | None,
) -> Scan:
    """Errors: 400 for a selector or sort that text indexes cannot serve."""
    question = (mango.lucene(plan.selector), mango.sort_fields(plan.options["sort"], plan.selector))
    return Scan(plan, text_spec(plan.index), question, wanted, project, False)


def hits(db: Database, scan: Scan, stats: Stats) -> Iterator[Hit]:
    query, sort = scan.bounds
    options = scan.plan.options
    if not query:
        return
    after = mango.unpack(options["bookmark"], 2)[1] if options["bookmark"] is not None else None
    batch = max(1, min(MAX_BATCH, options["limit"] + options["skip"]))
    while True:
        question = Question(query, batch, options["partition"] or None, sort, after)
        try:
            page = searching.ask(db, scan.spec, question).page
        except CouchError as error:
            raise CouchError(error.status, "text_search_error", error.reason) from None
        docs = db.get_many([hit.docid for hit in page.hits])
        for number, hit in enumerate(page.hits):
            stats.keys += 1
            doc = docs.get(hit.docid)
            if doc is not None and not doc.deleted:
                stats.docs += 1
                place = [hit.order[:-1], hit.docid] if sort else [page.first + number + 1, hit.docid]
                yield Hit(place, hit.docid, b"", doc)
        if len(page.hits) < batch:
            return
        after = page.bookmark
