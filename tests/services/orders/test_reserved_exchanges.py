"""Exchanges of goods whose money the bank has only reserved: what goes back of it waits until it was taken, and is never asked for before."""

from typing import Any

import pytest

from services.orders.actions import fulfilment
from services.orders.dependencies import Dependencies
from tests.people import Person
from tests.services.orders.conftest import Shop
from tests.services.orders.gift_cards import issued, left_on
from tests.services.orders.stripe_standin import API_KEY, StripeStandIn
from tests.services.orders.test_captures import refund, refunds_of
from tests.services.orders.test_exchanges import approved, asked, received, same_price
from tests.services.orders.test_payment_pages import placed
from tests.services.orders.test_returns import seen


@pytest.fixture(scope="module")
def orders_settings(stripe: StripeStandIn) -> dict[str, str]:
    """An account whose cards are captured once, with the last parcel."""
    return {
        "PAYMENT_PROVIDERS": "stripe",
        "STRIPE_URL": stripe.url,
        "STRIPE_API_KEY": API_KEY,
        "STRIPE_WEBHOOK_SECRET": "whsec",
        "CAPTURE_AT": "dispatch",
        "COURIER": "manual",
    }


def exchanged(
    shop: Shop, customer: Person, stripe: StripeStandIn, **more: Any
) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any]]:
    """Two pieces, one of which came, came back and was exchanged; the order, the one that was sent for it, the intent of both."""
    product = same_price(shop)
    small, large = f"{product}-M", f"{product}-L"
    order = placed(shop, customer, {small: 2}, **more)
    (session,) = stripe.checkout.of(order["orderid"])
    stripe.checkout.pay(session["id"])
    shop.post(customer, f"/v1/orders/{order['orderid']}/payment")
    assert sent(shop, order, small)["status"] == "partly_dispatched"
    path = f"/v1/admin/orders/{order['orderid']}"
    assert shop.post(shop.admin, f"{path}/delivery", {"courierid": "1"}).ok
    assert asked(shop, customer, order, small, large).status_code == 201
    approved(shop, order)
    linked = seen(shop, {"orderid": received(shop, order, small)["exchange"]["orderid"]})
    intent = stripe.intents[session["payment_intent"]]
    assert (intent["status"], linked["status"]) == ("requires_capture", "paid")
    return order, linked, intent


def sent(shop: Shop, order: dict[str, Any], sku: str, number: str = "1") -> dict[str, Any]:
    body = {"courier": "Owl", "courierid": number, "items": [{"sku": sku, "quantity": 1}]}
    answer = shop.post(shop.admin, f"/v1/admin/orders/{order['orderid']}/dispatch", body)
    assert answer.status_code == 201, answer.text
    return dict(answer.json())


def test_what_goes_back_to_a_card_that_was_not_charged_yet_waits_until_it_is(
    shop: Shop, customer: Person, stripe: StripeStandIn, deps: Dependencies
) -> None:
    order, linked, intent = exchanged(shop, customer, stripe)
    assert [each["settled"] for each in refund(shop, linked["orderid"], 1000)["refunds"]] == [False]
    for _ in range(2):
        fulfilment.advance_order(deps, linked["orderid"])
    assert not stripe.refunds
    assert [each["settled"] for each in seen(shop, linked)["refunds"]] == [False]
    sent(shop, order, order["items"][0]["sku"], "2")
    assert intent["amount_received"] == order["total"]["amount"]
    for _ in range(2):
        fulfilment.advance_order(deps, linked["orderid"])
    assert [each["settled"] for each in seen(shop, linked)["refunds"]] == [True]
    assert refunds_of(stripe, intent) == [1000]


def test_a_gift_card_has_its_part_at_once_and_the_card_its_own_once_it_is_charged(
    shop: Shop, customer: Person, stripe: StripeStandIn, deps: Dependencies
) -> None:
    card = issued(shop, 400)
    order, linked, intent = exchanged(shop, customer, stripe, gift_cards=[card["code"]])
    assert left_on(shop, card) == 0
    assert [each["settled"] for each in refund(shop, linked["orderid"], 1000)["refunds"]] == [False]
    for _ in range(2):
        assert left_on(shop, card) == 400
        fulfilment.advance_order(deps, linked["orderid"])
    assert refunds_of(stripe, intent) == []
    sent(shop, order, order["items"][0]["sku"], "2")
    for _ in range(2):
        fulfilment.advance_order(deps, linked["orderid"])
    assert [each["settled"] for each in seen(shop, linked)["refunds"]] == [True]
    assert (left_on(shop, card), refunds_of(stripe, intent)) == (400, [600])


def test_what_the_bank_let_go_was_never_paid_and_does_not_go_back(
    shop: Shop, customer: Person, stripe: StripeStandIn, deps: Dependencies
) -> None:
    order, linked, intent = exchanged(shop, customer, stripe)
    refund(shop, linked["orderid"], 1000)
    before = len(stripe.refunds)
    intent["status"] = "canceled"
    line = {"items": [{"sku": order["items"][0]["sku"], "quantity": 1}]}
    assert shop.post(customer, f"/v1/orders/{order['orderid']}/cancellation", line).status_code == 201
    for each in (order, linked):
        fulfilment.advance_order(deps, each["orderid"])
    assert [each["settled"] for each in seen(shop, linked)["refunds"]] == [True]
    assert len(stripe.refunds) == before
