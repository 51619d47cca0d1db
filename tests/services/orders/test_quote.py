"""What an order would cost, before it is placed."""

import requests

from tests.people import Person
from tests.services.orders.conftest import Shop, calls


def test_a_quote_is_what_the_order_then_costs(shop: Shop, customer: Person) -> None:
    kettle, pot = shop.product(price=1250, delivery=250), shop.product(price=800, delivery=100)
    items = [{"productid": kettle, "quantity": 2}, {"productid": pot, "quantity": 1}]
    for _ in ("settings are read", "and at hand"):
        answer = customer.post(f"{shop.orders}/v1/orders/quote", json={"items": items}, timeout=30)
        assert answer.status_code == 200, answer.text
    quote = answer.json()
    assert calls(answer) == {"partition": 0, "global": 0, "read": 0, "write": 0}
    order = shop.order(customer, {kettle: 2, pot: 1}, expected_total=quote["total"]).json()
    assert order["taxes"] == quote.pop("tax")
    assert [offer["id"] for offer in quote.pop("shipping_options")] == ["standard"]
    assert {name: order[name] for name in quote} == quote


def test_an_order_keeps_every_lines_share_of_the_tax(shop: Shop, customer: Person) -> None:
    kettle, pot = shop.product(price=1250, delivery=250), shop.product(price=333, delivery=100)
    order = shop.order(customer, {kettle: 2, pot: 1}).json()
    taxed = [*order["items"], order["shipping"]]
    (tax,) = order["taxes"]
    assert (tax["name"], tax["rate"], tax["country"]) == ("VAT", 20, "GB")
    for part in ("base", "amount"):
        assert sum(each["tax"][part]["amount"] for each in taxed) == tax[part]["amount"]
    assert tax["amount"] == order["tax"]["total"]
    paid = sum(line["payable"]["amount"] for line in order["items"]) + order["deliveryCharge"]["amount"]
    assert paid == order["total"]["amount"] == tax["base"]["amount"] + tax["amount"]["amount"]


def test_a_shipping_method_that_is_not_offered_is_refused(shop: Shop, customer: Person) -> None:
    items = {shop.product(price=500): 1}
    for answer in (
        customer.post(
            f"{shop.orders}/v1/orders/quote",
            json={"items": [{"productid": each, "quantity": 1} for each in items], "shipping": "drone"},
            timeout=30,
        ),
        shop.order(customer, items, shipping="drone"),
    ):
        assert (answer.status_code, answer.json()["code"]) == (422, "shipping_not_available")
        assert "standard" in answer.json()["errors"]["shipping"][0]
    assert shop.order(customer, items, shipping="standard").status_code == 201


def test_a_guest_may_ask_and_unknown_products_are_named(shop: Shop) -> None:
    body = {"items": [{"productid": shop.product(price=500), "quantity": 1}]}
    assert requests.post(f"{shop.orders}/v1/orders/quote", json=body, timeout=30).status_code == 200
    body["items"].append({"productid": "no-such-thing", "quantity": 1})
    answer = requests.post(f"{shop.orders}/v1/orders/quote", json=body, timeout=30)
    assert answer.status_code == 422
    assert "items.1.productid" in answer.json()["errors"]
