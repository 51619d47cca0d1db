"""Search indexes of a database: built from its changes through their index functions, and asked."""

import asyncio
import contextlib
import hashlib
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import orjson

from .. import javascript, search
from ..documents.database import Database
from ..errors import CouchError, bad_request, not_found
from ..javascript.document_types import types_of
from ..search import Hit, SearchIndex
from ..store import StoredDoc
from .for_types import run_for_types
from .indexing import build_once, never_indexed

BATCH = 100
BATCHES_A_COMMIT = 40  # a commit is dear, what is not committed is lost
_searchers = ThreadPoolExecutor(4, "search")  # a short search need not wait for two that sort everything
Emit = Callable[[list[StoredDoc]], list[list[Any]]]
Pause = Callable[[], None]


@dataclass(frozen=True)
class SearchSpec:
    """An index as its design document declares it; `emit` gives [name, value, options] triples a document."""

    signature: str
    analyzer: Any
    emit: Emit
    partitioned: bool
    nouveau: bool = False


@dataclass(slots=True)
class Question:
    """A checked request. `after` is what a bookmark held, `locale` how the numbers of a query of Nouveau's are written."""

    query: str
    limit: int
    partition: str | None = None
    sort: Any = None
    after: list[Any] | None = None
    stale: bool = False
    counts: Any = None
    ranges: Any = None
    drilldown: Any = None
    include_fields: list[str] | None = None
    highlighting: search.Highlighting | None = None
    grouping: search.Grouping | None = None
    locale: str | None = None


@dataclass(slots=True)
class Found:
    page: search.Page
    counts: dict[str, Any] | None
    ranges: dict[str, Any] | None
    highlights: list[dict[str, list[str]]] | None
    groups: list[search.Group] | None = None


def _emitted(source: str, docs: list[StoredDoc], lib: Any, *, nouveau: bool = False) -> list[list[Any]]:
    def run(chosen: list[StoredDoc]) -> list[list[Any]]:
        return javascript.run_index(source, [doc.json() for doc in chosen], lib, nouveau)

    return run_for_types([types_of(source)], docs, run, list)


def spec_of(db: Database, ddoc: dict[str, Any], name: str) -> SearchSpec:
    """Errors: 404 when the design document has no such index, 400 for an analyzer that is none."""
    indexes = ddoc.get("indexes")
    definition = indexes.get(name) if isinstance(indexes, dict) else None
    if not isinstance(definition, dict) or not isinstance(definition.get("index"), str):
        raise not_found(f"{name} not found.")
    lib = ddoc.get("views", {}).get("lib") if isinstance(ddoc.get("views"), dict) else None
    source, analyzer = definition["index"], definition.get("analyzer", "standard")

    def emit(docs: list[StoredDoc]) -> list[list[Any]]:
        return _emitted(source, docs, lib)

    return SearchSpec(_signature(source, analyzer, lib), analyzer, emit, is_partitioned(db, ddoc))


def open_spec(db: Database, ddoc: str, name: str) -> SearchSpec:
    """`spec_of` the stored design document, read once for each of its revisions. Errors: 404 also when it is not there."""
    doc = db.design_doc(ddoc)
    key = ("search", ddoc, name)
    known = db.handles.get(key)
    if known is None or known[0] != doc.rev:
        known = db.handles[key] = (doc.rev, spec_of(db, doc.dict(), name))
    return known[1]


def nouveau_spec_of(db: Database, ddoc: dict[str, Any], name: str) -> SearchSpec:
    """Errors: 404 when the design document has no such Nouveau index, 400 for an analyzer that is none."""
    indexes = ddoc.get("nouveau")
    definition = indexes.get(name) if isinstance(indexes, dict) else None
    if not isinstance(definition, dict) or not isinstance(definition.get("index"), str):
        raise not_found(f"{name} not found.")
    lib = ddoc.get("views", {}).get("lib") if isinstance(ddoc.get("views"), dict) else None
    source = definition["index"]
    fields = definition.get("field_analyzers")
    analyzer = {
        "name": "perfield",
        "default": _of_lucene_9(definition.get("default_analyzer", "standard")),
        "fields": {field: _of_lucene_9(named) for field, named in fields.items()}
        if isinstance(fields, dict)
        else {},
    }

    def emit(docs: list[StoredDoc]) -> list[list[Any]]:
        return _emitted(source, docs, lib, nouveau=True)

    return SearchSpec(
        _signature("nouveau", source, analyzer, lib), analyzer, emit, is_partitioned(db, ddoc), True
    )


def nouveau_terms(analyzer: str, text: str) -> list[str]:
    """Errors: 400 for an unknown analyzer."""
    return search.Analyzers(_of_lucene_9(analyzer)).of("default").terms(text)


NOUVEAU_STANDARD = {"name": "standard", "stopwords": [], "splits": True}
_NOUVEAU_ANALYZERS = frozenset(
    (
        "arabic armenian basque bulgarian catalan chinese cjk classic czech danish dutch email english finnish french galician german "
        "hindi hungarian indonesian irish italian japanese keyword latvian norwegian persian polish portugese romanian russian simple "
        "simple_asciifolding spanish standard swedish thai turkish whitespace"
    ).split()
)


def _of_lucene_9(analyzer: Any) -> Any:
    """The analyzer that Nouveau means: its `standard` keeps stop words, which Cloudant's, of Lucene 4, leaves out. Errors: 400."""
    if not isinstance(analyzer, str) or analyzer not in _NOUVEAU_ANALYZERS:
        raise bad_request(f"{analyzer} is not a valid analyzer name")
    if analyzer == "standard":
        return NOUVEAU_STANDARD
    return {"name": "portuguese" if analyzer == "portugese" else analyzer, "splits": True}


def _signature(*shape: Any) -> str:
    return "search-" + hashlib.sha256(orjson.dumps(shape)).hexdigest()[:32]


def is_partitioned(db: Database, ddoc: dict[str, Any]) -> bool:
    options = ddoc.get("options")
    chosen = options.get("partitioned") if isinstance(options, dict) else None
    return chosen if isinstance(chosen, bool) else db.partitioned


def specs(db: Database, docs: list[StoredDoc]) -> Iterator[SearchSpec]:
    """The search indexes of these design documents; what cannot be one is left out."""
    for doc in docs:
        ddoc = doc.dict()
        for section, make in (("indexes", spec_of), ("nouveau", nouveau_spec_of)):
            for name in ddoc[section] if isinstance(ddoc.get(section), dict) else ():
                with contextlib.suppress(CouchError):
                    yield make(db, ddoc, name)


def signatures(db: Database) -> set[str]:
    """The index folders that are in use, for `_view_cleanup` and `_search_cleanup`."""
    return {spec.signature for spec in specs(db, db.design_docs())}


def get_index(db: Database, spec: SearchSpec) -> SearchIndex:
    """The index, made when it is not there; not brought up to date."""
    index = db.handles.get(spec.signature)
    if index is None or index.closed:
        with db.opening:
            index = db.handles.get(spec.signature)
            if index is None or index.closed:
                if db.deleted:
                    raise not_found("Database does not exist.")
                index = SearchIndex(db.index_dir(spec.signature), search.Analyzers(spec.analyzer))
                db.handles[spec.signature] = index
    return index


def catch_up(db: Database, spec: SearchSpec) -> SearchIndex:
    """The index, complete up to the sequence the database has now. Blocks."""
    target = db.update_seq
    while advance(db, spec, target):
        pass
    return get_index(db, spec)


async def ready(db: Database, spec: SearchSpec) -> None:
    """Wait for the index to be complete up to now; whoever waits for one index waits for one builder."""
    target = db.update_seq
    while get_index(db, spec).seq < target:
        await asyncio.shield(build_once(db, spec.signature, lambda: catch_up(db, spec)))


async def run(function: Callable[..., Any], *args: Any) -> Any:
    """Run a search beside the event loop; a few at a time, since more would only contend for the interpreter."""
    return await asyncio.get_running_loop().run_in_executor(_searchers, function, *args)


def kept_answer(db: Database, spec: SearchSpec, key: Any) -> search.Answer | None:
    """What the same request was answered from the index as it is."""
    return get_index(db, spec).generation.answers.get(key)


def known_answer(db: Database, spec: SearchSpec, key: Any) -> search.Answer | None:
    """The same, if that is still the answer."""
    answer = kept_answer(db, spec, key)
    is_current = answer is not None and (answer.stale or get_index(db, spec).seq >= db.update_seq)
    return answer if is_current else None


async def new_answer(
    db: Database, spec: SearchSpec, key: Any, make: Callable[[], search.Answer]
) -> search.Answer:
    """What `make` answers; remembered if the index stayed the same meanwhile."""
    index = get_index(db, spec)
    generation = index.generation
    answer: search.Answer = await run(make)
    if index.generation is generation:
        generation.answers.put(key, answer)
    return answer


def advance(db: Database, spec: SearchSpec, target: int, pause: Pause = lambda: None) -> bool:
    """One commit nearer to `target`, by one thread at a time; False when it is reached. `pause` is called after each batch."""
    index = get_index(db, spec)
    if index.seq >= target:
        return False
    with index.building:
        if index.seq < target and not index.closed:
            try:
                if not _built_elsewhere(db, spec, index, target):
                    _next_commit(db, spec, index, target, pause)
            except search.SlotsFull:
                index.grow()
        return index.seq < target


def _built_elsewhere(db: Database, spec: SearchSpec, index: SearchIndex, target: int) -> bool:
    """A step of a long build in the build process, if it knows the index."""
    if db.builder is None or not db.builder.is_for("search", target - index.seq):
        return False
    try:
        return db.builder.run(db.name, db.directory, "search", {spec.signature: None}, target)
    finally:
        with db.opening:
            if not db.deleted and not index.closed:
                index.reload()


def _next_commit(db: Database, spec: SearchSpec, index: SearchIndex, target: int, pause: Pause) -> None:
    found: dict[str, search.Entry | None] = {}
    unknown: set[str] = set()
    seq = index.seq
    for _ in range(BATCHES_A_COMMIT):
        docs = db.changes_since(seq, BATCH)
        found |= _entries(db, spec, docs)
        unknown |= never_indexed(db, docs)
        seq = docs[-1].seq if docs else target
        if seq >= target:
            break
        pause()
    gone = (
        [docid for docid, made in found.items() if made is None and docid not in unknown] if index.seq else []
    )
    index.apply([made for made in found.values() if made is not None], gone, seq, unknown)


def _entries(db: Database, spec: SearchSpec, docs: list[StoredDoc]) -> dict[str, search.Entry | None]:
    """What the index is to hold of each document; None is nothing."""
    live = [doc for doc in docs if not doc.deleted and not doc.id.startswith("_design/")]
    emitted = spec.emit(live) if live else []
    make = search.nouveau_entry if spec.nouveau else search.entry
    found: dict[str, search.Entry | None] = dict.fromkeys(doc.id for doc in docs)
    for doc, values in zip(live, emitted, strict=True):
        made = make(doc.id, doc.seq, db.partition_of(doc.id), values)
        found[doc.id] = made if made.filled else None
    return found


def ask(db: Database, spec: SearchSpec, question: Question) -> Found:
    """Search. Blocks. Errors: 400 for a query or option that cannot be understood."""
    index = get_index(db, spec)
    if not index.seq and not question.stale:  # dropped since `ready` brought it up to date
        index = catch_up(db, spec)
    compiler = search.Compiler(index, words_too=spec.nouveau)
    filters = search.drilled(index, question.drilldown)
    if question.partition is not None:
        filters.append(compiler.term("partition", question.partition))
    if spec.nouveau:
        search.check_facets(index, question.counts, question.ranges)
        text = f"{question.locale} {question.query}"
        read = search.tree(index, question.query, question.locale)
        matching = search.Matching(index, index.searcher, compiler, text, filters, read)
        keys = search.sort_keys(index, question.sort)
    else:
        matching = search.Matching(index, index.searcher, compiler, question.query, filters)
        keys = search.parse_sort(question.sort)
    if question.grouping is not None:
        total, groups = search.grouped(matching, keys, question.grouping)
        hits = [hit for group in groups for hit in group.hits]
        marked = _marked(index, matching.tree, hits, question)
        return Found(search.Page(hits, total, None), None, None, marked, groups)
    facets = search.Facets(matching, question.counts, question.ranges)
    if keys:
        page = search.by_fields(matching, keys, question.limit, question.after)
    else:
        page = search.by_relevance(matching, question.limit, question.after)
    marked = _marked(index, matching.tree, page.hits, question)
    return Found(page, facets.counts(), facets.ranges(), marked)


def _marked(
    index: SearchIndex, tree: Any, hits: list[Hit], question: Question
) -> list[dict[str, list[str]]] | None:
    if question.highlighting is None:
        return None
    tests = search.matchers(tree, index.analyzers)
    return [
        search.of_document(hit.stored or {}, index.analyzers, tests, question.highlighting) for hit in hits
    ]
