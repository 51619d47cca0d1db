"""Old movements of a stock become one total, so that what a busy product leaves behind does not grow for ever.

A total is a document of its own beside the chain: the sum of the movements 1 to n, n a multiple of a THOUSAND. Movements are
counted by thousands as well (the view `levels`), and who reads a level takes the last total and the thousands after it
(`level_of`): so the level is the same before the total is written, while the movements before it are removed, and after a
crash in the midst of that. Nothing is ever written in two places at once.

Movements go only SETTLED after their total was written: by then every copy of a cluster has it, and no request or sweep that had
read an order's reservation is still at work. With a movement goes what was kept of its order beside this chain: reservation, settlement, returns.
The first slot stays, because who makes a product anew meets it, and so does the end of the chain (KEPT_SLOTS).
Two workers write the same total under the same id, and remove the same documents. Replicas that were apart may each have written it,
on another `date`: any of the two is right.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import timedelta
from typing import Any, Final

from services.products.declarations.stock import Movement, StockTotal
from services.products.documents import (
    STOCK_TOTAL,
    partition_of,
    reservation_id,
    return_prefix,
    settlement_id,
)
from services.products.rules.ledger import MOVED_HERE, Line, line_of
from shared.couch import document_id

THOUSAND: Final = 1000
KEPT_SLOTS: Final = 100
SETTLED: Final = timedelta(days=1)


def level_of(rows: Iterable[Mapping[str, Any]]) -> int:
    """The level of one stock from its rows of the view `levels`: the last total, and the thousands after it."""
    sums = {(row["key"][2], len(row["key"]) > 3): row["value"] for row in rows}
    last = max((slot for slot, is_total in sums if is_total), default=0)
    later = sum(value for (slot, is_total), value in sums.items() if not is_total and slot > last)
    return int(sums.get((last, True), 0) + later)


def total_prefix(key: str) -> str:
    return f"{key}:stocktotal:"


def total_id(line: Line, slot: int) -> str:
    return document_id(partition_of(line.taxonomy), f"{total_prefix(line.key)}{slot:09d}")


def is_whole(movements: Sequence[Movement], after: int, slot: int) -> bool:
    """Whether these are all movements after one slot and up to another, and none is in doubt."""
    slots = [each["slot"] for each in movements]
    return slots == list(range(after + 1, slot + 1)) and not any("_conflicts" in each for each in movements)


def total(before: StockTotal | None, movements: Sequence[Movement], date: str) -> StockTotal:
    """The total at the last of these, which come right after `before`."""
    line, slot = line_of(movements[-1]), movements[-1]["slot"]
    return STOCK_TOTAL.build(
        total_id(line, slot),
        **line.fields,
        slot=slot,
        delta=(before["delta"] if before else 0) + sum(each["delta"] for each in movements),
        arrivals=[
            *(before["arrivals"] if before else ()),
            *(each["mark"] for each in movements if each["reason"] == MOVED_HERE),
        ],
        date=date,
    )


def companions(movement: Movement) -> Iterator[str]:
    """The ids of what was kept of a movement's order beside the chain, as far as it was."""
    line, orderid = line_of(movement), movement.get("orderid")
    if orderid:
        yield reservation_id(line.taxonomy, line.key, orderid)
        yield settlement_id(line.taxonomy, line.key, orderid)
        if return_prefix(line.key, orderid) in movement["mark"]:
            yield movement["mark"]
