"""What a device is told of an order, and when: through all services as `make run` starts them."""

import secrets
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
import requests

from tests.bench.running import ADMIN_EMAIL, Shop, running_shop
from tests.people import ADDRESS, Person, register
from tests.services.storefront.conftest import load_goods

MUG = "mug-red"
LONGER_THAN_TESTS_WAIT = "600"


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shop]:
    """A shop whose people dispatch. Devices wait for longer than requests here do: one that is answered was woken."""
    settings = {"COURIER": "manual", "SYNC_WAIT_SECONDS": LONGER_THAN_TESTS_WAIT, "WEB_WORKERS": "1"}
    with running_shop(tmp_path_factory.mktemp("sync-orders"), **settings) as running:
        load_goods(running)
        yield running


@pytest.fixture(scope="module")
def admin(shop: Shop) -> Person:
    return Person(shop.urls["users"], ADMIN_EMAIL, shop.admin_password)


@pytest.fixture
def customer(shop: Shop) -> Person:
    return register(shop.urls["users"], shop.state / "mail")


def place(shop: Shop, person: Person, key: str, **more: Any) -> requests.Response:
    """What an app sends that was without a network: the same key however often."""
    body = {
        "items": [{"productid": MUG, "quantity": 1}],
        "address": ADDRESS,
        "payment": {"provider": "sandbox", "token": "tok_ok"},
        **more,
    }
    headers = {"Idempotency-Key": key}
    return person.post(f"{shop.urls['orders']}/v1/orders", json=body, headers=headers, timeout=60)


def changes(shop: Shop, person: Person, since: str = "0", **more: str) -> dict[str, Any]:
    path = f"{shop.urls['users']}/v1/users/me/sync/_changes"
    answer = person.get(path, params={"since": since, "include_docs": "true", **more}, timeout=60)
    assert answer.status_code == 200, answer.text
    return dict(answer.json())


def orders_in(told: dict[str, Any]) -> dict[str, str]:
    """What is told of orders: their status by id."""
    return {row["id"]: row["doc"]["status"] for row in told["results"] if row["id"].startswith("order-")}


def heard_until(shop: Shop, person: Person, since: str, status: str) -> dict[str, str]:
    """Waits as a device does: a change may tell of another that came in between."""
    while True:
        told = changes(shop, person, since, feed="longpoll")
        if status in orders_in(told).values():
            return orders_in(told)
        since = told["last_seq"]


def test_a_device_that_waits_hears_of_its_owners_orders(shop: Shop, admin: Person, customer: Person) -> None:
    since = changes(shop, customer)["last_seq"]
    with ThreadPoolExecutor(1) as pool:
        waits = pool.submit(heard_until, shop, customer, since, "paid")
        placed = place(shop, customer, secrets.token_hex(8))
        assert placed.status_code == 201, placed.text
        orderid = placed.json()["orderid"]
        assert waits.result() == {f"order-{orderid}": "paid"}
        since = changes(shop, customer)["last_seq"]
        waits = pool.submit(heard_until, shop, customer, since, "dispatched")
        parcel = {"courier": "post", "courierid": secrets.token_hex(6)}
        headers = {"Idempotency-Key": secrets.token_hex(8)}
        sent = admin.post(
            f"{shop.urls['orders']}/v1/admin/orders/{orderid}/dispatch",
            json=parcel,
            headers=headers,
            timeout=60,
        )
        assert sent.status_code == 201, sent.text
        assert waits.result() == {f"order-{orderid}": "dispatched"}


def test_an_order_that_waited_for_a_network_is_answered_with_all_that_its_customer_must_decide(
    shop: Shop, admin: Person, customer: Person
) -> None:
    orders, products = shop.urls["orders"], shop.urls["products"]
    quote = customer.post(
        f"{orders}/v1/orders/quote", json={"items": [{"productid": MUG, "quantity": 1}], "address": ADDRESS}
    )
    assert quote.status_code == 200, quote.text
    total = quote.json()["total"]
    other = {**total, "amount": total["amount"] - 1}
    changed = place(shop, customer, secrets.token_hex(8), expected_total=other)
    assert (changed.status_code, changed.json()["code"]) == (409, "price_changed")
    assert changed.json()["total"] == total
    key = secrets.token_hex(8)
    declined = place(
        shop, customer, key, expected_total=total, payment={"provider": "sandbox", "token": "tok_declined"}
    )
    assert (declined.status_code, declined.json()["code"]) == (402, "payment_declined")
    left = admin.get(f"{products}/v1/products/{MUG}/stock", timeout=60).json()["stock"]
    many = [{"productid": MUG, "quantity": left + 1}]
    sold_out = place(shop, customer, secrets.token_hex(8), items=many)
    assert (sold_out.status_code, sold_out.json()["code"]) == (409, "out_of_stock")
    assert sold_out.json()["items"] == [{"productid": MUG, "available": left}]
    key = secrets.token_hex(8)
    first, again = (place(shop, customer, key, expected_total=total) for _ in range(2))
    assert (first.status_code, again.status_code) == (201, 201)
    assert again.headers["Idempotency-Replayed"] == "true"
    assert again.json()["orderid"] == first.json()["orderid"]
    since = "0"
    there = orders_in(changes(shop, customer, since))
    assert f"order-{first.json()['orderid']}" in there
