"""Runs one search declaration in the dialect of the server: `_search`, `_nouveau`, or the keyword view of a plain CouchDB."""

from functools import partial
from typing import Any, Protocol

import orjson

from .indexes import View
from .keyword_searches import LIST_SHARE, KeywordSearches
from .pages import SearchPage, decode_cursor, encode_cursor
from .search import (
    DOCUMENT_FIELD,
    NouveauIndex,
    SearchIndex,
    SearchQuery,
    field_named,
    keyword_lists,
    keywords,
)


class Caller(Protocol):
    """What this room needs of `database.Client`."""

    def call(self, operation: str, **arguments: Any) -> Any: ...

    def nouveau(
        self, at: dict[str, str], ddoc: str, index: str, body: dict[str, Any], **options: Any
    ) -> Any: ...

    def allow_stale(self, index: str, ask: partial[Any], stale: dict[str, Any]) -> tuple[Any, bool]: ...

    def when_fresh(self, index: str, ask: partial[Any], share: float) -> Any: ...

    def features(self) -> frozenset[str]: ...

    def reads_nouveau_behind(self) -> bool: ...

    @property
    def keyword_searches(self) -> KeywordSearches: ...

    def shards(self, db: str) -> int: ...


NOUVEAU_VALUES, MAX_VALUES = 1000, 50
"""Nouveau counts so many values of a field at most, over all copies of all shards; and so many are enough for a page."""


def search(
    client: Caller,
    at: dict[str, str],
    index: SearchIndex,
    query: SearchQuery,
    *,
    limit: int,
    bookmark: str | None,
) -> SearchPage:
    """A page of whole documents, from the index as it is while that is behind, where the server reads it then. `at` is {"db"} for a global query, with "partition_key" for a partition's."""
    form = index.on(client.features())
    if isinstance(form, View):
        name = keyword_lists.sorted_by(query, index)
        if name and not keyword_lists.has_counts(query):
            with client.keyword_searches.list_time():
                return _in_order(client, at, index, form, query, name, limit, bookmark)
        with client.keyword_searches.slot(has_words=bool(query.all_words)):
            return _by_keyword(client, at, index, form, query, name, limit, bookmark)
    if isinstance(form, NouveauIndex):
        return _nouveau(client, at, form, query, limit, bookmark)
    return _search(client, at, form, query, limit, bookmark)


def _search(
    client: Caller,
    at: dict[str, str],
    index: SearchIndex,
    query: SearchQuery,
    limit: int,
    bookmark: str | None,
) -> SearchPage:
    options: dict[str, Any] = {}
    if query.sort:
        options["sort"] = [f"{query.sort}<{_type(index, query.sort)}>"]
    if query.counts:
        options["counts"] = list(query.counts)
    if query.bands:
        options["ranges"] = {
            name: {band.label: f"[{band.min} TO {band.max}]" for band in bands}
            for name, bands in query.bands.items()
        }
    operation = "post_partition_search" if "partition_key" in at else "post_search"
    ask = partial(
        client.call,
        operation,
        **at,
        ddoc=index.design_id,
        index=index.name,
        query=query.lucene(index),
        limit=limit,
        bookmark=bookmark,
        include_docs=True,
        **options,
    )
    answer, behind = client.allow_stale(index.design_id, ask, {"stale": "ok"})
    there = [row for row in answer["rows"] if row.get("doc")]
    docs = [row["doc"] for row in there]
    scores = () if query.sort else tuple(row["order"][0] for row in there)
    following = answer["bookmark"] if len(answer["rows"]) == limit else None
    ranges = {
        name: {label: int(n) for label, n in found.items()}
        for name, found in answer.get("ranges", {}).items()
    }
    counts = {
        name: {label: int(n) for label, n in found.items()}
        for name, found in answer.get("counts", {}).items()
    }
    return SearchPage(docs, following, answer["total_rows"], counts, ranges, scores=scores, stale=behind)


def _nouveau(
    client: Caller,
    at: dict[str, str],
    index: NouveauIndex,
    query: SearchQuery,
    limit: int,
    bookmark: str | None,
) -> SearchPage:
    body: dict[str, Any] = {"q": query.lucene(index.of), "limit": limit}
    body |= {"bookmark": bookmark} if bookmark else {}
    body |= {"sort": query.sort} if query.sort else {}
    body |= {"counts": list(query.counts)} if query.counts else {}
    if query.counts or query.bands:
        body["top_n"] = max(1, min(MAX_VALUES, NOUVEAU_VALUES // client.shards(at["db"])))
    if query.bands:
        body["ranges"] = {
            name: [{"label": band.label, "min": band.min, "max": band.max} for band in bands]
            for name, bands in query.bands.items()
        }
    ask = partial(_ask_nouveau, client, at, index.design_id, index.name, body)
    if client.reads_nouveau_behind():
        answer, behind = client.allow_stale(index.design_id, ask, {"update": False})
    else:
        share = 1.0 if query.all_words else LIST_SHARE
        answer, behind = client.when_fresh(index.design_id, ask, share), False
    there = [(hit, doc) for hit in answer["hits"] if (doc := _document(hit))]
    docs = [doc for _, doc in there]
    scores = () if query.sort else tuple(hit["order"][0]["value"] for hit, _ in there)
    following = answer["bookmark"] if len(answer["hits"]) == limit else None
    exact = answer["total_hits_relation"] == "EQUAL_TO"
    total = answer["total_hits"] if exact else None
    counts, ranges = answer.get("counts") or {}, answer.get("ranges") or {}
    return SearchPage(docs, following, total, counts, ranges, scores=scores, stale=behind)


def _ask_nouveau(
    client: Caller,
    at: dict[str, str],
    ddoc: str,
    index: str,
    body: dict[str, Any],
    update: bool = True,
    **options: Any,
) -> Any:
    """An index that holds all that was written holds the documents as they are; of one that may be behind they are read."""
    return client.nouveau(at, ddoc, index, body | {"update": update, "include_docs": not update}, **options)


def _document(hit: dict[str, Any]) -> dict[str, Any] | None:
    """The document of a Nouveau hit; None for one that is gone."""
    doc: dict[str, Any] | None = hit["doc"] if "doc" in hit else orjson.loads(hit["fields"][DOCUMENT_FIELD])
    return doc


def _by_keyword(
    client: Caller,
    at: dict[str, str],
    index: SearchIndex,
    view: View,
    query: SearchQuery,
    name: str | None,
    limit: int,
    bookmark: str | None,
) -> SearchPage:
    """One query for the rows of the words, or for those in the order of the field `name`, and one read of documents."""
    operation = "post_partition_view" if "partition_key" in at else "post_view"
    bounds = keyword_lists.whole_range(name, query) if name else keywords.key_range(query, index)
    ask = partial(
        client.call, operation, **at, ddoc=view.design_id, view=view.name, limit=keywords.MAX_ROWS, **bounds
    )
    answer, behind = client.allow_stale(view.design_id, ask, {"update": "lazy"})
    rows = answer["rows"]
    ids, scored, begun = keywords.in_order(rows) if name else keywords.candidates(query, index, rows)
    cut = len(rows) == keywords.MAX_ROWS
    if begun or keywords.needs_documents(query):
        cut = cut or len(ids) > keywords.MAX_DOCUMENTS
        docs = _documents(client, at["db"], ids[: keywords.MAX_DOCUMENTS])
        found = keywords.evaluate(query, index, docs, begun=begun)
        ids = [doc["_id"] for doc in found.docs]
        begin, end = _slice(ids, limit, bookmark)
        docs, counts, ranges = found.docs[begin:end], found.counts, found.ranges
    else:
        begin, end = _slice(ids, limit, bookmark)
        docs, counts, ranges = _documents(client, at["db"], ids[begin:end]), {}, {}
    following = encode_cursor({"key": end, "id": ids[end - 1]}) if len(ids) > end else None
    unsupported = (keywords.TYPOS if query.forgiven else ()) + (keywords.TOO_MANY if cut else ())
    scores = () if query.sort else tuple(scored[doc["_id"]] for doc in docs)
    return SearchPage(docs, following, len(ids), counts, ranges, unsupported, scores=scores, stale=behind)


def _in_order(
    client: Caller,
    at: dict[str, str],
    index: SearchIndex,
    view: View,
    query: SearchQuery,
    name: str,
    limit: int,
    bookmark: str | None,
) -> SearchPage:
    """One query for as many rows as the page needs, however long the list is."""
    operation = "post_partition_view" if "partition_key" in at else "post_view"
    place = decode_cursor(bookmark) if bookmark else None
    bounds = keyword_lists.row_range(name, query, limit, place)
    ask = partial(
        client.call, operation, **at, ddoc=view.design_id, view=view.name, include_docs=True, **bounds
    )
    answer, behind = client.allow_stale(view.design_id, ask, {"update": "lazy"})
    found = keyword_lists.listed(query, index, answer["rows"], limit, first=place is None)
    following = encode_cursor(found.next) if found.next else None
    return SearchPage(found.docs, following, found.total, stale=behind)


def _slice(ids: list[str], limit: int, bookmark: str | None) -> tuple[int, int]:
    begin = keywords.begins_at(ids, decode_cursor(bookmark)) if bookmark else 0
    return begin, begin + limit


def _documents(client: Caller, db: str, ids: list[str]) -> list[dict[str, Any]]:
    rows = client.call("post_all_docs", db=db, keys=ids, include_docs=True)["rows"] if ids else []
    return [row["doc"] for row in rows if row.get("doc")]


def _type(index: SearchIndex, sort: str) -> str:
    field, _ = field_named({each.name: each for each in index.fields}, sort.lstrip("-"))
    return "number" if field.is_number else "string"
