"""Goods that were counted at a stall, perhaps without a network: told later, they undo nothing that was sold since.

What was counted is compared with what the stock's chain said at the time of counting, less what had left the shelf by then and
was told later (`rules.ledger.level_on_shelf`); the difference is one movement. The count's id and the SKU are its mark, whoever sends it.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from services.products.actions import catalogue, maintenance, stock
from services.products.actions.catalogue import NoSuchProduct
from services.products.actions.invalidation import invalidate_pages
from services.products.actions.stock_changes import CountedBefore
from services.products.declarations.limits import MAX_STOCK
from services.products.declarations.stock import Movement
from services.products.dependencies import Dependencies
from services.products.rules import stock_counts as rules
from services.products.rules.ledger import Head, Line
from services.products.rules.stock_counts import Count
from services.products.store.stock_counts import append_decided
from shared.errors import AisleError


@dataclass(frozen=True)
class Counted:
    """So many of this SKU were there at a time."""

    sku: str
    level: int
    counted_at: str


@dataclass(frozen=True)
class CountedLine:
    """What came of one: `expected` is what the chain said at that time, `change` what was booked, `since` what came in (or, below zero, went out)
    afterwards; `stock` is the level now, below zero where more was sold than there was. `superseded`: somebody counted later, so nothing was booked."""

    sku: str
    counted: int
    expected: int
    change: int
    since: int
    stock: int
    superseded: bool = False


@dataclass
class CountReport:
    lines: list[CountedLine] = field(default_factory=list)
    failed: dict[str, AisleError] = field(default_factory=dict)

    def answer(self) -> dict[str, Any]:
        return {
            "items": [asdict(each) for each in self.lines],
            "failed": [
                {"sku": sku, "code": error.code, "detail": error.detail} for sku, error in self.failed.items()
            ],
        }


def take_counts(
    deps: Dependencies, counts: Sequence[Counted], id: str, reason: str, date: str
) -> CountReport:
    """Each by itself; sent again, each once. 1 global query for all, some partition queries and a write for each."""
    report = CountReport()
    found, deps = catalogue.current(deps, [each.sku for each in counts]), deps.bulk
    changed: dict[str, list[Line]] = {}
    for count in counts:
        try:
            if count.sku not in found:
                raise NoSuchProduct(f"Nothing is sold as {count.sku}.")
            product = found[count.sku]
            line = stock.line_for(product, count.sku, None)
            counted_at = min(count.counted_at, date)  # of a clock that is ahead
            mark = f"count-{id}:{count.sku}"
            told = _take(deps, line, count.sku, Count(count.level, counted_at, reason, mark, date))
        except AisleError as error:
            if error.status >= 500:
                raise
            report.failed[count.sku] = error
            continue
        report.lines.append(told)
        if told.change:
            changed.setdefault(product["_id"], []).append(line)
    if changed:
        maintenance.refresh_stock(deps, changed)
        invalidate_pages(deps, [each for each in found.values() if each["_id"] in changed])
    return report


def take_back_counted(
    deps: Dependencies, orderid: str, lines: Sequence[Line], happened: str, date: str
) -> None:
    """A sale at a stall has taken its goods: those that were counted after they were sold, and before the shop was told, go back to the chain.

    May be repeated. 2 partition queries a line, 1 write for each that was counted.
    """
    for line in lines:
        append_decided(
            deps.ledger,
            line,
            happened,
            lambda place, head, movements: rules.given_back(place, head, movements, orderid, happened, date),
        )


def _take(deps: Dependencies, line: Line, sku: str, count: Count) -> CountedLine:
    """Also below zero: what was sold since may be more than there ever was, and is shown so."""
    found: list[Movement] = []

    def decide(place: Line, head: Head, movements: Sequence[Movement]) -> Movement | None:
        found[:] = movements
        return rules.counted(replace(place, backorder_limit=MAX_STOCK), head, movements, count)

    booked = append_decided(deps.ledger, line, count.counted_at, decide)
    on_shelf = rules.shelf_before(found, count)
    if on_shelf is None:
        raise CountedBefore("Count it again: at that time it had no stock in its category.")
    change = booked["delta"] if booked else 0
    newest = booked if booked and booked not in found else found[0]
    level, expected = newest["level"], max(on_shelf, 0)
    since = level - change - on_shelf
    return CountedLine(sku, count.level, expected, change, since, level, superseded=booked is None)
