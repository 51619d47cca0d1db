"""Orders of a closed year on their way into an archive and back: an order's documents go in one write."""

from collections.abc import Sequence
from typing import Any

from services.orders.archive_documents import ARCHIVE_YEAR, ARCHIVES, archive_year_key
from services.orders.declarations.archive import ArchiveYear
from services.orders.documents import ORDERS_BETWEEN, order_partition
from shared.audit import Act, AuditTrail
from shared.couch import HIGHEST_KEY, Database, Document
from shared.errors import Unavailable

OPERATOR = "operator"


class ArchiveStore:
    """The orders database as what is archived of it."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def orderids(
        self, year: int, after: list[Any] | None, *, limit: int
    ) -> tuple[list[str], list[Any] | None]:
        """Ids of orders that were placed in a year (UTC), the oldest first, behind the row `after`; and the last row. 1 global query."""
        first = [*after, HIGHEST_KEY] if after else [str(year)]
        rows = self._database.across_partitions.view(
            ORDERS_BETWEEN, start=first, end=[str(year + 1)], group=True, limit=limit
        )
        return [row["key"][1] for row in rows], rows[-1]["key"] if rows else None

    def order(self, orderid: str) -> list[Document]:
        """1 partition query."""
        return list(self._database.partition(order_partition(orderid)).all(conflicts=True))

    def write(self, docs: Sequence[Document]) -> set[str]:
        """Adds and removes (`removal`) documents; the ids of those that somebody else has changed since they were read. 1 write."""
        written = self._database.put_many(docs) if docs else []
        if failed := [row for row in written if row.error not in (None, "conflict")]:
            raise Unavailable(f"The database did not take {failed[0].id}: {failed[0].error}.")
        return {row.id for row in written if row.error}

    def years(self) -> list[ArchiveYear]:
        """What was done with the archive of each year. 1 partition query."""
        return ARCHIVE_YEAR.among(self._database.partition(ARCHIVES).all())

    def year(self, year: str) -> ArchiveYear | None:
        """1 read."""
        docid = archive_year_key(year)
        return ARCHIVE_YEAR.typed(self._database.get_many([docid]).get(docid))

    def put_year(self, doc: ArchiveYear) -> None:
        """1 write. Raises UpdateConflict."""
        self._database.put(doc)

    def note(self, action: str, subject: str, **details: Any) -> None:
        """Into the audit trail, before it is done. 1 write."""
        AuditTrail(self._database).write(Act(OPERATOR, action, subject, details))

    def compact(self) -> bool:
        return self._database.compact()


def removal(doc: Document) -> Document:
    return {"_id": doc["_id"], "_rev": doc["_rev"], "_deleted": True}
