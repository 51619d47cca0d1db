"""What a period brought beside the one before it."""

from datetime import date
from typing import Any, Final

from shared.money import money

FIGURES: Final = (
    "orders",
    "gross",
    "discounts",
    "tax",
    "refunds",
    "returns",
    "returned_units",
    "damaged_units",
)
"""In the order of views/comparison.js."""
MONEY: Final = ("gross", "discounts", "tax", "refunds")


def comparison_report(rows: list[dict[str, Any]], start: date) -> list[dict[str, Any]]:
    """Rows by day and currency (key [y, m, d, currency]) to the sums from `start` on, and before it, by currency."""
    found: dict[str, tuple[list[int], list[int]]] = {}
    for row in rows:
        year, month, day, currency = row["key"]
        present, before = found.setdefault(currency, ([0] * len(FIGURES), [0] * len(FIGURES)))
        sums = present if date(year, month, day) >= start else before
        sums[:] = [one + other for one, other in zip(sums, row["value"], strict=True)]
    return [
        {"currency": currency, "present": _figures(present, currency), "before": _figures(before, currency)}
        for currency, (present, before) in sorted(found.items())
    ]


def _figures(sums: list[int], currency: str) -> dict[str, Any]:
    named = dict(zip(FIGURES, sums, strict=True))
    return {name: money(value, currency) if name in MONEY else value for name, value in named.items()}
