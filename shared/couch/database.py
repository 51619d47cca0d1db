"""An opened database. A partition is a place one goes to; a read across partitions has the longer name.

    orders.partition("order42").all()                         one partition query
    orders.across_partitions.find(ORDERS_OF_A_CUSTOMER, ...)  one global query

Errors are those of `errors`: NoSuchDocument, UpdateConflict, QueryRefused, DatabaseUnavailable.
"""

import io
import sys
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any, Unpack

from . import dialects, quorum
from .changes import Changes
from .changes import from_answer as changes_from_answer
from .client import Client
from .copies import altered
from .documents import Doc, Document, Shapes, generation, without_revision
from .errors import (
    DatabaseUnavailable,
    NoSuchDocument,
    NotPrepared,
    QueryRefused,
    TooFewNodes,
    UpdateConflict,
)
from .indexes import FindIndex, View
from .options import FindOptions, PageOptions, ViewOptions
from .pages import Page, SearchPage, decode_cursor, encode_cursor
from .renaming import TypeNames
from .search import SearchIndex, SearchQuery
from .staleness import StaleRows
from .tally import counting
from .written import Written

HIGHEST_STRING = "￰"
_MANY_EXAMINED = "The number of documents examined is high"
_ACCEPTED = 202
PARTITION_ROWS = 2000
"""As many rows Cloudant gives to a partition query: it refuses one that asks for more, and leaves the rest out of one that names no limit
(https://cloud.ibm.com/docs/Cloudant?topic=Cloudant-database-partitioning)."""
_SDK_NAMES = {"start": "start_key", "end": "end_key"}
ALL_NODES_SECONDS = 2
HIGHEST_KEY: dict[str, Any] = {}


class Database:
    """A database of a server. Make one with `Server.open(design)`."""

    def __init__(self, client: Client, name: str, shapes: Shapes) -> None:
        self._client, self.name, self._shapes = client, name, shapes
        self._type_names = TypeNames(client, name, shapes)
        self.across_partitions = AcrossPartitions(client, name, shapes)

    def partition(self, key: str) -> "Partition":
        """Raises NoSuchDocument for a key that no document can have."""
        if ":" in key:
            raise NoSuchDocument(f"There is nothing at {key}.")
        return Partition(self._client, self.name, key, self._shapes)

    def get(
        self, docid: str, *, conflicts: bool = False, deleted_conflicts: bool = False, rev: str | None = None
    ) -> Doc:
        """One document; with `conflicts` its `_conflicts` are listed, with `deleted_conflicts` its `_deleted_conflicts`. Raises NoSuchDocument."""
        return self._shapes.read(
            self._client.call(
                "get_document",
                db=self.name,
                doc_id=docid,
                conflicts=conflicts or None,
                deleted_conflicts=deleted_conflicts or None,
                rev=rev,
            )
        )

    def revisions(self, docid: str) -> list[Doc]:
        """What a document is and what lies beside it in conflict, the winner first; none where there is none. 1 read.

        On a cluster this is what any of the nodes that answer has, a quorum of them at least: what most of them took is among it, and it is
        alone only where nobody who was asked has anything else. `get` answers what two of them show, be it both times what was refused.
        """
        return self.revisions_of_many([docid]).get(docid, [])

    def revisions_of_many(self, docids: Sequence[str]) -> dict[str, list[Doc]]:
        """What `revisions` says of each document that there is or was, in one call: one that was deleted has none. 1 read for each id."""
        return self._read_revisions(
            self._client.call("post_bulk_get", db=self.name, docs=[{"id": docid} for docid in docids])
        )

    def revisions_of_all_nodes(self, docid: str) -> list[Doc]:
        """What `revisions` says, of each node that answers within ALL_NODES_SECONDS: also what one node alone has kept. 1 read, 2 where one
        does not answer, or the server lets nobody say how many nodes to ask."""
        try:
            answer = self._client.revisions(self.name, docid, self.copies, call_timeout=ALL_NODES_SECONDS)
        except (DatabaseUnavailable, QueryRefused):
            return self.revisions(docid)
        return self._read_revisions(answer).get(docid, [])

    def _read_revisions(self, answer: Doc) -> dict[str, list[Doc]]:
        return {
            found["id"]: self._leaves([each["ok"] for each in found["docs"] if "ok" in each])
            for found in answer["results"]
            if any("ok" in each for each in found["docs"])
        }

    def latest_many(self, docids: Sequence[str]) -> dict[str, Doc]:
        """The documents that exist, by id, in one call: for CouchDB a third of the work of `get_many` where they are twenty. Of revisions in
        conflict the winner of all that the nodes have, which may be one that the others refused: to show, not to decide by. 1 read for each id.
        """
        found = self.revisions_of_many(docids) if docids else {}
        return {docid: leaves[0] for docid, leaves in found.items() if leaves}

    def _leaves(self, revisions: Sequence[Doc]) -> list[Doc]:
        leaves = [each for each in revisions if not each.get("_deleted")]
        return [self._shapes.read(leaf) for leaf in sorted(leaves, key=_revision_order, reverse=True)]

    def get_many(self, docids: Sequence[str], *, conflicts: bool = False) -> dict[str, Doc]:
        """The documents that exist, by id, in one call; with `conflicts` their `_conflicts` are listed."""
        if not docids:
            return {}
        answer = self._client.call(
            "post_all_docs", db=self.name, keys=list(docids), include_docs=True, conflicts=conflicts or None
        )
        return {row["id"]: self._shapes.read(row["doc"]) for row in answer["rows"] if row.get("doc")}

    def put(self, doc: Document, *, exclusive: bool = False) -> str:
        """Writes one document (with its `_rev` if it replaces one) and returns the new revision. Raises UpdateConflict.

        On a cluster what replaces a revision is written by `quorum.put`: it is an UpdateConflict where another writer replaced that, too.
        Only while too few nodes answer to tell, it is stored and excludes nobody.

        With `exclusive` it is sent once: raises TooFewNodes when fewer than a quorum of a cluster's nodes took it. It is stored then, but
        another writer's may be, too. And where it was sent again and refused, whose is stored is not looked up: the UpdateConflict is
        `resent`, for one node's copy would not say it.
        """
        if not exclusive and quorum.replaces(doc) and not self.has_one_copy:
            try:
                return quorum.put(self, doc)
            except TooFewNodes as unsure:
                return unsure.rev
        [stored] = self._type_names.stored([doc])
        try:
            answer = self._client.answer(
                "put_document", all_headers=False, db=self.name, doc_id=doc["_id"], document=stored
            )
        except UpdateConflict as conflict:
            if not conflict.extra.get("resent") or (exclusive and not self.has_one_copy):
                raise
            return self._revision_of_lost_write(doc, conflict)
        if exclusive and answer.get_status_code() == _ACCEPTED:
            raise TooFewNodes(_revision(answer.get_result()))
        return _revision(answer.get_result())

    def put_many(self, docs: Iterable[Document], *, exclusive: bool = False) -> list[Written]:
        """Writes many in one call, each on its own: a bulk is not a transaction, so look at every answer.

        What replaces a revision is decided as by `put`: it is a `conflict` where another writer replaced it (on a cluster 1 read more for
        each). With `exclusive` all is sent once, and `accepted` is what too few nodes took of it.
        """
        docs = list(docs)
        late = set() if exclusive else quorum.replaced(self, docs)
        sent = [doc for doc in docs if doc["_id"] not in late]
        written = self._sent_many(sent) if sent else []
        if not exclusive and any(row.accepted for row in written):
            written = quorum.decide_each(self, sent, written)
        if not late:
            return written
        rows = iter(written)
        return [Written(doc["_id"], error="conflict") if doc["_id"] in late else next(rows) for doc in docs]

    def _sent_many(self, docs: Sequence[Document]) -> list[Written]:
        stored = list(self._type_names.stored(docs))
        rows = self._client.call("post_bulk_docs", db=self.name, bulk_docs={"docs": stored})
        return [
            Written(
                row["id"], row.get("rev"), row.get("error"), row.get("reason"), row.get("accepted", False)
            )
            for row in rows
        ]

    def add_many(self, docs: Sequence[Document]) -> dict[str, str]:
        """Adds immutable documents that may be there already; {id: revision} of those. Raises UpdateConflict when one is there with other
        content, and of one that was not taken what `put` raises: DatabaseUnavailable, Forbidden."""
        written = self.put_many(docs)
        there = {row.id: row.rev for row in written if row.rev}
        taken = [doc for doc, row in zip(docs, written, strict=True) if row.error == "conflict"]
        for row in written:
            row.raise_if_refused()
        stored = self.get_many([doc["_id"] for doc in taken])
        for doc in taken:
            if without_revision(stored.get(doc["_id"], {})) != without_revision(doc):
                raise UpdateConflict(
                    f"{doc['_id']} is there already with other content.", document=doc["_id"]
                )
        return there | {docid: doc["_rev"] for docid, doc in stored.items()}

    def delete(self, docid: str, rev: str) -> None:
        """Raises UpdateConflict when `rev` is not what is there, NoSuchDocument when nothing is."""
        try:
            self._client.call("delete_document", db=self.name, doc_id=docid, rev=rev)
        except (UpdateConflict, NoSuchDocument) as refused:
            if not refused.extra.get("resent") or self.get_many([docid]):
                raise

    def changes(
        self,
        since: str = "0",
        *,
        limit: int = 100,
        wait: float = 0,
        include_docs: bool = True,
        conflicts: bool = False,
    ) -> Changes:
        """What changed since `since`; with `wait` seconds, the answer is held back until something does."""
        arguments: dict[str, Any] = {"since": since, "limit": limit, "include_docs": include_docs}
        if wait:
            arguments |= {"feed": "longpoll", "timeout": int(wait * 1000)}
        if conflicts:
            arguments |= {"conflicts": True}
        answer = self._client.call("post_changes", db=self.name, **arguments)
        answer["results"] = self._shapes.read_rows(answer["results"])
        return changes_from_answer(answer)

    def get_local(self, name: str) -> Doc | None:
        """A `_local` document: stays on this server, is not replicated and not in any view."""
        try:
            found: Doc = self._client.call("get_local_document", db=self.name, doc_id=name)
        except NoSuchDocument:
            return None
        return found

    def put_local(self, name: str, doc: Doc) -> str:
        return _revision(self._client.call("put_local_document", db=self.name, doc_id=name, document=doc))

    def attachment(self, docid: str, name: str) -> tuple[bytes, str]:
        """The bytes and the content type."""
        answer = self._client.answer("get_attachment", db=self.name, doc_id=docid, attachment_name=name)
        return answer.get_result().content, answer.get_headers()["Content-Type"]

    def put_attachment(self, docid: str, rev: str, name: str, content: bytes, content_type: str) -> str:
        return _revision(
            self._client.call(
                "put_attachment",
                db=self.name,
                doc_id=docid,
                rev=rev,
                attachment_name=name,
                attachment=io.BytesIO(content),
                content_type=content_type,
            )
        )

    def compact(self) -> bool:
        """Has the server remove the bodies of old revisions; it goes on with that by itself. False where the server does it in its own time
        and takes no such request, as Cloudant."""
        return self._client.compact(self.name)

    @property
    def copies(self) -> int:
        """How many nodes hold each document."""
        return self._client.copies(self.name)

    @property
    def has_one_copy(self) -> bool:
        """Whether one node holds each document: whatever was written is in every later answer then."""
        return self.copies == 1

    def information(self) -> dict[str, Any]:
        facts: dict[str, Any] = self._client.call("get_database_information", db=self.name)
        return facts

    def _revision_of_lost_write(self, doc: Document, conflict: UpdateConflict) -> str:
        stored = self.get(doc["_id"])
        if without_revision(stored) != without_revision(doc):
            raise conflict
        return str(stored["_rev"])


def _revision(answer: dict[str, Any]) -> str:
    return str(answer["rev"])


class Partition:
    """The documents that share one partition key; every method is one partition query, and one more for each 2,000 rows."""

    def __init__(self, client: Client, database: str, key: str, shapes: Shapes) -> None:
        self._client, self._at, self.key = client, {"db": database, "partition_key": key}, key
        self._shapes = shapes

    def all(
        self,
        prefix: str = "",
        *,
        limit: int | None = None,
        descending: bool = False,
        conflicts: bool = False,
        begin_at: str | None = None,
    ) -> list[Doc]:
        """Its documents in id order, or those whose key begins with `prefix`; with `conflicts` their `_conflicts` are listed.

        `begin_at` is the id of the first document wanted, for the next part of a long list.
        """
        start, end = f"{self.key}:{prefix}", f"{self.key}:{prefix}{HIGHEST_STRING}"
        bounds = (
            {"start_key": end, "end_key": start, "descending": True}
            if descending
            else {"start_key": start, "end_key": end}
        )
        if begin_at:
            bounds["start_key"] = begin_at
        asked = bounds if prefix or descending or begin_at else {}

        def ask(count: int, last: dict[str, Any] | None) -> list[dict[str, Any]]:
            after = {"start_key": last["key"]} if last else {}
            rows: list[dict[str, Any]] = self._client.read(
                "post_partition_all_docs",
                **self._at,
                include_docs=True,
                limit=count,
                conflicts=conflicts or None,
                **{**asked, **after},
            )["rows"]
            return rows

        return self._shapes.read_all([row["doc"] for row in _read_in_parts(ask, limit)])

    def find(self, index: FindIndex, selector: dict[str, Any], **options: Unpack[FindOptions]) -> Page:
        """See `AcrossPartitions.find`."""
        return _find(self._client, self._shapes, "post_partition_find", self._at, index, selector, **options)

    def view(self, view: View, **query: Unpack[ViewOptions]) -> list[dict[str, Any]]:
        """See `AcrossPartitions.view`; CouchDB reduces one key or a range within a partition, to several keys it answers nothing."""
        if view.reduce and query.get("reduce") is not False and "keys" in query:
            raise QueryRefused(f"{view.name}: ask a partition's reduce for a range, not for keys.")
        if not query.get("group") or "key" in query:
            return self._view(view, query)
        is_stale = False

        def ask(count: int, last: dict[str, Any] | None) -> list[dict[str, Any]]:
            nonlocal is_stale
            after: ViewOptions = {"start": last["key"]} if last else {}
            rows = self._view(view, {**query, "limit": count, **after})
            is_stale |= isinstance(rows, StaleRows)
            return rows

        groups = _read_in_parts(ask, query.get("limit"))
        return StaleRows(groups) if is_stale else groups

    def _view(self, view: View, query: ViewOptions) -> list[dict[str, Any]]:
        return _view(self._client, self._shapes, "post_partition_view", self._at, view, query)

    def view_page(
        self, view: View, *, limit: int = 20, cursor: str | None = None, **query: Unpack[PageOptions]
    ) -> Page:
        """See `AcrossPartitions.view_page`."""
        return _view_page(self.view, view, limit, cursor, query)

    def search(
        self, index: SearchIndex, query: SearchQuery, *, limit: int = 20, bookmark: str | None = None
    ) -> SearchPage:
        """See `AcrossPartitions.search`; a partition's search knows no facets."""
        page = dialects.search(self._client, self._at, index, query, limit=limit, bookmark=bookmark)
        return altered(page, items=self._shapes.read_all(page.items))


class AcrossPartitions:
    """Reads over the whole database; every method is one global query, the scarce and dear kind."""

    def __init__(self, client: Client, database: str, shapes: Shapes) -> None:
        self._client, self._at, self._shapes = client, {"db": database}, shapes

    def documents(self, start: str, end: str, *, limit: int) -> list[Doc]:
        """Documents from one id to another, in id order: for jobs that read a database bit by bit, a partition's ones together."""
        answer = self._client.call(
            "post_all_docs", **self._at, start_key=start, end_key=end, limit=limit, include_docs=True
        )
        return self._shapes.read_all([row["doc"] for row in answer["rows"]])

    def find(self, index: FindIndex, selector: dict[str, Any], **options: Unpack[FindOptions]) -> Page:
        """Documents by a Mango index, in its key order, 20 unless `limit` says otherwise. Raises QueryRefused when
        the server would not use this index (a scan is never silent), NotPrepared when it is not there.
        """
        return _find(self._client, self._shapes, "post_find", self._at, index, selector, **options)

    def view(self, view: View, **query: Unpack[ViewOptions]) -> list[dict[str, Any]]:
        """Rows {"id", "key", "value", "doc"}.

        With `allow_stale` an index that is long in catching up answers with what it holds by now, as StaleRows.
        """
        return _view(self._client, self._shapes, "post_view", self._at, view, query)

    def view_page(
        self, view: View, *, limit: int = 20, cursor: str | None = None, **query: Unpack[PageOptions]
    ) -> Page:
        """A page of unreduced rows; its `next` stays good while documents come and go."""
        return _view_page(self.view, view, limit, cursor, query)

    def search(
        self, index: SearchIndex, query: SearchQuery, *, limit: int = 20, bookmark: str | None = None
    ) -> SearchPage:
        """Documents by words, filters, facets (`search_for` makes the query), in whichever dialect the server speaks."""
        page = dialects.search(self._client, self._at, index, query, limit=limit, bookmark=bookmark)
        return altered(page, items=self._shapes.read_all(page.items))


def _read_in_parts(
    ask: Callable[[int, dict[str, Any] | None], list[dict[str, Any]]], limit: int | None
) -> list[dict[str, Any]]:
    """All rows, each with a key of its own, or the first `limit`. `ask` gives so many of them, from the last one on that was read."""
    rows: list[dict[str, Any]] = []
    wanted = sys.maxsize if limit is None else limit
    while True:
        last = rows[-1] if rows else None
        count = min(wanted - len(rows) + bool(rows), PARTITION_ROWS)
        part = ask(count, last)
        rows += part[1:] if last and part and part[0]["key"] == last["key"] else part
        # null sorts before all else, so where it comes last there is no more; and it is no key that a query can begin at
        if len(part) < count or len(rows) >= wanted or rows[-1]["key"] is None:
            return rows[:wanted]


def _view_page(
    ask: Callable[..., list[dict[str, Any]]], view: View, limit: int, cursor: str | None, query: PageOptions
) -> Page:
    if cursor:
        query["start"], query["start_key_doc_id"] = decode_cursor(cursor)
    rows = ask(view, limit=limit + 1, reduce=False if view.reduce else None, **query)
    return Page(rows[:limit], encode_cursor(rows[limit]) if len(rows) > limit else None)


def _find(
    client: Client,
    shapes: Shapes,
    operation: str,
    at: dict[str, str],
    index: FindIndex,
    selector: dict[str, Any],
    *,
    sort: list[dict[str, str]] | None = None,
    limit: int = 20,
    bookmark: str | None = None,
    fields: list[str] | None = None,
    allow_stale: bool = False,
) -> Page:
    ask = partial(
        client.call,
        operation,
        **at,
        selector=(index.partial or {}) | selector,
        sort=sort,
        limit=limit,
        bookmark=bookmark,
        fields=fields,
        use_index=[index.design_id, index.name],
        allow_fallback=False,
    )
    try:
        answer = client.allow_stale(index.design_id, ask, {"update": False})[0] if allow_stale else ask()
    except QueryRefused as refused:
        _raise_if_missing(client, at["db"], index, refused)
        raise
    if warning := _other_index(answer.get("warning")):
        raise QueryRefused(f"The index {index.name} does not serve this query: {warning}")
    docs = answer["docs"] if fields else shapes.read_all(answer["docs"])
    return Page(docs, answer.get("bookmark") if len(docs) == limit else None)


def _other_index(warning: str | None) -> str:
    """What CouchDB says about the choice of the index; that few of the documents it examined matched is no fault of it."""
    lines = (warning or "").splitlines()
    return " ".join(line for line in lines if line and not line.startswith(_MANY_EXAMINED))


def _raise_if_missing(client: Client, db: str, index: FindIndex, refused: QueryRefused) -> None:
    """CouchDB says the same of an index that is not there and of one that does not fit."""
    with counting():
        try:
            client.call("get_design_document", db=db, ddoc=index.design_id)
        except NoSuchDocument:
            client.not_prepared += 1
            raise NotPrepared(f"The index {index.name} is not there.") from refused


def _view(
    client: Client,
    shapes: Shapes,
    operation: str,
    at: dict[str, str],
    view: View,
    query: ViewOptions,
) -> list[dict[str, Any]]:
    parameters = {_SDK_NAMES.get(name, name): value for name, value in query.items() if name != "allow_stale"}
    ask = partial(client.call, operation, **at, ddoc=view.design_id, view=view.name, **parameters)
    if not query.get("allow_stale"):
        return shapes.read_rows(ask()["rows"])
    answer, stale = client.allow_stale(view.design_id, ask, {"update": "lazy"})
    rows = shapes.read_rows(answer["rows"])
    return StaleRows(rows) if stale else rows


def _revision_order(doc: Doc) -> tuple[int, str]:
    return generation(doc["_rev"]), doc["_rev"].partition("-")[2]
