"""Refunds of orders that were paid with a gift card whose last day is over."""

from datetime import timedelta

import pytest
import requests

from services.orders.actions import refunds
from services.orders.dependencies import Dependencies
from shared.clock import iso, now
from shared.couch import Database
from shared.money import money
from tests.people import ADDRESS, Person
from tests.services.orders.conftest import Shop
from tests.services.orders.gift_cards import charged_at, issued, left_on, store_credit_of


@pytest.fixture(scope="module")
def orders_settings() -> dict[str, str]:
    return {"GIFT_CARD_DAYS": "30"}


def refunded(deps: Dependencies, orderid: str, *amounts: int) -> None:
    for amount in amounts:
        refunds.refund_order(deps, deps.orders.order(orderid), money(amount, "GBP"), "Sorry.", None)


@pytest.fixture
def later(monkeypatch: pytest.MonkeyPatch) -> None:
    """Forty days on, as far as refunds look at the day."""
    monkeypatch.setattr(refunds, "timestamp", lambda: iso(now() + timedelta(days=40)))


def test_what_an_expired_card_paid_becomes_store_credit_and_the_rest_goes_to_the_bank_card(
    shop: Shop, customer: Person, deps: Dependencies, ledger: Database, later: None
) -> None:
    card = issued(shop, 1000)
    order = shop.placed(customer, {shop.product(price=1250, delivery=250): 1}, gift_cards=[card["code"]])
    assert order["credits"][0]["expires"] == card["expires"]
    orderid = order["orderid"]
    refunded(deps, orderid, 400, 700)
    assert (left_on(shop, card), store_credit_of(shop, customer)) == (0, 1000)
    assert charged_at(ledger, orderid) == 400
    refunded(deps, orderid, 400)
    assert (left_on(shop, card), store_credit_of(shop, customer)) == (0, 1000)
    assert charged_at(ledger, orderid) == 0
    shown = shop.get(customer, f"/v1/orders/{orderid}").json()["refunds"]
    assert [[part["kind"] for part in refund.get("credits", [])] for refund in shown] == [
        ["store_credit"],
        ["store_credit"],
        [],
    ]


def test_a_card_that_is_still_good_gets_its_money_back(
    shop: Shop, customer: Person, deps: Dependencies
) -> None:
    card = issued(shop, 1000)
    order = shop.placed(customer, {shop.product(): 1}, gift_cards=[card["code"]])
    before = store_credit_of(shop, customer)
    refunded(deps, order["orderid"], 600, 900)
    assert (left_on(shop, card), store_credit_of(shop, customer)) == (1000, before)


def test_a_guest_has_no_store_credit_and_the_card_gets_it(
    shop: Shop, deps: Dependencies, later: None
) -> None:
    """Staff sees it there, and issues another one."""
    card = issued(shop, 1000)
    order = shop.placed(
        requests.Session(),
        {shop.product(): 1},
        gift_cards=[card["code"]],
        email="guest@example.com",
        address=ADDRESS,
    )
    refunded(deps, order["orderid"], 1500)
    assert left_on(shop, card) == 1000
