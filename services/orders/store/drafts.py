"""Draft orders: one partition, whose ids are in the order of time."""

from collections.abc import Sequence

from services.orders.declarations.drafts import DraftOrder
from services.orders.documents import DRAFT_ORDER, DRAFTS, EXPIRING_DRAFTS, draft_key
from shared.couch import Database, PageOf


class DraftStore:
    """Errors are those of `shared.couch`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def get(self, id: str) -> DraftOrder | None:
        """1 read."""
        key = draft_key(id)
        return DRAFT_ORDER.typed(self._database.get_many([key]).get(key))

    def page(self, limit: int, before: str | None) -> PageOf[DraftOrder]:
        """The newest first, those before an id. 1 partition query."""
        docs = self._database.partition(DRAFTS).all(
            descending=True, limit=limit + 2, begin_at=draft_key(before) if before else None
        )
        found = [each for each in DRAFT_ORDER.among(docs) if each["id"] != before]
        return PageOf(found[:limit], found[limit - 1]["id"] if len(found) > limit else None)

    def put(self, draft: DraftOrder) -> DraftOrder:
        """As it is stored now, with its new revision. 1 write. Raises UpdateConflict where somebody else was quicker."""
        return {**draft, "_rev": self._database.put(draft)}

    def remove(self, draft: DraftOrder) -> None:
        """1 write. Raises UpdateConflict."""
        self._database.delete(draft["_id"], draft["_rev"])

    def expired(self, before: str, *, limit: int) -> list[DraftOrder]:
        """1 global query, for the worker."""
        rows = self._database.across_partitions.view(
            EXPIRING_DRAFTS, end=before, include_docs=True, limit=limit
        )
        return DRAFT_ORDER.among(row["doc"] for row in rows if row["doc"])

    def remove_all(self, drafts: Sequence[DraftOrder]) -> None:
        """Those that nobody has changed meanwhile. 1 write."""
        self._database.put_many(
            [{"_id": each["_id"], "_rev": each["_rev"], "_deleted": True} for each in drafts]
        )
