"""What stays of an order whose documents lie in an archive, and what is done with the archive of a year."""

from typing import Any, Final

from shared.couch import StoredDocument
from shared.money import Money

SAVE, REMOVE, RESTORE = "save", "remove", "restore"
ACTS: Final = (SAVE, REMOVE, RESTORE)
QUEUED, RUNNING, DONE, FAILED = "queued", "running", "done", "failed"
UNDER_WAY: Final = (QUEUED, RUNNING)


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


class ArchiveYear(StoredDocument):
    """What staff have done with the orders of a closed `year`, the one document of it: the `act` that is under way or was the last.

    The worker does it in pieces and counts them here: `pieces` of `all_pieces` (0 where nobody knows how many), `orders` done, and why some
    were `left` (the first of them, by order id). `removed`: how many orders of the year are only in the archive.
    """

    year: str
    act: str
    state: str
    by: str
    pieces: int
    all_pieces: int
    orders: int
    left: dict[str, str]
    left_count: int
    removed: int
    problem: str
    begun: str
    date: str
