"""What stays of an order whose documents lie in an archive."""

from typing import Any

from shared.couch import StoredDocument
from shared.money import Money


class ArchivedOrder(StoredDocument):
    """An order of a closed year, `documents` of which lie in `file` of the archive, with the checksum `sha256` together.

    `events`: of each of these documents what lists and reports add up, so that they say the same as before; what all have in common
    (`orderid`, `userid`, `placed`, `currency`) is said once.
    """

    orderid: str
    userid: str | None
    number: str | None
    placed: str
    currency: str
    status: str
    total: Money
    file: str
    documents: int
    sha256: str
    events: list[dict[str, Any]]
    date: str
