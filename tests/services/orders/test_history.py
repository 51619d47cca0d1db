"""Order history from elsewhere through POST /v1/admin/orders/import, and the CDNOW purchases to the cent."""

import os
import secrets
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import orjson
import pytest
import requests

from services.orders.actions.imports import import_orders
from services.orders.dependencies import Dependencies
from services.orders.store.reports import ReportStore
from shared.couch import Database, DatabaseUnavailable, View
from tests.people import Person
from tests.processes import ROOT
from tests.services.orders import cdnow
from tests.services.orders.conftest import Shop, calls
from tests.waiting import settles

NDJSON = {"Content-Type": "application/x-ndjson"}
DATA = Path(os.environ.get("AISLE_DATA", ROOT.parent / "shared" / "data")) / "cdnow_master.txt"
SLICE = 20
README_TOTALS = {
    "1997-01": 29906017,
    "1997-02": 37959003,
    "1997-03": 39315527,
    "1997-04": 14282449,
    "1997-12": 9557735,
    "1998-06": 7610930,
    "1997": 202416126,
    "1998": 47615437,
}

needs_cdnow = pytest.mark.skipif(
    not DATA.exists(), reason=f"{DATA} is not there; AISLE_DATA names its folder"
)


def send(shop: Shop, lines: list[dict[str, Any]] | Iterator[bytes], **options: Any) -> requests.Response:
    body = lines if not isinstance(lines, list) else b"\n".join(orjson.dumps(line) for line in lines)
    headers = NDJSON | options.pop("headers", {})
    path = f"{shop.orders}/v1/admin/orders/import"
    answer = shop.admin.post(path, data=body, headers=headers, timeout=600, **options)
    assert answer.status_code == 200, answer.text
    return answer


def history_line(orderid: str, **more: Any) -> dict[str, Any]:
    line = {
        "orderid": orderid,
        "userid": f"old-{orderid}",
        "date": "2019-03-04T10:00:00Z",
        "currency": "JPY",
        "items": [
            {
                "productid": "tea",
                "name": "Tea",
                "quantity": 3,
                "unitPrice": {"amount": 500, "currency": "JPY"},
            }
        ],
        "payment": {"provider": "till", "provider_ref": "t1", "date": "2019-03-04T11:00:00Z"},
    }
    return {name: value for name, value in {**line, **more}.items() if value is not None}


def test_historical_dates_are_kept_and_the_same_file_again_changes_nothing(shop: Shop) -> None:
    one, two = (f"h{secrets.token_hex(4)}" for _ in range(2))
    parcel = {"date": "2019-03-05", "courier": "post", "courierid": "p1"}
    lines = [
        history_line(one),
        history_line(two, dispatch=parcel, delivery={"date": "2019-03-06T08:00:00+01:00"}),
    ]
    first, again = send(shop, lines).json(), send(shop, lines).json()
    assert (first["created"], first["unchanged"], first["documents"], first["failed"]) == (2, 0, 10, [])
    assert (again["created"], again["unchanged"], again["documents"], again["failed"]) == (0, 2, 0, [])
    order = shop.get(shop.admin, f"/v1/orders/{two}").json()
    assert order["status"] == "delivered"
    assert order["date"] == "2019-03-04T10:00:00.000Z"
    assert order["delivery"]["date"] == "2019-03-06T07:00:00.000Z"
    assert order["total"] == {"amount": 1500, "currency": "JPY"}
    assert shop.get(shop.admin, f"/v1/orders/{one}").json()["status"] == "paid"


class LateReports(ReportStore):
    """Those of a database that is long in catching up."""

    def catch_up(self, *views: View) -> None:
        raise DatabaseUnavailable("Still indexing.")


def test_an_import_is_not_refused_while_the_reports_are_long_in_catching_up(
    shop: Shop, deps: Dependencies, database: Database
) -> None:
    line = history_line(f"h{secrets.token_hex(4)}")
    behind = replace(deps, stores=replace(deps.stores, bulk_reports=LateReports(database)))
    *_, result = import_orders(behind, [(1, orjson.dumps(line))])
    assert (result.answer()["created"], result.answer()["reported"]) == (1, False)
    assert send(shop, [line, history_line(f"h{secrets.token_hex(4)}")]).json()["reported"] is True


def test_bad_lines_are_named_and_the_others_go_in(shop: Shop) -> None:
    good, taken = (f"h{secrets.token_hex(4)}" for _ in range(2))
    send(shop, [history_line(taken)])
    broken = [
        {"quantity": 0},
        {"quantity": "2"},
        {"unitPrice": {"amount": 1.5, "currency": "JPY"}},
        {"unitPrice": {"amount": 1, "currency": "USD"}},
        {"quantity": 1_000_000, "unitPrice": {"amount": 10**13, "currency": "JPY"}},
    ]
    item = history_line("x")["items"][0]
    lines = [
        history_line(good),
        history_line("bad1", items=[]),
        history_line("bad2", currency="XXX"),
        history_line("bad3", date="2019-02-30"),
        history_line("bad4", payment=None),
        history_line("bad 5"),
        history_line("bad6", delivery={"date": "2019-03-05"}),
        history_line("bad7", colour="red"),
        *(history_line(f"worse{number}", items=[{**item, **wrong}]) for number, wrong in enumerate(broken)),
        history_line("bad8", date="0001-01-01T00:00:00+23:00"),
        history_line("bad9", email={"a": 1}),
        history_line(taken, userid="somebody else"),
    ]
    body = b"\n".join(orjson.dumps(line) for line in lines) + b"\n{\n\n[1]\n" + b"x" * 1_100_000
    answer = shop.admin.post(
        f"{shop.orders}/v1/admin/orders/import", data=body, headers=NDJSON, timeout=60
    ).json()
    assert answer["created"] == 1
    assert [failed["line"] for failed in answer["failed"]] == [*range(2, 16), 17, 19, 20, 16]
    assert answer["failed"][-1]["code"] == "order_exists"
    assert shop.get(shop.admin, f"/v1/orders/{good}").status_code == 200


def test_a_refused_line_changes_nothing_of_the_order_that_is_there(shop: Shop) -> None:
    """Neither of one imported before nor of one that a customer placed."""
    product, customer = shop.product(), shop.customer()
    placed = shop.placed(customer, {product: 1})["orderid"]
    taken = f"h{secrets.token_hex(4)}"
    send(shop, [history_line(taken)])
    before = [shop.get(shop.admin, f"/v1/orders/{orderid}").json() for orderid in (taken, placed)]
    item, day = history_line("x")["items"][0], {"date": "2019-03-06"}
    lines = [
        history_line(orderid, items=[item, item], dispatch=day, delivery=day) for orderid in (taken, placed)
    ]
    answer = send(shop, lines).json()
    assert [failed["code"] for failed in answer["failed"]] == ["order_exists"] * 2
    assert answer["documents"] == 0
    assert [shop.get(shop.admin, f"/v1/orders/{orderid}").json() for orderid in (taken, placed)] == before


def test_what_cannot_be_paid_back_is_refused_before_anything_is_written(
    shop: Shop, customer: Person, database: Database
) -> None:
    """Cancelling and returning, as refunding: the provider of an imported payment is not connected."""
    name, day = secrets.token_hex(4), {"date": "2019-03-06"}
    paid, arrived = f"paid{name}", f"arrived{name}"
    mine = {"userid": customer.userid}
    send(shop, [history_line(paid, **mine), history_line(arrived, **mine, dispatch=day, delivery=day)])
    asked = {
        paid: ("cancellation", {}),
        arrived: ("returns", {"items": [{"productid": "tea", "quantity": 1}]}),
    }
    for orderid, (verb, body) in asked.items():
        before = database.partition(f"order{orderid}").all()
        refused = shop.post(customer, f"/v1/orders/{orderid}/{verb}", body)
        assert (refused.status_code, refused.json()["code"]) == (409, "provider_not_connected")
        assert database.partition(f"order{orderid}").all() == before


def test_an_imported_order_is_cancelled_where_its_provider_is_connected(shop: Shop, customer: Person) -> None:
    """Its goods never were in our stock: there is nothing to give back."""
    orderid = f"h{secrets.token_hex(4)}"
    payment = {"provider": "sandbox", "provider_ref": "s1", "date": "2019-03-04T11:00:00Z"}
    send(shop, [history_line(orderid, userid=customer.userid, payment=payment)])
    answer = shop.post(customer, f"/v1/orders/{orderid}/cancellation", {})
    assert answer.status_code == 201, answer.text
    assert (answer.json()["status"], answer.json()["refunded"]) == ("cancelled", "whole")
    assert [refund["settled"] for refund in answer.json()["refunds"]] == [True]


def test_a_stream_that_broke_off_is_resumed(shop: Shop) -> None:
    name = secrets.token_hex(3)
    lines = [history_line(f"r{name}-{number}") for number in range(20)]
    assert send(shop, lines[:7]).json()["created"] == 7
    resumed = send(shop, lines, params={"from_line": 6}).json()
    assert (resumed["lines"], resumed["created"], resumed["unchanged"]) == (15, 13, 2)


def test_progress_is_streamed_to_those_who_ask(shop: Shop) -> None:
    name = secrets.token_hex(3)
    lines = (orjson.dumps(history_line(f"s{name}-{number}")) + b"\n" for number in range(1500))
    answer = send(shop, lines, headers={"Accept": "application/x-ndjson"})
    told = [orjson.loads(line) for line in answer.content.splitlines()]
    assert len(told) >= 3
    assert [line["lines"] for line in told] == sorted(line["lines"] for line in told)
    assert [line["done"] for line in told] == [False] * (len(told) - 1) + [True]
    assert told[-1]["created"] == 1500


def test_only_admins_import(shop: Shop, customer: Person) -> None:
    answer = customer.post(f"{shop.orders}/v1/admin/orders/import", data=b"", headers=NDJSON, timeout=30)
    assert answer.status_code == 403
    assert shop.post(shop.admin, "/v1/admin/orders/import", {}).status_code == 415


@needs_cdnow
def test_a_slice_of_cdnow_is_reported_to_the_cent(shop: Shop) -> None:
    rows = list(cdnow.purchases(DATA, SLICE))
    answer = send(shop, (cdnow.line(row) for row in rows)).json()
    assert (answer["created"], answer["failed"]) == (len(rows), [])
    check_reports(shop, rows)


@needs_cdnow
@pytest.mark.load
@pytest.mark.timeout(900)  # 279,000 documents
def test_all_of_cdnow_is_reported_to_the_cent(shop: Shop) -> None:
    rows = list(cdnow.purchases(DATA))
    answer = send(shop, (cdnow.line(row) for row in rows)).json()
    assert (answer["created"] + answer["unchanged"], answer["failed"]) == (69_659, [])
    check_reports(shop, rows)
    by_month, by_year = (sales(shop, by)["rows"] for by in ("month", "year"))
    gross = {row["period"]: row["gross"]["amount"] for row in by_month + by_year}
    assert {period: gross[period] for period in README_TOTALS} == README_TOTALS
    total = sales(shop, "total")["total"]
    assert (total["orders"], total["units"], total["gross"]["amount"]) == (69_659, 167_881, 250_031_563)


def check_reports(shop: Shop, rows: list[cdnow.Purchase]) -> None:
    """Every report against sums that no database was asked for."""
    spring = [row for row in rows if "1997-02-10" <= row.day < "1997-05-01"]
    span = {"from": "1997-02-10", "to": "1997-05-01"}

    def within() -> tuple[int, int]:
        total = sales(shop, "total", **span)["total"]
        return total["orders"], total["gross"]["amount"]

    def units() -> list[int]:
        best = report(shop, "best-sellers", **span)["rows"]
        return [row["units"] for row in best if row["productid"] == "cd"]

    for by, length in (("year", 4), ("month", 7), ("day", 10)):
        settles_as(partial(figures, shop, by), cdnow.sums(iter(rows), length))
    settles_as(within, (len(spring), sum(row.cents for row in spring)))
    settles_as(units, [sum(row.discs for row in spring)])


def figures(shop: Shop, by: str) -> dict[str, list[int]]:
    """Orders, units and gross cents by period."""
    return {
        row["period"]: [row["orders"], row["units"], row["gross"]["amount"]]
        for row in sales(shop, by)["rows"]
    }


def settles_as(look: Callable[[], Any], expected: Any) -> None:
    """A report of a cluster is one node's, which may be a little behind; minicouch's holds what was imported at once."""
    settles(lambda: look() == expected)


def report(shop: Shop, name: str, **params: str) -> dict[str, Any]:
    """A report: an import that has answered is in it. Its first reader may meet sums that are still being made, and asks twice."""
    for _ in range(2):
        answer = shop.get(shop.admin, f"/v1/admin/reports/{name}", params=params)
        assert answer.status_code == 200, answer.text
        if calls(answer)["global"] == 1:
            break
    assert calls(answer) == {"partition": 0, "global": 1, "read": 0, "write": 0}
    return answer.json()


def sales(shop: Shop, by: str, **more: str) -> dict[str, Any]:
    return report(shop, "sales", by=by, currency="USD", **more)


def euro_line(name: str, day: str, amount: int, parcel_days: int = 2) -> dict[str, Any]:
    price = {"amount": amount, "currency": "EUR"}
    return history_line(
        f"{name}-{day}",
        currency="EUR",
        date=day,
        items=[{"productid": f"mug-{name}", "name": "Mug", "quantity": 2, "unitPrice": price}],
        payment={"provider": "till", "provider_ref": "t", "date": f"{day}T12:00:00Z"},
        dispatch={"date": f"{day}T18:00:00Z", "courier": "post", "courierid": "p"},
        delivery={"date": f"{day[:8]}{int(day[8:]) + parcel_days:02d}T18:00:00Z"},
    )


def test_reports_come_as_json_csv_and_chart(shop: Shop) -> None:
    name = secrets.token_hex(3)
    send(
        shop,
        [
            euro_line(name, "2011-05-02", 150),
            euro_line(name, "2011-05-20", 250),
            euro_line(name, "2012-06-01", 100),
        ],
    )
    span = {"from": "2011-01-01", "to": "2013-01-01"}
    path, params = "/v1/admin/reports/sales", {"by": "month", "currency": "EUR", **span}

    def months() -> list[tuple[Any, ...]]:
        rows = report(shop, "sales", **params)["rows"]
        return [(row["period"], row["orders"], row["units"], row["net"]["amount"]) for row in rows]

    settles_as(months, [("2011-05", 2, 4, 800), ("2012-06", 1, 2, 200)])
    csv = shop.get(shop.admin, path, params=params, headers={"Accept": "text/csv"})
    assert csv.headers["Content-Type"].startswith("text/csv")
    assert csv.text.splitlines()[1] == "2011-05,2,4,8.00,EUR,0.00,8.00"
    svg = shop.get(shop.admin, path, params=params, headers={"Accept": "image/svg+xml"})
    assert svg.headers["Content-Type"].startswith("image/svg+xml")
    assert svg.text.count("<rect") == 3
    best = report(shop, "best-sellers", **span)["rows"]
    assert best[0] == {
        "productid": f"mug-{name}",
        "name": "Mug",
        "units": 6,
        "revenue": {"amount": 1000, "currency": "EUR"},
    }
    to_dispatch, to_delivery = report(shop, "fulfilment", **span)["rows"]
    assert (to_dispatch["count"], to_dispatch["average_seconds"]) == (3, 6 * 3600)
    assert to_delivery["average_seconds"] == 2 * 24 * 3600


def test_currencies_are_kept_apart(shop: Shop) -> None:
    name = secrets.token_hex(3)
    send(
        shop,
        [
            euro_line(name, "2009-05-02", 150),
            history_line(f"yen-{name}", payment={"provider": "t", "provider_ref": "t", "date": "2009-05-02"}),
        ],
    )
    span = {"from": "2009", "to": "2010"}

    def both() -> tuple[Any, ...]:
        found = report(shop, "sales", by="total", **span)
        return found["total"], *(
            (each["currency"], each["total"]["gross"]["amount"]) for each in found["groups"]
        )

    settles_as(both, (None, ("EUR", 300), ("JPY", 1500)))
    yen = report(shop, "sales", by="total", currency="JPY", **span)
    assert [row["gross"] for row in yen["rows"]] == [{"amount": 1500, "currency": "JPY"}]


def test_a_closing_equals_the_books_or_says_why_not(shop: Shop) -> None:
    name = secrets.token_hex(3)
    send(shop, [euro_line(name, "2007-05-02", 150)])
    live = report(shop, "sales", by="day", **{"from": "2007-05", "to": "2007-06"})
    closed = close(shop, "month", "2007-05")
    assert (closed["id"], closed["result"]["rows"], closed["result"]["equals_live"]) == (
        "month-2007-05",
        live["rows"],
        True,
    )
    assert close(shop, "month", "2007-05") == closed
    send(shop, [euro_line(name, "2007-05-03", 50)])
    differs = shop.get(shop.admin, "/v1/admin/reports/month-2007-05").json()["result"]
    assert differs["rows"] == live["rows"]
    assert differs["equals_live"] is False
    assert [row["gross"]["amount"] for row in differs["difference"]] == [100]
    assert "after it was closed" in differs["reason"]
    again = close(shop, "month", "2007-05")["result"]
    assert (again["closings"], again["equals_live"], len(again["rows"])) == (2, True, 2)
    day = close(shop, "day", "2007-05-02")["result"]
    assert [row["period"] for row in day["rows"]] == ["2007-05-02T12"]
    early = shop.post(shop.admin, "/v1/admin/reports/closings", {"kind": "month", "period": "2999-01"})
    assert early.status_code == 422
    assert shop.get(shop.admin, "/v1/admin/reports/month-1903-01").status_code == 404
    assert shop.get(shop.admin, "/v1/admin/reports/month:1903-01").status_code == 404


def close(shop: Shop, kind: str, period: str) -> dict[str, Any]:
    answer = shop.post(shop.admin, "/v1/admin/reports/closings", {"kind": kind, "period": period})
    assert answer.status_code == 201, answer.text
    return answer.json()


def test_a_key_used_again_for_another_report_is_refused(shop: Shop) -> None:
    wanted, headers = (
        {"kind": "sales", "from": "2019", "to": "2020"},
        {"Idempotency-Key": secrets.token_hex(8)},
    )
    first, again = (shop.post(shop.admin, "/v1/admin/reports", wanted, headers=headers) for _ in range(2))
    assert (first.status_code, again.json()) == (202, first.json())
    for other in ({"to": "2021"}, {"kind": "fulfilment"}):
        refused = shop.post(shop.admin, "/v1/admin/reports", {**wanted, **other}, headers=headers)
        assert (refused.status_code, refused.json()["code"]) == (422, "idempotency_key_reused")


def test_a_report_of_thousands_of_years_by_hours_is_refused_at_once(shop: Shop) -> None:
    """It would be computed month by month; by year it is one query."""
    wanted = {"kind": "sales", "by": "hour", "from": "1926", "to": "2026-01-02"}
    refused = shop.post(shop.admin, "/v1/admin/reports", wanted)
    assert (refused.status_code, list(refused.json()["errors"])) == (422, ["from"])
    for less in ({"to": "2026"}, {"by": "year"}, {"kind": "fulfilment"}):
        assert shop.post(shop.admin, "/v1/admin/reports", wanted | less).status_code == 202
