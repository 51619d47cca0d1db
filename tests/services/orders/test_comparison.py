"""GET /v1/admin/reports/comparison: what whole days brought, beside as many days before them."""

import secrets
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

import pytest

from services.orders.actions.summaries import summarise_order
from services.orders.dependencies import Dependencies
from tests.people import Person
from tests.services.orders.conftest import Shop, calls
from tests.services.orders.test_desk_orders import line, send
from tests.waiting import eventually

CURRENCY = "NOK"  # of these tests alone
PATH = "/v1/admin/reports/comparison"


def figures(shop: Shop, **span: str) -> dict[str, Any]:
    answer = shop.get(shop.admin, PATH, params=span)
    assert answer.status_code == 200, answer.text
    return next((row for row in answer.json()["rows"] if row["currency"] == CURRENCY), {})


def kroner(amount: int) -> dict[str, Any]:
    return {"amount": amount, "currency": CURRENCY}


def test_days_are_compared_with_the_days_before(shop: Shop, customer: Person, deps: Dependencies) -> None:
    today = datetime.now(UTC).date()
    yesterday, end = today - timedelta(days=1), today + timedelta(days=2)
    code = f"NOK{secrets.token_hex(3)}".upper()
    promotion = {"name": "Ten", "codes": [code], "actions": [{"kind": "percent", "basis_points": 1000}]}
    assert shop.post(shop.admin, "/v1/admin/promotions", promotion).status_code == 201
    old = line(f"compared-{secrets.token_hex(3)}", f"{yesterday}T10:00:00Z", currency=CURRENCY)
    old["items"][0]["unitPrice"]["currency"] = CURRENCY
    send(shop, [old])
    lamp = shop.product(price=1000, currency=CURRENCY)
    order = shop.placed(customer, {lamp: 2}, codes=[code], currency=CURRENCY)
    orderid = order["orderid"]
    for verb in ("dispatch", "delivery"):
        parcel = {"courier": "Owl", "courierid": "1"}
        assert shop.post(shop.admin, f"/v1/admin/orders/{orderid}/{verb}", parcel).status_code == 201
    refunded = shop.sent_back(customer, orderid, {lamp: 1}, condition="damaged")["refunds"][0]["total"]
    summarise_order(deps, orderid)
    ask = partial(figures, shop, **{"from": str(today), "to": str(end)})
    found = eventually(lambda: (row := ask()) and row["present"]["discounts"]["amount"] and row)
    present, before = found["present"], found["before"]
    assert present.pop("tax")["amount"] > 0
    assert present == {
        "orders": 1,
        "gross": order["total"],
        "discounts": kroner(200),
        "refunds": refunded,
        "returns": 1,
        "returned_units": 1,
        "damaged_units": 1,
        "new_customers": 1,
        "new_gross": order["total"],
        "returning_orders": 0,
        "returning_gross": kroner(0),
    }
    assert (before["orders"], before["gross"], before["returns"]) == (1, kroner(500), 0)
    asked = partial(shop.get, shop.admin, PATH, params={"from": str(today), "to": str(end)})
    eventually(lambda: calls(asked())["global"] == 1)


@pytest.mark.parametrize(
    "span",
    [
        {},
        {"from": "2026-01-01"},
        {"from": "2026-01-01T10:00:00Z", "to": "2026-01-02"},
        {"from": "4648-11", "to": "9529-04"},
    ],
)
def test_only_whole_days_are_compared(shop: Shop, span: dict[str, str]) -> None:
    answer = shop.get(shop.admin, PATH, params=span)
    assert (answer.status_code, "from" in answer.json()["errors"]) == (422, True)


def test_customers_see_no_figures(shop: Shop, customer: Person) -> None:
    assert shop.get(customer, PATH, params={"from": "2026-01-01", "to": "2026-01-02"}).status_code == 403
