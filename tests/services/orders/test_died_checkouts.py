"""A checkout whose process died is carried on by whoever repeats it. No worker runs here: it would end the attempt itself."""

import secrets

import pytest

from shared.couch import Database
from tests.people import Person
from tests.services.orders.conftest import Shop, checkout, insisting
from tests.services.orders.crashes import STEPS, checkout_that_dies
from tests.waiting import Holds


def open_attempts(shop: Shop) -> set[str]:
    answer = shop.get(shop.admin, "/v1/admin/attempts", params={"limit": 100})
    return {attempt["orderid"] for attempt in answer.json()["items"]}


@pytest.mark.parametrize("step", STEPS)
def test_whoever_repeats_a_checkout_that_died_gets_their_order(
    shop: Shop, customer: Person, ledger: Database, environment: dict[str, str], holds: Holds, step: str
) -> None:
    product, key = shop.product(stock=3), secrets.token_hex(8)
    orderid = checkout_that_dies(environment, customer.userid, key, checkout({product: 1}), step)
    holds(lambda: (orderid in open_attempts(shop)) == (step != "payment"))
    answer = insisting(shop, customer, {product: 1}, key=key)
    assert answer.status_code == 201, answer.text
    assert answer.json()["orderid"] == orderid
    charged = [doc["status"] for doc in ledger.partition(f"order{orderid}").all() if doc["type"] == "charge"]
    assert charged == ["paid"]
    holds(lambda: orderid not in open_attempts(shop))
    assert shop.get(customer, "/v1/admin/attempts").status_code == 403
    assert shop.stock(product) == 2
