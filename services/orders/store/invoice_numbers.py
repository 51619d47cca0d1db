"""Numbers of invoices and credit notes: without gaps and never the same one twice, whoever issues them at once.

A number is a document with a fixed id, which one writer alone can write. What a number is for asks for it first, under a fixed id of
its own, and notes the last number of that moment; whoever issues it then goes through the numbers after that one, takes the first that
is free, and stops at one that it has already. So of several that issue the same thing at once, or after one that died, all come to
the one number it has, and no number is left behind. What too few nodes of a cluster took (202) is taken back: at the others the
number may be another one's.
"""

from services.orders.declarations.invoices import IssuedNumber, NumberRequest
from services.orders.documents import ISSUED_NUMBER, issued_number_key, issued_numbers_partition
from shared.clock import timestamp
from shared.couch import Database
from shared.couch.quorum import confirm, take_back_unsure
from shared.errors import Unavailable

MAX_TRIES = 100
"""Others that issue numbers at the same moment."""


class InvoiceNumbers:
    """Errors are those of `shared.couch`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def last(self, kind: str, year: int) -> int:
        """The latest number of a year, 0 before the first. 1 partition query."""
        partition = self._database.partition(issued_numbers_partition(kind, year))
        latest = ISSUED_NUMBER.among(partition.all(descending=True, limit=1))
        return latest[0]["number"] if latest else 0

    def take(self, request: NumberRequest) -> int:
        """The number of what was asked for: 1 partition query, and 1 write if it has none yet. Raises Unavailable."""
        number = request["after"] + 1
        for _ in range(MAX_TRIES):
            for issued in self._from(request, number):
                if _is_for(issued, request):
                    self._confirm(issued["_id"], request)
                    return issued["number"]
                number = issued["number"] + 1
            if self._write(request, number):
                return number
        raise Unavailable("Too many invoices are issued at once; try again.", retry_after=1)

    def _confirm(self, docid: str, request: NumberRequest) -> None:
        """A list is one node's copy, which may have kept what the others refuse, or what is about to be taken back; most nodes decide. 1 read
        and 1 write, none where there is one copy. Raises Unavailable."""
        if self._database.has_one_copy:
            return
        if confirm(self._database, docid, lambda issued: _is_for(issued, request)) is None:
            raise Unavailable("The database does not know yet whose this number is; try again.")

    def _from(self, request: NumberRequest, number: int) -> list[IssuedNumber]:
        """What was issued from a number on."""
        kind, year = request["kind"], request["year"]
        partition = self._database.partition(issued_numbers_partition(kind, year))
        return ISSUED_NUMBER.among(partition.all(begin_at=issued_number_key(kind, year, number)))

    def _write(self, request: NumberRequest, number: int) -> bool:
        """Whether the number is surely this one's now."""
        doc = ISSUED_NUMBER.build(
            issued_number_key(request["kind"], request["year"], number),
            kind=request["kind"],
            number=number,
            orderid=request["orderid"],
            reference=request["reference"],
            date=timestamp(),
        )
        [written] = self._database.put_many([doc])
        if written.error not in (None, "conflict"):
            raise Unavailable(f"No invoice number could be had: {written.error}.")
        if take_back_unsure(self._database, [written]):
            raise Unavailable("Too few database nodes answer to number this; try again.", retry_after=2)
        return written.error is None


def _is_for(issued: IssuedNumber, request: NumberRequest) -> bool:
    return (issued["orderid"], issued["reference"]) == (request["orderid"], request["reference"])
