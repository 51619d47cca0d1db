"""An order is in one currency: the one that is asked for, at the prices that products have in it."""

import secrets
from typing import Any

from tests.people import Person
from tests.services.orders.conftest import Shop, checkout, until
from tests.services.worker.processes import Worker


def sold(shop: Shop, prices: dict[str, int], **fields: Any) -> str:
    productid = f"m{secrets.token_hex(5)}"
    body = {"productid": productid, "taxonomy": ["Money"], "name": productid, "prices": prices, "stock": 20}
    answer = shop.admin.post(f"{shop.products}/v1/products", json=body | fields, timeout=30)
    assert answer.status_code == 201, answer.text
    return productid


def order(shop: Shop, customer: Person, productid: str, **more: Any) -> Any:
    body = checkout({productid: 2}) | more
    return shop.post(customer, "/v1/orders", body, headers={"Idempotency-Key": secrets.token_hex(8)})


def test_an_order_is_charged_in_the_currency_asked_for(shop: Shop, customer: Person) -> None:
    both = sold(shop, {"GBP": 1000, "EUR": 1200, "JPY": 190})
    for currency, amount in (("EUR", 2400), ("GBP", 2000), ("JPY", 380)):
        total = {"amount": amount, "currency": currency}
        items = [{"productid": both, "quantity": 2}]
        quoted = shop.post(customer, "/v1/orders/quote", {"items": items, "currency": currency}).json()
        assert quoted["total"] == total
        placed = order(shop, customer, both, currency=currency, expected_total=total)
        assert placed.status_code == 201, placed.text
        assert (placed.json()["total"], placed.json()["payment"]["total"]) == (total, total)
    wrong = order(shop, customer, both, currency="GBP", expected_total={"amount": 2400, "currency": "EUR"})
    assert (wrong.status_code, wrong.json()["code"]) == (409, "price_changed")


def test_what_is_not_sold_in_the_currency_is_named(shop: Shop, customer: Person) -> None:
    pounds = sold(shop, {"GBP": 1000})
    refused = order(shop, customer, pounds, currency="EUR")
    assert (refused.status_code, refused.json()["code"]) == (422, "unknown_product")
    assert refused.json()["errors"] == {"items.0.productid": [f"{pounds} is not sold in EUR."]}


def test_a_checkout_charges_the_price_that_is_in_force(shop: Shop, customer: Person) -> None:
    reduced = sold(shop, {"GBP": 1000, "EUR": 1200}, sales=[{"prices": {"EUR": 900}}])
    placed = order(
        shop, customer, reduced, currency="EUR", expected_total={"amount": 1800, "currency": "EUR"}
    )
    assert placed.status_code == 201, placed.text
    ended = shop.admin.get(f"{shop.products}/v1/products/{reduced}", timeout=30).json() | {"sales": []}
    assert shop.admin.put(f"{shop.products}/v1/products/{reduced}", json=ended, timeout=30).status_code == 200
    late = order(shop, customer, reduced, currency="EUR", expected_total={"amount": 1800, "currency": "EUR"})
    assert (late.status_code, late.json()["code"]) == (409, "price_changed")


def test_refunds_and_reports_stay_in_the_currency_of_the_order(
    shop: Shop, customer: Person, worker: Worker
) -> None:
    both = sold(shop, {"GBP": 1000, "EUR": 1200})
    placed = order(shop, customer, both, currency="EUR").json()
    cancelled = shop.post(
        customer, f"/v1/orders/{placed['orderid']}/cancellation", {"reason": "changed my mind"}
    )
    assert cancelled.status_code == 201, cancelled.text

    def refunded() -> bool:
        found = shop.get(customer, f"/v1/orders/{placed['orderid']}").json()
        totals = [each["total"] for each in found.get("refunds", ())]
        return totals == [{"amount": 2400, "currency": "EUR"}]

    until(refunded)
