"""The stock of many products and variants changed by one request: each by itself, and none twice."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from services.products.actions import catalogue, maintenance, stock
from services.products.actions.catalogue import NoSuchProduct
from services.products.actions.invalidation import invalidate_pages
from services.products.declarations.product import Product
from services.products.dependencies import Dependencies
from shared.errors import AisleError


@dataclass(frozen=True)
class StockChange:
    """What comes in or goes out of what this SKU is; or how many of it there are, as they were counted."""

    sku: str
    delta: int | None = None
    level: int | None = None


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
    """1 global query for all, some partition queries and a write for each; with the same `key` each is changed once."""
    report = StockReport()
    found = deps.catalogue.all_by_productid([each.sku for each in changes], allow_stale=False)
    products: dict[str, Product] = {}
    for change in changes:
        try:
            if change.sku not in found:
                raise NoSuchProduct(f"Nothing is sold as {change.sku}.")
            productid = found[change.sku]["productid"]
            if productid not in products:
                products[productid] = catalogue.finish_moves(deps, productid, date)
            _change(deps, products[productid], change, (reason, key, date), report)
        except AisleError as error:
            if error.status >= 500:
                raise
            report.failed[change.sku] = error
    if report.changed:
        maintenance.refresh(deps, [each["_id"] for each in products.values()])
        invalidate_pages(deps, products.values())
    return report


def _change(
    deps: Dependencies,
    product: Product,
    change: StockChange,
    about: tuple[str, str, str],
    report: StockReport,
) -> None:
    reason, key, date = about
    line = stock.line_for(product, change.sku, None)
    delta = change.delta
    if delta is None:
        delta = (change.level or 0) - deps.ledger.level(line)
    if not delta:
        report.unchanged += 1
        return
    stock.adjust(deps, line, delta, reason, f"{key}:{change.sku}", date)
    report.changed += 1
