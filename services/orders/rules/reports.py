"""View rows to reports: sales, best sellers, times to dispatch and delivery; as JSON shapes, CSV and chart points."""

import csv
import io
from typing import Any

from services.orders.rules.periods import label
from shared.csv_cells import escape_formula
from shared.money import major, money

Row = dict[str, Any]


def sales_report(rows: list[Row], currency: str | None = None) -> dict[str, Any]:
    """Grouped `sales` rows (key [y, m, d, h], value {currency: [orders, units, gross, refunds]}) to the report, of one currency or all."""
    listed = [
        {"period": label(row["key"] or []), **_sums(sums, name)}
        for row in rows
        for name, sums in sorted(row["value"].items())
        if currency in (None, name)
    ]
    report = sales_from_rows(listed)
    return report if currency is None or report["groups"] else _empty_report(currency)


def best_sellers(rows: list[Row], limit: int, by: str = "product") -> list[Row]:
    """`best_sellers` rows (key [..., currency, productid, name, sku]) to the products or SKUs sold most, by units, then by amount."""
    found: dict[tuple[str, str, str], Row] = {}
    for row in rows:
        currency, productid, name, sku = row["key"][-4:]
        sku = (sku or productid) if by == "sku" else ""
        units, amount = row["value"]
        new = {"productid": productid, "sku": sku, "units": 0, "amount": 0}
        seller = found.setdefault((currency, productid, sku), new)
        seller |= {
            "name": name,
            "units": seller["units"] + units,
            "amount": seller["amount"] + amount,
            "currency": currency,
        }
    ranked = sorted(
        found.values(),
        key=lambda seller: (-seller["units"], -seller["amount"], seller["productid"], seller["sku"]),
    )
    return [
        {
            "productid": each["productid"],
            **({"sku": each["sku"]} if each["sku"] else {}),
            "name": each["name"],
            "units": each["units"],
            "revenue": money(each["amount"], each["currency"]),
        }
        for each in ranked[:limit]
        if each["units"] > 0
    ]


def tax_report(rows: list[Row]) -> list[Row]:
    """`tax` rows (key [..., country, region, name, rate, currency], value [base, amount]) by country, region, name, rate and currency."""
    found: dict[tuple[Any, ...], list[int]] = {}
    for row in rows:
        sums = found.setdefault(tuple(row["key"][-5:]), [0, 0])
        sums[0], sums[1] = sums[0] + row["value"][0], sums[1] + row["value"][1]
    return [
        {
            "country": country,
            "region": region,
            "name": name,
            "rate": rate,
            "base": money(base, currency),
            "amount": money(amount, currency),
        }
        for (country, region, name, rate, currency), (base, amount) in sorted(found.items())
    ]


def fulfilment_report(rows: list[Row]) -> list[Row]:
    """`fulfilment` rows (key [y, m, d, stage], value _stats) to average, minimum and maximum seconds of both stages."""
    stages = {"dispatch": "payment to dispatch", "delivery": "dispatch to delivery"}
    return [
        _stage(name, [row["value"] for row in rows if row["key"][-1] == kind])
        for kind, name in stages.items()
    ]


def _stage(name: str, stats: list[dict[str, float]]) -> Row:
    count = sum(each["count"] for each in stats)
    if not count:
        return {
            "stage": name,
            "count": 0,
            "average_seconds": None,
            **_extremes(None, None),
        }
    return {
        "stage": name,
        "count": count,
        "average_seconds": round(sum(each["sum"] for each in stats) / count, 3),
        **_extremes(min(each["min"] for each in stats), max(each["max"] for each in stats)),
    }


def _extremes(least: float | None, most: float | None) -> Row:
    """`least_seconds` and `most_seconds` are the names of version 0.1, answered beside today's for one version more."""
    return {"min_seconds": least, "max_seconds": most, "least_seconds": least, "most_seconds": most}


def add_reports(parts: list[list[Row]]) -> list[Row]:
    """Rows of several parts of a span, the same period of two parts added up."""
    found: dict[tuple[str, str], Row] = {}
    for row in (row for rows in parts for row in rows):
        key = (row["gross"]["currency"], row["period"])
        found[key] = _plus(found[key], row) if key in found else row
    return [found[key] for key in sorted(found)]


def sales_from_rows(rows: list[Row]) -> dict[str, Any]:
    """The report of finished rows: a group per currency, and one total when there is one currency only."""
    groups: dict[str, list[Row]] = {}
    for row in rows:
        groups.setdefault(row["gross"]["currency"], []).append(row)
    listed = [
        {"currency": name, "rows": groups[name], "total": _total(groups[name], name)}
        for name in sorted(groups)
    ]
    return {
        "rows": [row for group in listed for row in group["rows"]],
        "total": listed[0]["total"] if len(listed) == 1 else None,
        "groups": listed,
    }


def difference(closed: list[Row], live: list[Row]) -> list[Row]:
    """What the live groups hold beyond the closed ones, per currency; empty when they agree."""
    before = {group["currency"]: group["total"] for group in closed}
    after = {group["currency"]: group["total"] for group in live}
    found = []
    for currency in sorted(before.keys() | after.keys()):
        nothing = _sums([0, 0, 0, 0], currency)
        old, new = before.get(currency, nothing), after.get(currency, nothing)
        if old != new:
            found.append(
                _sums([_of(new, n) - _of(old, n) for n in ("orders", "units", "gross", "refunds")], currency)
            )
    return found


def as_csv(rows: list[Row]) -> str:
    """Rows as CSV with a header; money in major units, its currency in a column of its own."""
    table = [_csv_row(row) for row in rows]
    columns = list(dict.fromkeys(name for row in table for name in row))
    out = io.StringIO()
    writer = csv.DictWriter(out, columns, lineterminator="\r\n")
    writer.writeheader()
    writer.writerows(table)
    return out.getvalue()


def _csv_row(row: Row) -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for name, value in row.items():
        if isinstance(value, dict):
            flat[name] = major(money(value["amount"], value["currency"]))
            flat["currency"] = value["currency"]
        else:
            flat[name] = escape_formula(value) if isinstance(value, str) else value
    return flat


def _empty_report(currency: str) -> dict[str, Any]:
    """A currency that was asked for by name has a total even when nothing was sold."""
    nothing = _sums([0, 0, 0, 0], currency)
    return {"rows": [], "total": nothing, "groups": [{"currency": currency, "rows": [], "total": nothing}]}


def _sums(sums: list[int], currency: str) -> Row:
    orders, units, gross, refunds = sums
    return {
        "orders": orders,
        "units": units,
        "gross": money(gross, currency),
        "refunds": money(refunds, currency),
        "net": money(gross - refunds, currency),
    }


def _of(row: Row, name: str) -> int:
    value = row[name]
    number: int = value["amount"] if isinstance(value, dict) else value
    return number


def _total(rows: list[Row], currency: str) -> Row:
    names = ("orders", "units", "gross", "refunds")
    return _sums([sum(_of(row, name) for row in rows) for name in names], currency)


def _plus(one: Row, other: Row) -> Row:
    return {"period": one["period"], **_total([one, other], one["gross"]["currency"])}
