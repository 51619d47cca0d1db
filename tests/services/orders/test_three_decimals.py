"""Dinars, of which cards take only whole tens of fils: what a shop sells at such prices can be paid with Stripe, and paid back in parts."""

from typing import Any

import pytest

from tests.people import Person
from tests.services.orders.conftest import Shop
from tests.services.orders.stripe_standin import API_KEY, StripeStandIn

KUWAIT = {"name": "Ada", "line1": "Block 1", "city": "Kuwait City", "postcode": "13001", "country": "KW"}


@pytest.fixture(scope="module")
def orders_settings(stripe: StripeStandIn) -> dict[str, str]:
    return {
        "PAYMENT_PROVIDERS": "stripe",
        "STRIPE_URL": stripe.url,
        "STRIPE_API_KEY": API_KEY,
        "STRIPE_WEBHOOK_SECRET": "whsec_test",
        "COURIER": "manual",
    }


def test_goods_at_tens_of_fils_are_paid_and_paid_back_in_parts(
    shop: Shop, customer: Person, stripe: StripeStandIn
) -> None:
    """5 % tax on top of 8.610, less 3.33 %: neither is a whole ten of fils, and both become one."""
    tax = {"country": "KW", "name": "VAT", "rate": 5, "included": False}
    made = shop.post(shop.admin, "/v1/admin/tax-rates", tax)
    assert made.status_code == 201, made.text
    offer = {
        "name": "For dinars",
        "codes": ["DINARS"],
        "actions": [{"kind": "percent", "basis_points": 333}],
    }
    assert shop.post(shop.admin, "/v1/admin/promotions", offer).status_code == 201
    product = shop.product(price=1230, delivery=0, currency="KWD")
    more: dict[str, Any] = {
        "currency": "KWD",
        "address": KUWAIT,
        "codes": ["DINARS"],
        "payment": {"provider": "stripe", "token": "pm_card_visa"},
    }
    placed = shop.order(customer, {product: 7}, **more)
    assert placed.status_code == 201, placed.text
    order = placed.json()
    assert (order["discounts"][0]["amount"]["amount"], order["total"]["amount"]) == (290, 8740)
    path = f"/v1/admin/orders/{order['orderid']}/refunds"
    refused = shop.post(shop.admin, path, {"amount": 1005, "reason": "Dented."})
    assert (refused.status_code, list(refused.json()["errors"])) == (422, ["amount"]), refused.text
    one = {"items": [{"productid": product, "quantity": 1}], "reason": "Dented."}
    for _ in range(3):
        answer = shop.post(shop.admin, path, one)
        assert answer.status_code == 201, answer.text
    assert shop.post(shop.admin, path, {"amount": 1010, "reason": "Late."}).status_code == 201
    refunds = shop.get(customer, f"/v1/orders/{order['orderid']}").json()["refunds"]
    assert [each["settled"] for each in refunds] == [True] * 4
    intents = {
        each["id"] for each in stripe.intents.values() if each["metadata"]["orderid"] == order["orderid"]
    }
    assert sorted(each["amount"] for each in stripe.refunds if each["payment_intent"] in intents) == sorted(
        each["total"]["amount"] for each in refunds
    )
