"""Stalls: what was sold there by day, what was oversold, and the cash that was counted."""

from collections.abc import Sequence
from contextlib import suppress

from services.orders.declarations.stall import CashUp, OversoldEntry, StallEntry
from services.orders.documents import (
    CASH_UP,
    OVERSOLD_ENTRY,
    STALL_ENTRY,
    STALL_OVERSOLD,
    oversold_key,
    stall_key,
    stall_partition,
)
from shared.couch import Database, Document, NoSuchDocument, PageOf, UpdateConflict
from shared.errors import Unavailable


class StallStore:
    """Errors are those of `shared.couch`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def day(self, day: str) -> tuple[list[StallEntry], list[CashUp]]:
        """Sales and countings of a day. 1 partition query."""
        docs = self._database.partition(stall_partition(day)).all()
        return STALL_ENTRY.among(docs), CASH_UP.among(docs)

    def add(self, docs: Sequence[Document]) -> None:
        """Documents with fixed ids: those that are there stay. 1 write."""
        failed = [row for row in self._database.put_many(docs) if row.error not in (None, "conflict")]
        if failed:
            raise Unavailable(f"The database did not take {failed[0].id}: {failed[0].error}.")

    def add_cash_up(self, doc: CashUp) -> CashUp:
        """The one that is there under its id, where it was written before. 1 write."""
        try:
            self._database.put(doc)
        except UpdateConflict:
            stored: CashUp = self._database.get(doc["_id"])  # type: ignore[assignment]  # by its id
            return stored
        return doc

    def cash_up(self, day: str, id: str) -> CashUp | None:
        """1 read."""
        try:
            return CASH_UP.typed(self._database.get(stall_key(day, f"cashup-{id}")))
        except NoSuchDocument:
            return None

    def remove_oversold(self, date: str, orderid: str) -> None:
        """Takes the sale off the list of what was oversold; of one that is not there nothing. 1 read, 1 write."""
        key = oversold_key(date, orderid)
        with suppress(NoSuchDocument, UpdateConflict):  # somebody else has done it
            self._database.delete(key, self._database.get(key)["_rev"])

    def oversold(self, limit: int, before: str | None) -> PageOf[OversoldEntry]:
        """The newest first, those before an id. 1 partition query."""
        docs = self._database.partition(STALL_OVERSOLD).all(descending=True, limit=limit + 2, begin_at=before)
        found = [each for each in OVERSOLD_ENTRY.among(docs) if each["_id"] != before]
        return PageOf(found[:limit], found[limit - 1]["_id"] if len(found) > limit else None)
