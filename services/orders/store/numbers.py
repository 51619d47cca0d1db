"""Numbers that people call orders by, A-100042: never the same one twice, not without gaps.

A process takes a block of numbers by writing the document that comes after the last block's: of several that try only one writes it. It
hands out the block's numbers one by one, and takes the next block behind an answer when few are left, so that a checkout asks the
database nothing for its number. What a process has left when it ends is not used by anybody: numbers have gaps, and those of
several processes are mixed. A write that the database has only accepted (202) may meet another one elsewhere: such a block is left alone.
"""

from collections import deque
from collections.abc import Mapping
from threading import Lock
from typing import Any, Final

from services.orders.documents import NUMBER_BLOCK, NUMBER_PARTITION, NUMBER_PREFIX, number_block_key
from shared.background import Background
from shared.clock import timestamp
from shared.couch import Database
from shared.errors import Unavailable

FIRST_NUMBER: Final = 100_001
BLOCK_SIZE: Final = 50
FEW: Final = 20
MAX_TRIES: Final = 50
"""Others that take blocks at the same moment."""


class OrderNumbers:
    """`take` is safe in any thread."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._background = Background(1)
        self._numbers: deque[int] = deque()
        self._taking, self._reserving = Lock(), Lock()

    def take(self) -> str:
        """The next number. No call while there are some; else 1 partition query and 1 write. Raises Unavailable."""
        number = self._next()
        if number is None:
            with self._reserving:
                number = self._next()
                if number is None:
                    self._reserve()
                    number = self._next()
        if number is None:
            raise Unavailable("No order number could be had; try again.")
        return f"{NUMBER_PREFIX}{number}"

    def _next(self) -> int | None:
        with self._taking:
            number = self._numbers.popleft() if self._numbers else None
            left = len(self._numbers)
        if left == FEW:
            self._background.run(self._refill)
        return number

    def _refill(self) -> None:
        with self._reserving:
            if len(self._numbers) <= FEW:
                self._reserve()

    def _reserve(self) -> None:
        """Writes the block after the last one; after a conflict, the one after that."""
        partition = self._database.partition(NUMBER_PARTITION)
        last = NUMBER_BLOCK.among(partition.all("block", descending=True, limit=1))
        block, first = _after(last[0]) if last else (1, FIRST_NUMBER)
        for _ in range(MAX_TRIES):
            doc = NUMBER_BLOCK.build(
                number_block_key(block), first=first, last=first + BLOCK_SIZE - 1, date=timestamp()
            )
            [written] = self._database.put_many([doc])
            if written.error is None and not written.accepted:
                with self._taking:
                    self._numbers.extend(range(first, first + BLOCK_SIZE))
                return
            if written.error not in (None, "conflict"):
                raise Unavailable(f"No order numbers could be had: {written.error}.")
            block, first = _after(doc if written.accepted else self._database.get(doc["_id"]))
        raise Unavailable("Too many take order numbers at once; try again.")


def _after(block: Mapping[str, Any]) -> tuple[int, int]:
    """Number and first order number of the block that follows one."""
    return int(block["_id"].rpartition("block")[2]) + 1, int(block["last"]) + 1
