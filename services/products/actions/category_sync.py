"""A category as a database that devices keep a copy of: public, read only, the same for everybody.

A pull reads the category once and what was told of it; it writes only what was not told before, over what it read, so that two
processes never tell different things.
"""

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final

from services.products.declarations.category_sync import ToldDocument
from services.products.dependencies import Dependencies
from services.products.documents import category_path, partition_of
from services.products.rules.category_sync import (
    MAX_KEPT_PRODUCTS,
    ToldCategory,
    observed,
    revision,
    revisions,
    shown_documents,
    was_told,
)
from services.products.rules.prices import PriceContext
from services.products.store.category_sync import CategorySnapshot
from shared.clock import now, timestamp
from shared.couch import Doc, UpdateConflict
from shared.errors import NotFound
from shared.replication import database_information

MAX_ATTEMPTS: Final = 5
_FIRST_HOUR: Final = datetime(2020, 1, 1, tzinfo=UTC)


class NoSuchCategory(NotFound):
    code, title = "not_found", "There is no such category"


@dataclass(frozen=True)
class ChangesQuery:
    since: str = "0"
    limit: int | None = None
    include_docs: bool = False
    descending: bool = False


def read_told(deps: Dependencies, taxonomy: list[str], context: PriceContext) -> CategorySnapshot:
    """What there is of a category, and what is told of it. Nothing while it did not change for some seconds, else 1 partition query and
    1 read, and 1 write when there was something new.

    Raises NoSuchCategory for one that has no product and had none that anybody kept.
    """
    partition, category = partition_of(taxonomy), category_path(taxonomy)
    marks = deps.marks.read([partition])
    kept = deps.category_snapshots.get(partition, marks)
    if kept is not None:
        return kept
    for _ in range(MAX_ATTEMPTS):
        products = deps.catalogue.cheapest_first(taxonomy, MAX_KEPT_PRODUCTS + 1)
        stored = deps.category_sync_states.get(taxonomy)
        if not products and stored is None:
            raise NoSuchCategory("Database does not exist.")
        told = (
            ToldCategory(stored["epoch"], stored["sequence"], stored["entries"])
            if stored
            else ToldCategory(secrets.token_hex(6), 0, {})
        )
        shown = shown_documents(category, products, context)
        new = observed(told, shown, int((now() - _FIRST_HOUR).total_seconds() // 3600))
        if new is told or deps.category_sync_states.put(taxonomy, new, stored, timestamp()):
            snapshot = CategorySnapshot(shown, new)
            deps.category_snapshots.keep(partition, marks, snapshot)
            return snapshot
    raise UpdateConflict("The category changes too quickly; try again.")


def changes(snapshot: CategorySnapshot, query: ChangesQuery) -> dict[str, Any]:
    """What changed since then, as CouchDB says it. Raises ValueError for a `since` that is none."""
    told = snapshot.told
    since = told.since(query.since)
    later = [(entry["seq"], docid) for docid, entry in told.entries.items() if entry["seq"] > since]
    later.sort(reverse=query.descending)
    listed = later if query.limit is None else later[: max(query.limit, 1)]
    last = listed[-1][0] if len(listed) < len(later) else told.sequence
    rows = [_change(snapshot, docid, query.include_docs) for _, docid in listed]
    return {"results": rows, "last_seq": told.named(last), "pending": len(later) - len(listed)}


def _change(snapshot: CategorySnapshot, docid: str, include_docs: bool) -> dict[str, Any]:
    entry = snapshot.told.entries[docid]
    rev = revision(docid, entry["number"])
    row: dict[str, Any] = {"seq": snapshot.told.named(entry["seq"]), "id": docid, "changes": [{"rev": rev}]}
    if entry.get("deleted"):
        row["deleted"] = True
    if include_docs:
        row["doc"] = newest(snapshot, docid)
    return row


def newest(snapshot: CategorySnapshot, docid: str, *, revs: bool = False) -> Doc | None:
    """A document in its newest revision, a deletion too; None for one that was never there."""
    entry = snapshot.told.entries.get(docid)
    if entry is None:
        return None
    content = {"_deleted": True} if entry.get("deleted") else snapshot.shown[docid]
    doc = {"_id": docid, "_rev": revision(docid, entry["number"]), **content}
    if revs:
        doc["_revisions"] = revisions(docid, entry["number"])
    return doc


def revision_of(
    snapshot: CategorySnapshot, docid: str, rev: str, *, revs: bool = False, latest: bool = False
) -> Doc | None:
    """The newest revision when it is the one asked for, or with `latest` when it came of that."""
    entry = snapshot.told.entries.get(docid)
    is_newest = entry is not None and rev == revision(docid, entry["number"])
    if is_newest or (latest and was_told(docid, entry, rev)):
        return newest(snapshot, docid, revs=revs)
    return None


def missing_revisions(snapshot: CategorySnapshot, asked: Mapping[str, Sequence[str]]) -> dict[str, Any]:
    """Which of these revisions were never told, by id."""
    entries: Mapping[str, ToldDocument] = snapshot.told.entries
    missing = {
        docid: [rev for rev in revs if not was_told(docid, entries.get(docid), str(rev))]
        for docid, revs in asked.items()
    }
    return {docid: {"missing": revs} for docid, revs in missing.items() if revs}


def information(snapshot: CategorySnapshot) -> dict[str, Any]:
    """What CouchDB says of a database."""
    entries = snapshot.told.entries.values()
    gone = sum(bool(entry.get("deleted")) for entry in entries)
    told = snapshot.told
    return database_information("category", told.named(told.sequence), len(entries) - gone, gone)
