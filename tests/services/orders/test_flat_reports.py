"""Reports over 200,000 payments cost what they cost over 2,000: one query, and as many rows out of the database."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from services.orders.documents import PAYMENT, order_key
from services.orders.rules.periods import span
from services.orders.store.reports import ReportStore
from shared.clock import iso
from shared.couch import Database, DatabaseUnavailable, Doc
from shared.money import money
from tests.services.orders.conftest import Shop, calls, until

FEW, MANY, BULK = 2_000, 200_000, 5_000
START, STEP = datetime(2003, 1, 1, tzinfo=UTC), timedelta(hours=8)
YEARS, DAY = ("2003-01-01", "2005-01-01"), ("2003-05-06", "2003-05-07")
PRICE = 250

pytestmark = [pytest.mark.load, pytest.mark.timeout(1800)]


def payments(first: int, end: int) -> Iterator[list[Doc]]:
    """Payments in bulks, all of them on the same 2,000 moments, so that only their number differs."""
    for start in range(first, end, BULK):
        yield [payment(number) for number in range(start, min(start + BULK, end))]


def payment(number: int) -> Doc:
    orderid, date = f"flat{number}", iso(START + STEP * (number % FEW))
    line = {"productid": f"p{number % 50}", "name": "Tea", "quantity": 1, "amount": PRICE}
    return PAYMENT.new(
        order_key(orderid, "payment"),
        orderid=orderid,
        userid=f"u{number % 500}",
        placed=date,
        currency="SEK",
        date=date,
        paid=True,
        provider="till",
        provider_ref="t",
        total=money(PRICE, "SEK"),
        units=1,
        lines=[line],
        imported=True,
    )


def asked(
    shop: Shop, name: str, start: str, end: str, **params: str
) -> tuple[dict[str, int], dict[str, Any]]:
    """(database calls, answer) of a report, asked again while the server is still busy with what was written."""

    def answered() -> Any:
        query = {"from": start, "to": end, **params}
        answer = shop.get(shop.admin, f"/v1/admin/reports/{name}", params=query)
        return answer.status_code != 503 and calls(answer)["global"] == 1 and answer

    answer = until(answered, 240)
    assert answer.status_code == 200, answer.text
    return calls(answer), answer.json()


def catch_up(database: Database) -> None:
    """Waits until the database's views hold what was written: a report of one that is behind may be asked twice."""

    def is_caught_up() -> bool:
        try:
            ReportStore(database).catch_up()
        except DatabaseUnavailable:
            return False
        return True

    until(is_caught_up, 900)


def every_report(shop: Shop) -> dict[str, tuple[dict[str, int], int]]:
    """What each report costs: its database calls and the rows it shows."""
    found = {
        by: asked(shop, "sales", *(DAY if by == "hour" else YEARS), by=by)
        for by in ("total", "year", "month", "day", "hour")
    }
    found["best-sellers"] = asked(shop, "best-sellers", *YEARS, limit="100")
    return {name: (cost, len(answer["rows"])) for name, (cost, answer) in found.items()}


def rows_read(database: Database) -> dict[str, int]:
    """How many rows the database itself hands over for each."""
    store = ReportStore(database)
    levels = {by: store.sales(by, span(*YEARS)) for by in ("total", "year", "month", "day")}
    return {
        name: len(rows) for name, rows in {**levels, "best": store.best_sellers("year", span(*YEARS))}.items()
    }


def test_a_report_over_200_000_payments_costs_what_it_costs_over_2_000(
    shop: Shop, database: Database
) -> None:
    """The guard is the `_sum`: a report that read payments would hand over ten times the rows."""
    for docs in payments(0, FEW):
        assert not any(row.error for row in database.put_many(docs))
    catch_up(database)
    few, few_rows = every_report(shop), rows_read(database)
    assert {tuple(cost.items()) for cost, _ in few.values()} == {
        (("partition", 0), ("global", 1), ("read", 0), ("write", 0))
    }
    assert few_rows["total"] == 1
    assert few_rows["month"] == 22
    for docs in payments(FEW, MANY):
        assert not any(row.error for row in database.put_many(docs))
    catch_up(database)
    assert every_report(shop) == few
    assert rows_read(database) == few_rows
    total = asked(shop, "sales", *YEARS, by="total")[1]["total"]
    assert (total["orders"], total["gross"]["amount"]) == (MANY, MANY * PRICE)
