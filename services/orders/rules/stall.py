"""A day at the stalls in sums: takings by currency, person and kind of payment, and cash counted against what it should be."""

from collections.abc import Sequence
from typing import Any

from services.orders.declarations.stall import CashUp, Oversold, StallEntry
from services.orders.documents import OVERSOLD
from services.orders.rules.assembly import OrderDocuments
from services.orders.rules.manual_payments import CASH
from shared.money import Money, money

Doc = dict[str, Any]


def oversold_of(found: OrderDocuments) -> Oversold | None:
    """What of a sale at a stall the stock did not have."""
    return next(iter(OVERSOLD.among(found.of_type(OVERSOLD.name))), None)


def takings(entries: Sequence[StallEntry]) -> list[Doc]:
    """{stall, sold_by, currency, sales, cash, terminal} for each stall, person and currency, in that order."""
    found: dict[tuple[str, str, str], Doc] = {}
    for each in entries:
        total = each["total"]
        key = (each["stall"], each["sold_by"], total["currency"])
        row = found.setdefault(key, {"sales": 0, "cash": 0, "terminal": 0})
        row["sales"] += 1
        row["cash" if each["kind"] == CASH else "terminal"] += total["amount"]
    return [
        {
            "stall": stall,
            "sold_by": sold_by,
            "sales": row["sales"],
            "cash": money(row["cash"], currency),
            "terminal": money(row["terminal"], currency),
        }
        for (stall, sold_by, currency), row in sorted(found.items())
    ]


def cash_of(entries: Sequence[StallEntry], stall: str, sold_by: str, currency: str) -> Money:
    """What one person took in cash at one stall."""
    amount = sum(
        each["total"]["amount"]
        for each in entries
        if (each["stall"], each["sold_by"], each["kind"], each["total"]["currency"])
        == (stall, sold_by, CASH, currency)
    )
    return money(amount, currency)


def expected_cash(opening: Money, taken: Money, paid_out: Money) -> Money:
    """What should be in the till. Less than nothing is nothing: more was paid out than anybody knows of having come in."""
    amount = opening["amount"] + taken["amount"] - paid_out["amount"]
    return money(max(amount, 0), taken["currency"])


def shown_cash_up(found: CashUp) -> Doc:
    names = (
        "id", "day", "stall", "sold_by", "opening", "sold", "paid_out", "expected", "counted", "difference", "note", "by", "date",
    )  # fmt: skip
    return {name: found[name] for name in names}  # type: ignore[literal-required]  # names of its fields


def shown_entry(found: StallEntry) -> Doc:
    names = ("orderid", "number", "stall", "sold_by", "kind", "total", "oversold", "price_changed", "date")
    return {name: found[name] for name in names}  # type: ignore[literal-required]  # names of its fields
