"""The stock of many products and variants changed by one request: each by itself, and none twice."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from services.products.actions import catalogue, maintenance, stock
from services.products.actions.catalogue import NoSuchProduct
from services.products.actions.invalidation import invalidate_pages
from services.products.dependencies import Dependencies
from services.products.rules.ledger import Line
from shared.errors import AisleError, Conflict


class CountedBefore(Conflict):
    code, title = "counted_too_early", "It was counted before it had a stock here"


@dataclass(frozen=True)
class StockChange:
    """What comes in or goes out of what this SKU is; or how many of it there were when they were counted: now, or `counted_at`."""

    sku: str
    delta: int | None = None
    level: int | None = None
    counted_at: str = ""


@dataclass
class StockReport:
    """What became of each SKU."""

    changed: int = 0
    unchanged: int = 0
    failed: dict[str, AisleError] = field(default_factory=dict)

    def answer(self) -> dict[str, Any]:
        return {
            "changed": self.changed,
            "unchanged": self.unchanged,
            "failed": [
                {"sku": sku, "code": error.code, "detail": error.detail} for sku, error in self.failed.items()
            ],
        }


def change_stocks(
    deps: Dependencies, changes: Sequence[StockChange], reason: str, key: str, date: str
) -> StockReport:
    """1 global query for all, some partition queries and a write for each; with the same `key` each is changed once. No index is waited for."""
    report = StockReport()
    found, deps = catalogue.current(deps, [each.sku for each in changes]), deps.bulk
    counted: dict[str, list[Line]] = {}
    for change in changes:
        try:
            if change.sku not in found:
                raise NoSuchProduct(f"Nothing is sold as {change.sku}.")
            product = found[change.sku]
            line = stock.line_for(product, change.sku, None)
            counted.setdefault(product["_id"], []).append(line)
            _change(deps, line, change, (reason, key, date), report)
        except AisleError as error:
            if error.status >= 500:
                raise
            report.failed[change.sku] = error
    if report.changed:
        maintenance.refresh_stock(deps, counted)
        invalidate_pages(deps, [each for each in found.values() if each["_id"] in counted])
    return report


def _change(
    deps: Dependencies,
    line: Line,
    change: StockChange,
    about: tuple[str, str, str],
    report: StockReport,
) -> None:
    reason, key, date = about
    delta = change.delta
    if delta is None:
        delta = (change.level or 0) - _level_when_counted(deps, line, change.counted_at)
    if not delta:
        report.unchanged += 1
        return
    stock.adjust(deps, line, delta, reason, f"{key}:{change.sku}", date)
    report.changed += 1


def _level_when_counted(deps: Dependencies, line: Line, counted_at: str) -> int:
    """What is sold between the counting and its entry is no difference. What waits for goods lies on no shelf to be counted."""
    if not counted_at:
        return max(deps.ledger.known_end(line)[1].level, 0)
    level = deps.ledger.level_at(line, counted_at)
    if level is None:
        raise CountedBefore("Count it again: at that time it had no stock in its category.")
    return max(level, 0)
