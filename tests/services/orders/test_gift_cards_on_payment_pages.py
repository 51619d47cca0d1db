"""A gift card beside a payment on the provider's page: the page asks for the rest, and who does not pay has the card as it was."""

import secrets
from datetime import timedelta

import pytest

from services.orders.actions import claims, fulfilment
from services.orders.actions.conflicts import settle_conflicts
from services.orders.dependencies import Dependencies
from shared.clock import now
from shared.couch import Database
from tests.maildir import read_mail
from tests.people import Person
from tests.services.orders.conftest import Shop, checkout
from tests.services.orders.crashes import checkout_that_dies
from tests.services.orders.gift_cards import issued, left_on
from tests.services.orders.stripe_standin import API_KEY, StripeStandIn
from tests.services.orders.test_code_uses import used
from tests.services.orders.test_contested_credits import beside, spent_by
from tests.services.orders.test_contested_uses import EARLIER
from tests.services.orders.test_payment_pages import placed
from tests.services.orders.test_promotions import code, promotion
from tests.waiting import settles


@pytest.fixture(scope="module")
def orders_settings(stripe: StripeStandIn) -> dict[str, str]:
    return {
        "PAYMENT_PROVIDERS": "sandbox,stripe",
        "STRIPE_URL": stripe.url,
        "STRIPE_API_KEY": API_KEY,
        "STRIPE_WEBHOOK_SECRET": "whsec",
    }


def test_the_page_asks_for_the_rest(shop: Shop, customer: Person, stripe: StripeStandIn) -> None:
    card, product = issued(shop, 1000), shop.product(price=1250, delivery=250)
    order = placed(shop, customer, {product: 1}, gift_cards=[card["code"]])
    (session,) = stripe.checkout.of(order["orderid"])
    assert session["amount_total"] == 500
    assert left_on(shop, card) == 0
    stripe.checkout.pay(session["id"])
    paid = shop.post(customer, f"/v1/orders/{order['orderid']}/payment").json()
    assert paid["payment"]["total"]["amount"] == 1500
    assert shop.post(customer, f"/v1/orders/{order['orderid']}/cancellation", {}).status_code == 201
    assert left_on(shop, card) == 1000
    assert [refund["amount"] for refund in stripe.refunds] == [500]


def test_who_goes_back_without_paying_has_the_card_as_it_was(
    shop: Shop, customer: Person, stripe: StripeStandIn
) -> None:
    card, product = issued(shop, 1000), shop.product(stock=3)
    order = placed(shop, customer, {product: 1}, gift_cards=[card["code"]])
    answer = shop.post(customer, f"/v1/orders/{order['orderid']}/payment/cancellation")
    assert answer.json()["status"] == "cancelled"
    assert (left_on(shop, card), shop.stock(product)) == (1000, 3)


def test_a_page_that_nobody_pays_gives_back_card_code_and_goods(
    shop: Shop, customer: Person, deps: Dependencies, monkeypatch: pytest.MonkeyPatch
) -> None:
    card, product, ten = issued(shop, 1000), shop.product(stock=3), code()
    made = promotion(shop, codes=[ten], limit=1, per_customer=1)
    order = placed(shop, customer, {product: 1}, gift_cards=[card["code"]], codes=[ten])
    assert (used(shop, made), left_on(shop, card), shop.stock(product)) == (1, 0, 2)
    monkeypatch.setattr(fulfilment, "now", lambda: now() + timedelta(hours=2))
    for _ in range(2):
        fulfilment.advance_order(deps, order["orderid"])
    assert shop.get(customer, f"/v1/orders/{order['orderid']}").json()["status"] == "cancelled"
    assert (used(shop, made), left_on(shop, card), shop.stock(product)) == (0, 1000, 3)
    again = placed(shop, customer, {product: 1}, gift_cards=[card["code"]], codes=[ten])
    assert again["discounts"][0]["code"] == ten


def test_what_covers_all_opens_no_page(shop: Shop, customer: Person, stripe: StripeStandIn) -> None:
    card = issued(shop, 5000)
    order = placed(shop, customer, {shop.product(): 1}, gift_cards=[card["code"]])
    assert (order["status"], order["payment_page"]) == ("paid", None)
    assert stripe.checkout.of(order["orderid"]) == []
    assert left_on(shop, card) == 3500


@pytest.mark.parametrize("other", ["still wants it", "came to nothing"])
def test_who_pays_the_page_after_another_order_has_the_card_gets_it_back(
    shop: Shop,
    customer: Person,
    stripe: StripeStandIn,
    environment: dict[str, str],
    deps: Dependencies,
    database: Database,
    other: str,
) -> None:
    """Two nodes of a cluster took the same entry, and the other order's was the earlier one. Unless that one gave it back by then."""
    card, product, before = issued(shop, 1000), shop.product(price=1250, delivery=250), len(stripe.refunds)
    body = checkout({product: 1}, gift_cards=[card["code"]])
    died = checkout_that_dies(environment, customer.userid, secrets.token_hex(8), body, "intent")
    order = placed(shop, customer, {product: 1}, gift_cards=[card["code"]])
    beside(database, spent_by(database, deps, order["orderid"]), died, EARLIER)
    settles(lambda: settle_conflicts(deps) > 0)
    if other == "came to nothing":
        claims.give_back(deps, deps.orders.order(died))
    (session,) = stripe.checkout.of(order["orderid"])
    stripe.checkout.pay(session["id"])
    done = shop.post(customer, f"/v1/orders/{order['orderid']}/payment").json()
    refunds = [refund["amount"] for refund in stripe.refunds[before:]]
    assert left_on(shop, card) == 0
    if other == "came to nothing":
        assert (done["status"], done["payment"]["total"]["amount"], refunds) == ("paid", 1500, [])
        return
    assert (done["status"], done["cancellation"]["reason"], refunds) == ("cancelled", "balance_spent", [500])
    fulfilment.advance_order(deps, order["orderid"])
    mails = [mail.text for mail in read_mail(shop.mail, customer.email)]
    assert any(
        "was spent on another order" in text and "£5.00 that you paid go back" in text for text in mails
    )
    claims.give_back(deps, deps.orders.order(died))
    assert left_on(shop, card) == 1000
