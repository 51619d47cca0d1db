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
    nouveau = index.kind == "nouveau"
    make = mango.nouveau_entry_maker if nouveau else mango.entry_maker
    emit_one: Callable[[Document], list[Any]] = make(index.stored["index"], index.partial)
    shape = orjson.dumps([index.kind, index.stored, index.partitioned])
    signature = "search-mango-" + hashlib.sha256(shape).hexdigest()[:32]

    def emit(docs: list[StoredDoc]) -> list[list[Any]]:
        return [emit_one(doc.dict()) for doc in docs]

    # CouchDB looks for the analyzers of a Nouveau index where Mango does not write them, and takes the standard one.
    analyzer = searching.NOUVEAU_STANDARD if nouveau else index.stored.get("analyzer", "keyword")
    return SearchSpec(signature, analyzer, emit, index.partitioned, nouveau)


def prepare(
    db: Database,
    plan: Plan,
    wanted: Callable[[Document], bool],
    project: Callable[[Document], Document] | None,
) -> Scan:
    """Errors: 400 for a selector or sort that text indexes cannot serve."""
    sort = plan.options["sort"]
    if plan.index.kind == "nouveau":
        keys = mango.nouveau_sort_fields(sort)
    else:
        keys = mango.sort_fields(sort, plan.selector)
    return Scan(plan, text_spec(plan.index), (mango.lucene(plan.selector), keys), wanted, project, False)


async def ready(db: Database, spec: SearchSpec) -> None:
    """Errors: 500 where documents do not fit a Nouveau index."""
    try:
        await searching.ready(db, spec)
    except CouchError as error:
        raise _nouveau_error(error) if spec.nouveau else error from None


def _nouveau_error(error: CouchError) -> CouchError:
    is_own = error.error == "nouveau_search_error"
    return error if is_own else CouchError(500, "nouveau_search_error", f"{error.error}: {error.reason}")


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
            if scan.spec.nouveau:
                raise _nouveau_error(error) from None
            raise CouchError(error.status, "text_search_error", error.reason) from None
        docs = db.get_many([hit.docid for hit in page.hits])
        for number, hit in enumerate(page.hits):
            stats.keys += not scan.spec.nouveau
            doc = docs.get(hit.docid)
            if doc is not None and not doc.deleted:
                stats.docs += 1
                place = [hit.order[:-1], hit.docid] if sort else [page.first + number + 1, hit.docid]
                yield Hit(place, hit.docid, b"", doc)
        if len(page.hits) < batch:
            return
        after = page.bookmark
