"""What the goods in stock cost the shop, by category and currency: rows of the view `stock_value` as a report."""

from collections.abc import Sequence
from typing import Any

from services.products.documents import category_path
from shared.couch import Doc
from shared.money import money

Row = dict[str, Any]
ALL = "all"


def stock_value(rows: Sequence[Doc], currency: str | None = None) -> dict[str, Any]:
    """How many there are, and by category and currency how many of them have a cost price in it and what these cost. One currency, or all."""
    found = [
        {"category": category_path(row["key"]), **_sums(name, sums, row["value"][ALL][0])}
        for row in rows
        for name, sums in sorted(row["value"].items())
        if name != ALL and currency in (None, name)
    ]
    units = sum(row["value"][ALL][0] for row in rows)
    names = sorted({row["value"]["currency"] for row in found})
    return {"units": units, "rows": found, "totals": [_total(found, name, units) for name in names]}


def _sums(currency: str, sums: Sequence[int], units: int) -> Row:
    valued, amount = sums
    return {"units": units, "units_valued": valued, "value": money(amount, currency)}


def _total(rows: Sequence[Row], currency: str, units: int) -> Row:
    alike = [row for row in rows if row["value"]["currency"] == currency]
    valued = sum(row["units_valued"] for row in alike)
    return _sums(currency, (valued, sum(row["value"]["amount"] for row in alike)), units)
