"""Cards that a customer keeps at Stripe: listed, and charged at the checkout without Stripe's page."""

import secrets
from typing import Any

import pytest
import requests

from tests.people import Person
from tests.services.orders.conftest import Shop, calls
from tests.services.orders.stripe_standin import API_KEY, StripeStandIn
from tests.services.orders.test_payment_pages import order_of, placed

METHODS = "/v1/orders/payment-methods"


@pytest.fixture(scope="module")
def orders_settings(stripe: StripeStandIn) -> dict[str, str]:
    return {
        "PAYMENT_PROVIDERS": "stripe",
        "STRIPE_URL": stripe.url,
        "STRIPE_API_KEY": API_KEY,
        "STRIPE_WEBHOOK_SECRET": "whsec",
    }


@pytest.fixture
def person(shop: Shop) -> Person:
    return shop.customer()


def known_as(shop: Shop, stripe: StripeStandIn, person: Person) -> str:
    """What Stripe calls a customer who has kept a card with an order."""
    order = placed(shop, person, {shop.product(): 1}, payment={"provider": "stripe", "save_method": True})
    (session,) = stripe.checkout.of(order["orderid"])
    stripe.checkout.pay(session["id"])
    assert shop.post(person, f"/v1/orders/{order['orderid']}/payment").json()["status"] == "paid"
    return str(session["customer"])


def saved(shop: Shop, person: Person) -> list[dict[str, Any]]:
    answer = shop.get(person, METHODS)
    assert answer.status_code == 200, answer.text
    return answer.json()["items"]


def buy(shop: Shop, person: Person, product: str, method: str, **more: Any) -> requests.Response:
    return shop.order(person, {product: 1}, payment={"provider": "stripe", "saved_method": method}, **more)


def test_a_kept_card_is_listed_for_its_owner_alone(shop: Shop, stripe: StripeStandIn, person: Person) -> None:
    assert saved(shop, person) == []
    customer = known_as(shop, stripe, person)
    stripe.checkout.keep(customer, shown="unspecified")
    (method,) = saved(shop, person)
    assert {name: method[name] for name in ("provider", "brand", "last4", "expires")} == {
        "provider": "stripe",
        "brand": "visa",
        "last4": "4242",
        "expires": "2031-03",
    }
    assert saved(shop, shop.customer()) == []
    assert requests.get(f"{shop.orders}{METHODS}", timeout=30).status_code == 401
    answer = shop.get(person, METHODS)
    assert calls(answer) == {"partition": 1, "global": 0, "read": 0, "write": 0}


def test_an_order_is_paid_with_it_at_once(shop: Shop, stripe: StripeStandIn, person: Person) -> None:
    known_as(shop, stripe, person)
    product, key = shop.product(price=1500, delivery=0), secrets.token_hex(8)
    (method,) = saved(shop, person)
    answer = buy(shop, person, product, method["id"], key=key)
    assert answer.status_code == 201, answer.text
    order = answer.json()
    assert (order["status"], order["payment"]["provider"], order["payment_page"]) == ("paid", "stripe", None)
    again = buy(shop, person, product, method["id"], key=key).json()
    assert again["orderid"] == order["orderid"]
    intents = [each for each in stripe.intents.values() if each["metadata"]["orderid"] == order["orderid"]]
    assert [(each["amount"], each["status"]) for each in intents] == [(1500, "succeeded")]


@pytest.mark.parametrize("path", ["confirm", "payment_intents", "customer"])
def test_an_answer_of_stripe_that_is_lost_charges_once(
    shop: Shop, stripe: StripeStandIn, person: Person, path: str
) -> None:
    customer = known_as(shop, stripe, person)
    (method,) = saved(shop, person)
    before = len(stripe.intents)
    stripe.lose_next(path)
    answer = buy(shop, person, shop.product(price=700, delivery=0), method["id"])
    assert answer.status_code == 201, answer.text
    assert not stripe.lost_next, "it was lost"
    (intent,) = list(stripe.intents.values())[before:]
    assert (intent["status"], intent["customer"]) == ("succeeded", customer)


def test_a_bank_that_wants_to_see_the_customer_leads_to_stripes_page(
    shop: Shop, stripe: StripeStandIn, person: Person
) -> None:
    """Nothing is charged, the goods are there for the next try."""
    customer = known_as(shop, stripe, person)
    careful, product = stripe.checkout.keep(customer, "authentication"), shop.product(stock=1)
    refused = buy(shop, person, product, careful)
    assert (refused.status_code, refused.json()["code"]) == (402, "payment_declined"), refused.text
    assert refused.json()["decline_code"] == "authentication_required"
    order = placed(shop, person, {product: 1})
    (session,) = stripe.checkout.of(order["orderid"])
    stripe.checkout.pay(session["id"])
    shop.post(person, f"/v1/orders/{order['orderid']}/payment")
    assert order_of(shop, person, order["orderid"])["status"] == "paid"


@pytest.mark.parametrize("gone", ["the card", "the customer", "a card that never was"])
def test_a_card_that_stripe_does_not_keep_any_more_is_not_declined_by_a_bank(
    shop: Shop, stripe: StripeStandIn, person: Person, gone: str
) -> None:
    """The goods are there again, and another card pays."""
    customer = known_as(shop, stripe, person)
    (method,) = saved(shop, person)
    product, other = shop.product(stock=1), stripe.checkout.keep(customer)
    chosen = method["id"] if gone != "a card that never was" else "pm_never_was"
    if gone == "the card":
        stripe.checkout.detach(customer, chosen)
    elif gone == "the customer":
        taken = stripe.checkout.customers.pop(customer)
    refused = buy(shop, person, product, chosen)
    told = refused.json()
    assert (refused.status_code, told["code"], told["decline_code"]) == (
        402,
        "payment_declined",
        "card_not_saved",
    ), refused.text
    assert told["detail"] == "This card is not saved any more. Choose another."
    assert shop.stock(product) == 1
    if gone == "the customer":
        stripe.checkout.customers[customer] = taken
    assert buy(shop, person, product, other).status_code == 201


def test_an_amount_that_stripe_does_not_take_ends_the_order(
    shop: Shop, stripe: StripeStandIn, person: Person
) -> None:
    """Too little to be charged: said at once, with the goods back; the order does not stay open."""
    known_as(shop, stripe, person)
    (method,) = saved(shop, person)
    product = shop.product(price=29, delivery=0, stock=1)
    for _ in range(2):
        refused = buy(shop, person, product, method["id"])
        assert (refused.status_code, refused.json()["code"]) == (402, "payment_declined"), refused.text
        assert shop.stock(product) == 1
    orders = shop.get(person, "/v1/orders").json()["items"]
    assert [each["status"] for each in orders if each["total"]["amount"] == 29] in ([], ["cancelled"] * 2)


def test_nobody_pays_with_anothers_card(shop: Shop, stripe: StripeStandIn, person: Person) -> None:
    known_as(shop, stripe, person)
    (method,) = saved(shop, person)
    stranger, product = shop.customer(), shop.product()
    assert buy(shop, stranger, product, method["id"]).status_code == 402
    known_as(shop, stripe, stranger)
    assert buy(shop, stranger, product, method["id"]).status_code == 402
    guest = requests.Session()
    answer = buy(shop, guest, product, method["id"], email="guest@example.com", name="Gus")
    assert answer.status_code == 402, answer.text
    assert shop.stock(product) == 100


def test_a_token_or_a_saved_method(shop: Shop, person: Person) -> None:
    both = {"provider": "stripe", "token": "pm_card_visa", "saved_method": "pm_1"}
    answer = shop.order(person, {shop.product(): 1}, payment=both)
    assert (answer.status_code, "payment.saved_method" in answer.json()["errors"]) == (422, True), answer.text


def test_stripe_is_away(shop: Shop, stripe: StripeStandIn, person: Person) -> None:
    known_as(shop, stripe, person)
    stripe.away = True
    try:
        answer = shop.get(person, METHODS)
    finally:
        stripe.away = False
    assert (answer.status_code, answer.json()["code"]) == (503, "payment_provider_unavailable")
