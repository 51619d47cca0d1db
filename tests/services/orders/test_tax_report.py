"""The tax report: what was taken by country and rate, less what was paid back, in one query."""

import csv
import io
from typing import Any

import pytest

from tests.people import Person
from tests.services.orders.conftest import Shop, calls
from tests.services.orders.test_shop_settings import CALIFORNIA, GERMANY, UK

RATES: tuple[dict[str, Any], ...] = (
    {"country": "GB", "name": "VAT", "rate": 20},
    {"country": "DE", "name": "MwSt.", "rate": 19},
    {"country": "US", "region": "CA", "name": "Sales tax", "rate": 7.75, "included": False},
)


@pytest.fixture(scope="module")
def rated(shop: Shop) -> Shop:
    for content in RATES:
        assert shop.post(shop.admin, "/v1/admin/tax-rates", content).status_code == 201
    return shop


def report(shop: Shop) -> dict[str, tuple[int, int]]:
    """Base and tax by country."""
    answer = shop.get(shop.admin, "/v1/admin/reports/tax")
    assert answer.status_code == 200, answer.text
    return {row["country"]: (row["base"]["amount"], row["amount"]["amount"]) for row in answer.json()["rows"]}


def test_what_is_taken_less_what_is_paid_back(rated: Shop, customer: Person) -> None:
    shop = rated
    kettle = shop.product(price=1000, delivery=190)
    home = shop.placed(customer, {kettle: 3}, address=UK)
    shop.placed(customer, {kettle: 1}, address=GERMANY)
    abroad = shop.placed(customer, {kettle: 2}, address=CALIFORNIA)
    assert abroad["total"]["amount"] == 2190 + 170
    assert report(shop) == {"GB": (2658, 532), "DE": (1000, 190), "US": (2190, 170)}

    refund = {"amount": 319, "reason": "Late"}
    assert shop.post(shop.admin, f"/v1/admin/orders/{home['orderid']}/refunds", refund).status_code == 201
    assert report(shop)["GB"] == (2658 - 266, 532 - 53)
    assert shop.post(customer, f"/v1/orders/{abroad['orderid']}/cancellation", {}).status_code == 201
    assert report(shop)["US"] == (0, 0)

    parcel = {"courier": "post", "courierid": "1"}
    for step in ("dispatch", "delivery"):
        path = f"/v1/admin/orders/{home['orderid']}/{step}"
        assert shop.post(shop.admin, path, parcel if step == "dispatch" else None).status_code == 201
    for _ in range(3):
        shop.sent_back(customer, home["orderid"], {kettle: 1})
    paid_back = shop.get(customer, f"/v1/orders/{home['orderid']}").json()["refunds"]
    kept = home["total"]["amount"] - sum(each["total"]["amount"] for each in paid_back)
    base, tax = report(shop)["GB"]
    assert base + tax == kept
    assert min(base, tax) >= 0


def test_the_report_is_one_query_and_a_csv_file(rated: Shop, customer: Person) -> None:
    shop = rated
    shop.placed(customer, {shop.product(price=100): 1}, address=GERMANY)
    answer = shop.get(shop.admin, "/v1/admin/reports/tax?from=2020&to=2100", headers={"Accept": "text/csv"})
    assert calls(answer) == {"partition": 0, "global": 1, "read": 0, "write": 0}
    rows = list(csv.DictReader(io.StringIO(answer.text)))
    assert {row["country"] for row in rows} >= {"DE"}
    assert set(rows[0]) == {"country", "region", "name", "rate", "base", "currency", "amount"}
    assert shop.get(customer, "/v1/admin/reports/tax").status_code == 403
