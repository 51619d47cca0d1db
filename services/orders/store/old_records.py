"""What is removed after its time: records that nobody needs any more, found in the order of time and removed in bulks."""

from collections.abc import Sequence
from typing import Any

from services.orders.documents import (
    DAILY_FIGURES,
    DEADLETTERS,
    ORDERS_BETWEEN,
    REPORT_REQUEST,
    REPORTS,
    order_partition,
    report_partition,
)
from shared.couch import HIGHEST_KEY, Database, Document
from shared.errors import Unavailable


class OldRecords:
    """The orders database as what piles up in it."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def dead_letters(self) -> list[Document]:
        """Every dead letter, and every retry. 1 partition query."""
        return list(self._database.partition(DEADLETTERS).all())

    def daily_figures(self, before: str, *, limit: int) -> list[Document]:
        """To whom the figures of the days before `before` (2026-11-23) were sent, the first days first. 1 global query."""
        start, end = report_partition("daily-"), report_partition(f"daily-{before}")
        docs = self._database.across_partitions.documents(start, end, limit=limit)
        return [doc for doc in docs if doc["type"] == DAILY_FIGURES.name]

    def reports(self, since: str, before: str, *, limit: int) -> list[tuple[str, str | None]]:
        """When something was asked for or closed in [since, before), the oldest first; with the report's id where it was asked for.
        1 global query."""
        rows = self._database.across_partitions.view(REPORTS, start=since, end=before, limit=limit)
        return [
            (row["key"], row["value"]["id"] if row["value"]["type"] == REPORT_REQUEST.name else None)
            for row in rows
        ]

    def report(self, reportid: str) -> list[Document]:
        """1 partition query."""
        return list(self._database.partition(report_partition(reportid)).all())

    def orders(self, since: str, before: str, after: list[Any] | None, *, limit: int) -> list[dict[str, Any]]:
        """Rows of the orders placed in [since, before), the oldest first, those behind the row `after`. 1 global query."""
        first = [*after, HIGHEST_KEY] if after else [since]
        return self._database.across_partitions.view(
            ORDERS_BETWEEN, start=first, end=[before], group=True, limit=limit
        )

    def order(self, orderid: str) -> list[Document]:
        """1 partition query."""
        return list(self._database.partition(order_partition(orderid)).all(conflicts=True))

    def remove(self, docs: Sequence[Document]) -> int:
        """Those that nobody has changed since; how many. 1 write. Raises Unavailable when the database did not take it."""
        if not docs:
            return 0
        written = self._database.put_many(
            [{"_id": doc["_id"], "_rev": doc["_rev"], "_deleted": True} for doc in docs]
        )
        if failed := [row for row in written if row.error not in (None, "conflict")]:
            raise Unavailable(f"The database did not remove {failed[0].id}: {failed[0].error}.")
        return sum(row.error is None for row in written)
