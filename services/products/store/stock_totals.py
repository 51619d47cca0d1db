"""Totals of old stock movements, and what they stand for until it is removed. See `rules.roll_up`."""

from collections.abc import Iterable, Sequence
from typing import Any

from services.products.declarations.stock import Movement, StockTotal
from services.products.documents import (
    MOVEMENT,
    ROLL_UP_DUE,
    STOCK_TOTAL,
    partition_of,
    slot_id,
    slot_prefix,
)
from services.products.rules.ledger import Line
from services.products.rules.roll_up import total_prefix
from shared.couch import Database, Document, Page


class StockTotals:
    """Of all products and their variants."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def due(self, before: str, *, limit: int, cursor: str | None) -> Page:
        """Rows with a `doc`: every thousandth movement from before a moment, the oldest first. 1 global query."""
        return self._database.across_partitions.view_page(
            ROLL_UP_DUE, end=before, include_docs=True, limit=limit, cursor=cursor
        )

    def of(self, line: Line) -> list[StockTotal]:
        """The totals of a chain, the oldest first. 1 partition query."""
        return STOCK_TOTAL.among(
            self._database.partition(partition_of(line.taxonomy)).all(total_prefix(line.key))
        )

    def movements(self, line: Line, first: int, last: int) -> list[Movement]:
        """Those in the slots from `first` to `last`, conflicts listed. 1 partition query."""
        docs = self._database.partition(partition_of(line.taxonomy)).all(
            slot_prefix(line.key),
            begin_at=slot_id(line.taxonomy, line.key, first),
            limit=last - first + 1,
            conflicts=True,
        )
        return [each for each in MOVEMENT.among(docs) if each["slot"] <= last]

    def stored(self, docids: Sequence[str]) -> dict[str, Any]:
        """Those that exist, by id. 1 read."""
        return self._database.get_many(docids)

    def add(self, total: StockTotal) -> None:
        """Once: another worker's is the same. 1 write."""
        self._written([total])

    def remove(self, docs: Iterable[Document]) -> None:
        """Takes documents away; who was quicker removed the same. 1 write."""
        self._written([{"_id": each["_id"], "_rev": each["_rev"], "_deleted": True} for each in docs])

    def _written(self, docs: Sequence[Document]) -> None:
        for row in self._database.put_many(docs) if docs else []:
            row.raise_if_refused()
