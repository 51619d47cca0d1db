"""A day at the stalls in sums: takings by currency, person and kind of payment, and cash counted against what it should be."""

from collections.abc import Sequence
from datetime import date, timedelta
from typing import Any, Final

from services.orders.declarations.stall import (
    OVERSOLD_FIELDS,
    CashUp,
    Oversold,
    OversoldSettlement,
    StallEntry,
)
from services.orders.documents import OVERSOLD, OVERSOLD_SETTLEMENT
from services.orders.rules.assembly import OrderDocuments
from services.orders.rules.manual_payments import CASH
from shared.errors import Invalid
from shared.money import Money, money

Doc = dict[str, Any]
MAX_DAYS: Final = 31


def oversold_of(found: OrderDocuments) -> Oversold | None:
    """What of a sale at a stall the stock did not have."""
    return next(iter(OVERSOLD.among(found.of_type(OVERSOLD.name))), None)


def settlement_of(found: OrderDocuments) -> OversoldSettlement | None:
    """How what was oversold was settled."""
    return next(iter(OVERSOLD_SETTLEMENT.among(found.of_type(OVERSOLD_SETTLEMENT.name))), None)


def shown_oversold(found: OrderDocuments) -> Doc | None:
    """What of a sale at a stall the stock did not have, and how that was settled."""
    lacking, settled = oversold_of(found), settlement_of(found)
    if lacking is None:
        return None
    outcome = {"outcome": settled["outcome"], "date": settled["date"]} if settled else None
    return {**OVERSOLD_FIELDS.shown(lacking), "settled": outcome}


def days_between(first: str, last: str) -> list[str]:
    """Both included. Raises Invalid."""
    try:
        begin, end = date.fromisoformat(first), date.fromisoformat(last)
    except ValueError:
        raise Invalid(errors={"from": ["There is no such day."]}) from None
    if not 0 <= (end - begin).days < MAX_DAYS:
        raise Invalid(errors={"to": [f"From one day to the same or a later one, {MAX_DAYS} days at most."]})
    return [str(begin + timedelta(days=number)) for number in range((end - begin).days + 1)]


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
