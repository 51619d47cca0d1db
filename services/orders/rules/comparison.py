"""What a period brought beside the one before it."""

from datetime import date
from typing import Any, Final

from services.orders.rules import margin
from services.orders.rules.periods import LEVELS, label
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
    "new_customers",
    "new_gross",
    "returning_orders",
    "returning_gross",
)
"""In the order of views/comparison.js; those of `rules.margin` follow."""
SUMS: Final = len(FIGURES) + len(margin.FIGURES)
CUSTOMERS: Final = ("new_customers", "new_gross", "returning_orders", "returning_gross")
MONEY: Final = ("gross", "discounts", "tax", "refunds", "new_gross", "returning_gross")


def comparison_report(rows: list[dict[str, Any]], start: date) -> list[dict[str, Any]]:
    """Rows by day and currency (key [y, m, d, currency]) to the sums from `start` on, and before it, by currency."""
    found: dict[str, tuple[list[int], list[int]]] = {}
    for row in rows:
        year, month, day, currency = row["key"]
        present, before = found.setdefault(currency, ([0] * SUMS, [0] * SUMS))
        sums = present if date(year, month, day) >= start else before
        sums[:] = [one + other for one, other in zip(sums, row["value"], strict=True)]
    return [
        {"currency": currency, "present": _figures(present, currency), "before": _figures(before, currency)}
        for currency, (present, before) in sorted(found.items())
    ]


def customers_report(rows: list[dict[str, Any]], start: date) -> dict[str, Any]:
    """The same rows to what new and returning customers brought: by month and currency from `start` on, and all together beside the time before."""
    months: dict[tuple[str, str], list[int]] = {}
    for row in rows:
        year, month, day, currency = row["key"]
        if date(year, month, day) >= start and any(row["value"][FIGURES.index(name)] for name in CUSTOMERS):
            sums = months.setdefault((f"{year:04d}-{month:02d}", currency), [0] * SUMS)
            sums[:] = [one + other for one, other in zip(sums, row["value"], strict=True)]
    return {
        "rows": [
            {"period": period, **_of_customers(_figures(sums, currency))}
            for (period, currency), sums in sorted(months.items())
        ],
        "totals": [
            {
                "currency": each["currency"],
                **{when: _of_customers(each[when]) for when in ("present", "before")},
            }
            for each in comparison_report(rows, start)
        ],
    }


def margin_report(rows: list[dict[str, Any]], by: str, currency: str | None = None) -> dict[str, Any]:
    """The same rows to what is left over the costs of goods, by period and currency, and in all; of one currency, or of every one."""
    found: dict[tuple[str, tuple[int, ...]], list[int]] = {}
    totals: dict[str, list[int]] = {}
    for row in rows:
        *day, name = row["key"]
        figures = row["value"][len(FIGURES) :]
        if currency not in (None, name) or not any(figures):
            continue
        period = found.setdefault((name, tuple(day[: LEVELS[by]])), [0] * len(margin.FIGURES))
        for sums in (period, totals.setdefault(name, [0] * len(margin.FIGURES))):
            sums[:] = [one + other for one, other in zip(sums, figures, strict=True)]
    return {
        "rows": [
            {"period": label(list(period)), **_margin(sums, name)}
            for (name, period), sums in sorted(found.items())
        ],
        "totals": [{"currency": name, **_margin(sums, name)} for name, sums in sorted(totals.items())],
    }


def _margin(sums: list[int], currency: str) -> dict[str, Any]:
    """`margin_percent` of the sales whose cost is known; None where they are none."""
    units, known_units, sales, known_sales, cost, labels = sums
    left = known_sales - cost
    return {
        "units": units,
        "known_units": known_units,
        "sales": money(sales, currency),
        "known_sales": money(known_sales, currency),
        "cost": money(cost, currency),
        "margin": money(left, currency),
        "labels": money(labels, currency),
        "margin_percent": round(100 * left / known_sales, 1) if known_sales > 0 else None,
    }


def _of_customers(figures: dict[str, Any]) -> dict[str, Any]:
    return {name: figures[name] for name in CUSTOMERS}


def _figures(sums: list[int], currency: str) -> dict[str, Any]:
    named = dict(zip(FIGURES, sums[: len(FIGURES)], strict=True))
    return {name: money(value, currency) if name in MONEY else value for name, value in named.items()}
