"""A count says how many lay on the shelf at a time; what was told later of the time before it, it has seen already.

So a count's movement holds how many were `counted` and when (`happened`), also when nothing differed. Each movement is of the time it
`happened`, else of its date. Of counts the one that was taken last holds: one of an earlier time that is told later books nothing, and a
sale of an earlier time that is told later takes nothing, for the pieces were gone when they were counted: they are given back to the chain.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from services.products.declarations.stock import Movement
from services.products.rules.ledger import ADJUSTED, Head, Line, level_on_shelf, movement

COUNTED_AFTERWARDS: Final = "Counted after this was sold"


@dataclass(frozen=True)
class Count:
    """So many were there at a time; told at `date`, with its reason, and marked by who told it."""

    level: int
    counted_at: str
    reason: str
    mark: str
    date: str


def superseded(movements: Sequence[Movement], moment: str) -> bool:
    """Whether something was counted after that."""
    return any("counted" in each and each["happened"] > moment for each in movements)


def told_before(movements: Sequence[Movement], mark: str) -> Movement | None:
    return next((each for each in movements if each["mark"] == mark), None)


def shelf_before(movements: Sequence[Movement], count: Count) -> int | None:
    """What lay there as far as the chain knew when the count was booked, or knows now; None where it does not reach so far."""
    known = told_before(movements, count.mark)
    older = [each for each in movements if known is None or each["slot"] < known["slot"]]
    return level_on_shelf(older, count.counted_at)


def counted(line: Line, head: Head, movements: Sequence[Movement], count: Count) -> Movement | None:
    """The movement of a count; none where somebody counted later, or nothing was in stock here at that time."""
    if known := told_before(movements, count.mark):
        return known
    on_shelf = shelf_before(movements, count)
    if on_shelf is None or superseded(movements, count.counted_at):
        return None
    change = count.level - max(on_shelf, 0)
    more = {"note": count.reason, "happened": count.counted_at, "counted": count.level}
    return movement(head, line, change, ADJUSTED, count.mark, count.date, **more)


def given_back(
    line: Line, head: Head, movements: Sequence[Movement], orderid: str, happened: str, date: str
) -> Movement | None:
    """What goes back to the chain of a sale at a stall that a count had seen before the shop was told; none where no count had."""
    mark = f"counted-{orderid}"
    if known := told_before(movements, mark):
        return known
    sale = next((each for each in movements if each.get("orderid") == orderid and each["delta"] < 0), None)
    counts = [each for each in movements if "counted" in each and each["happened"] > happened]
    if sale is None or not counts or counts[0]["slot"] > sale["slot"]:
        return None
    more = {"note": COUNTED_AFTERWARDS, "happened": happened}
    return movement(head, line, -sale["delta"], ADJUSTED, mark, date, **more)
