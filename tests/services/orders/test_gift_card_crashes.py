"""Checkouts with a gift card or store credit that end half way: what they took is given back, once."""

import secrets
from collections.abc import Callable
from datetime import timedelta

import pytest

from services.orders.actions import claims, fulfilment
from services.orders.dependencies import Dependencies
from shared.clock import now
from shared.couch import Database
from tests.people import Person
from tests.services.orders.conftest import Shop, checkout
from tests.services.orders.crashes import checkout_that_dies
from tests.services.orders.gift_cards import card_of, charged_at, issued, left_on


@pytest.fixture
def sweep(deps: Dependencies, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """What the worker does for an order when everything that can fall due has."""

    def swept(orderid: str) -> None:
        monkeypatch.setattr(fulfilment, "now", lambda: now() + timedelta(hours=2))
        fulfilment.advance_order(deps, orderid)

    return swept


@pytest.mark.parametrize("token", ["tok_declined", "tok_ok"])
def test_a_checkout_that_comes_to_nothing_gives_the_card_back(
    shop: Shop, customer: Person, token: str
) -> None:
    """Declined by the bank, or sold out."""
    card, product = issued(shop, 1000), shop.product(stock=5 if token == "tok_declined" else 0)
    answer = shop.order(
        customer, {product: 1}, gift_cards=[card["code"]], payment={"provider": "sandbox", "token": token}
    )
    assert answer.status_code == (402 if token == "tok_declined" else 409), answer.text
    assert left_on(shop, card) == 1000
    assert card_of(shop, card)["entries"][-1]["reason"] == (
        "given_back" if token == "tok_declined" else "closed"
    )


@pytest.mark.parametrize("value", [1000, 5000], ids=["beside a card", "alone"])
@pytest.mark.parametrize("step", ["intent", "reservation", "claim", "charge", "payment"])
def test_a_checkout_that_died_is_ended_by_the_sweep(
    shop: Shop,
    customer: Person,
    ledger: Database,
    environment: dict[str, str],
    sweep: Callable[[str], None],
    step: str,
    value: int,
) -> None:
    """Nothing is lost, doubled or left claimed, whatever the process had done; who asks again later finds the same end."""
    if step == "charge" and value == 5000:
        step = "claim"
    card, product = issued(shop, value), shop.product(price=1250, delivery=250, stock=3)
    body, key = checkout({product: 1}, gift_cards=[card["code"]]), secrets.token_hex(8)
    orderid = checkout_that_dies(environment, customer.userid, key, body, step)
    for _ in range(2):
        sweep(orderid)
    order = shop.get(customer, f"/v1/orders/{orderid}").json()
    spent = min(value, 1500)
    if order["status"] == "cancelled":
        assert left_on(shop, card) == value
        assert charged_at(ledger, orderid) == 0
        assert shop.stock(product) == 3
    else:
        assert left_on(shop, card) == value - spent
        assert charged_at(ledger, orderid) == 1500 - spent
        assert shop.stock(product) == 2
    paid_before_it_died = step in ("payment", "charge") or (step == "claim" and value == 5000)
    assert (order["status"] != "cancelled") == paid_before_it_died
    again = shop.order(customer, {product: 1}, key, gift_cards=[card["code"]])
    assert (again.status_code == 201) == paid_before_it_died, again.text


def test_a_slow_checkout_finds_that_the_sweep_has_ended_it(
    shop: Shop, customer: Person, deps: Dependencies, environment: dict[str, str], ledger: Database
) -> None:
    """The sweep comes between reservation and claim: the card is not spent any more, and nothing is charged."""
    card, product = issued(shop, 5000), shop.product(stock=3)
    body, key = checkout({product: 1}, gift_cards=[card["code"]]), secrets.token_hex(8)
    orderid = checkout_that_dies(environment, customer.userid, key, body, "reservation")

    found = deps.orders.order(orderid)
    assert not claims.end(deps, found)
    answer = shop.order(customer, {product: 1}, key, gift_cards=[card["code"]])
    assert (answer.status_code, answer.json()["code"]) == (409, "attempt_closed")
    assert left_on(shop, card) == 5000
    assert ledger.partition(f"order{orderid}").all() == []
