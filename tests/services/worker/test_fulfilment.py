"""Paid orders are dispatched and delivered by the worker, each document once."""

from tests.people import Person
from tests.services.orders.conftest import Shop, Worker, until


def test_a_paid_order_is_confirmed_dispatched_and_delivered(shop: Shop, worker: Worker, customer: Person) -> None:
    order = shop.placed(customer, {shop.product(): 1})
    path = f"/v1/orders/{order['orderid']}"
    found = until(lambda: (answer := shop.get(customer, path).json())["status"] == "delivered" and answer)
    assert [step["status"] for step in found["timeline"]] == ["placed", "paid", "dispatched", "delivered"]
