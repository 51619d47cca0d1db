"""What an order would cost, before it is placed."""

import requests

from tests.people import Person
from tests.services.orders.conftest import Shop, calls


def test_a_quote_is_what_the_order_then_costs(shop: Shop, customer: Person) -> None:
    kettle, pot = shop.product(price=1250, delivery=250), shop.product(price=800, delivery=100)
    items = [{"productid": kettle, "quantity": 2}, {"productid": pot, "quantity": 1}]
    answer = customer.post(f"{shop.orders}/v1/orders/quote", json={"items": items}, timeout=30)
    assert answer.status_code == 200, answer.text
    quote = answer.json()
    assert calls(answer) == {"partition": 0, "global": 0, "read": 0, "write": 0}
    order = shop.order(customer, {kettle: 2, pot: 1}, expected_total=quote["total"]).json()
    assert {name: order[name] for name in quote} == quote


def test_a_guest_may_ask_and_unknown_products_are_named(shop: Shop) -> None:
    body = {"items": [{"productid": shop.product(price=500), "quantity": 1}]}
    assert requests.post(f"{shop.orders}/v1/orders/quote", json=body, timeout=30).status_code == 200
    body["items"].append({"productid": "no-such-thing", "quantity": 1})
    answer = requests.post(f"{shop.orders}/v1/orders/quote", json=body, timeout=30)
    assert answer.status_code == 422
    assert "items.1.productid" in answer.json()["errors"]
