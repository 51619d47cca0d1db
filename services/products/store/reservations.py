"""What orders keep out of stock, until it is sold or goes back: reservations, settlements, and the slots of the ledger that are theirs."""

from collections.abc import Mapping, Sequence
from typing import cast

from services.products.declarations.stock import Reservation, Settlement
from services.products.documents import (
    HELD,
    RESERVATION,
    RESERVATIONS_BY_EXPIRY,
    SETTLEMENT,
    SETTLEMENTS_BY_DATE,
    partition_of,
    return_prefix,
)
from services.products.rules.ledger import Line
from services.products.store.ledger import Ledger
from shared.couch import Database, Doc, PageOf
from shared.couch.quorum import confirm


class Reservations:
    """Of all products and their variants. Errors are those of `shared.couch`."""

    def __init__(self, database: Database, ledger: Ledger) -> None:
        self._database, self._ledger = database, ledger

    def held(self, keys: Sequence[tuple[str, str]]) -> dict[tuple[str, str], int]:
        """How many each (orderid, stock key) keeps out of stock. 1 global query."""
        rows = self._database.across_partitions.view(HELD, keys=[list(key) for key in keys], group=True)
        return {(row["key"][0], row["key"][1]): row["value"] for row in rows}

    def held_by_order(
        self, orderid: str, lines: Sequence[Line], *, exclusive: bool = False
    ) -> dict[str, int]:
        """As `held`, by stock key, each slot read by its id: a late copy may still show what a refused writer left. With `exclusive` only
        what most of a cluster's nodes say the order has. 1 global query and the reads, with `exclusive` a write for each slot.

        Where each document has several copies and the view does not show the quantity of a line, it may lack the last slots: these are looked
        for in their chain. 2 partition queries and 2 reads more for such a line.
        """
        keys = [[orderid, line.key] for line in lines]
        slots: dict[str, dict[str, Doc | None]] = {line.key: {} for line in lines}
        for row in self._database.across_partitions.view(HELD, keys=keys, reduce=False):
            slots[row["key"][1]][row["id"]] = self._slot_of(orderid, row["id"], exclusive=exclusive)
        if not self._database.has_one_copy:
            for line in lines:
                known = slots[line.key]
                if _held_in(known) != line.quantity:
                    for docid in self._ledger.last_slots_of(orderid, line) - known.keys():
                        known[docid] = self._slot_of(orderid, docid, exclusive=exclusive)
        return {key: _held_in(known) for key, known in slots.items()}

    def returned(self, line: Line, orderid: str) -> int:
        """How many of an order came back after they were sold. 1 partition query."""
        docs = self._database.partition(partition_of(line.taxonomy)).all(return_prefix(line.key, orderid))
        return sum(doc["quantity"] for doc in docs)

    def ending_between(self, start: str, end: str, limit: int, cursor: str | None) -> PageOf[Reservation]:
        """Reservations that end within a stretch of time. 1 global query."""
        page = self._database.across_partitions.view_page(
            RESERVATIONS_BY_EXPIRY, start=start, end=end, include_docs=True, limit=limit, cursor=cursor
        )
        docs = RESERVATION.among(row["doc"] for row in page.items if row.get("doc"))
        return PageOf(docs, page.next)

    def settled_between(self, start: str, end: str, limit: int, cursor: str | None) -> PageOf[Settlement]:
        """How reservations ended within a stretch of time. 1 global query."""
        page = self._database.across_partitions.view_page(
            SETTLEMENTS_BY_DATE, start=start, end=end, include_docs=True, limit=limit, cursor=cursor
        )
        docs = SETTLEMENT.among(row["doc"] for row in page.items if row.get("doc"))
        return PageOf(docs, page.next)

    def by_id(self, docids: Sequence[str]) -> dict[str, Reservation]:
        """Those that exist, by document id. 1 read."""
        return cast(dict[str, Reservation], self._database.get_many(docids))

    def settlements(self, docids: Sequence[str]) -> dict[str, Settlement]:
        """Those that exist, by document id. 1 read."""
        return cast(dict[str, Settlement], self._database.get_many(docids))

    def put_settlement(self, doc: Settlement) -> Settlement:
        """Raises UpdateConflict."""
        return {**doc, "_rev": self._database.put(doc)}

    def keep_on(self, doc: Reservation) -> None:
        """Writes a reservation that ends later. Raises UpdateConflict."""
        self._database.put(doc)

    def _slot_of(self, orderid: str, docid: str, *, exclusive: bool) -> Doc | None:
        """The slot, where it is the order's and nobody else wrote it."""
        if exclusive:
            return confirm(self._database, docid, lambda slot: bool(slot.get("orderid") == orderid))
        found = self._database.revisions(docid)
        return found[0] if len(found) == 1 and found[0].get("orderid") == orderid else None


def _held_in(slots: Mapping[str, Doc | None]) -> int:
    return -sum(int(slot["delta"]) for slot in slots.values() if slot)
