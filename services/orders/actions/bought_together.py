"""What else is bought with a product."""

from typing import Any

from services.orders.dependencies import Dependencies

MAX_COUNTED = 5_000
MIN_ORDERS = 2
"""One order alone would say what one person bought."""


def bought_together(deps: Dependencies, productid: str, limit: int) -> list[dict[str, Any]]:
    """[{productid, orders}], those of the most orders first. 1 global query."""
    rows = deps.orders.bought_together(productid, MAX_COUNTED)
    found = [(row["value"], row["key"][1]) for row in rows if row["value"] >= MIN_ORDERS]
    return [
        {"productid": other, "orders": orders} for orders, other in sorted(found, key=_most_first)[:limit]
    ]


def _most_first(found: tuple[int, str]) -> tuple[int, str]:
    return -found[0], found[1]
