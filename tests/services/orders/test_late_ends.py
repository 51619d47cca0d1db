"""A checkout that is still at work when the sweep ends it, or whose money comes while what it took is being given back."""

import secrets
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from services.orders.actions import credits
from services.orders.actions.attempts import AttemptClosed
from services.orders.actions.checkout import place_order, reconcile, record_charge
from services.orders.actions.intents import Buyer
from services.orders.clients.payments import Charge
from services.orders.dependencies import Dependencies
from services.orders.rules.credits import to_charge
from services.orders.rules.identity import orderid_for
from shared.clock import timestamp
from tests.people import Person
from tests.services.orders.conftest import Shop, checkout
from tests.services.orders.crashes import checkout_that_dies
from tests.services.orders.gift_cards import issued, left_on
from tests.services.orders.test_code_uses import used
from tests.services.orders.test_promotions import code, promotion

FREE = [{"kind": "percent", "basis_points": 10_000}, {"kind": "free_delivery"}]


class Interrupted:
    """Passes everything on to `real`; before or right after the call named, something else happens."""

    def __init__(self, real: Any, call: str, meanwhile: Callable[[], object], *, before: bool) -> None:
        self._real, self._call, self._meanwhile, self._before = real, call, meanwhile, before

    def __getattr__(self, name: str) -> Any:
        attribute = getattr(self._real, name)
        if name != self._call:
            return attribute

        def interrupted(*args: Any, **kwargs: Any) -> Any:
            if self._before:
                self._meanwhile()
            answer = attribute(*args, **kwargs)
            if not self._before:
                self._meanwhile()
            return answer

        return interrupted


@pytest.mark.parametrize("before", [True, False], ids=["before it sells", "after it has sold"])
@pytest.mark.parametrize("limit", [1, None], ids=["counted", "not counted"])
def test_an_order_that_costs_nothing_is_placed_or_ended_and_not_both(
    shop: Shop, customer: Person, deps: Dependencies, limit: int | None, before: bool
) -> None:
    """No provider decides which of the two came first."""
    free, product, key = code(), shop.product(stock=5), secrets.token_hex(8)
    made = promotion(shop, codes=[free], actions=FREE, limit=limit)
    orderid = orderid_for(customer.userid, key)
    sweep = Interrupted(
        deps.products, "confirm", lambda: reconcile(deps, deps.orders.order(orderid)), before=before
    )
    body = checkout({product: 1}, codes=[free])
    try:
        placed = place_order(replace(deps, products=sweep), Buyer(customer.userid), key, body)
        told = placed.found.status
    except AttemptClosed:
        told = "cancelled"
    assert (
        told
        == deps.orders.order(orderid).status
        == shop.get(customer, f"/v1/orders/{orderid}").json()["status"]
    )
    sold = told == "paid"
    assert shop.stock(product) == (4 if sold else 5)
    assert limit is None or used(shop, made) == int(sold)


def test_a_free_order_that_was_ended_takes_nothing_any_more(
    shop: Shop, customer: Person, deps: Dependencies, environment: dict[str, str]
) -> None:
    free, product, key = code(), shop.product(stock=5), secrets.token_hex(8)
    promotion(shop, codes=[free], actions=FREE)
    body = checkout({product: 1}, codes=[free])
    orderid = checkout_that_dies(environment, customer.userid, key, body, "reservation")
    assert reconcile(deps, deps.orders.order(orderid)).status == "cancelled"
    refused = shop.order(customer, {product: 1}, key, codes=[free])
    assert (refused.status_code, refused.json()["code"]) == (409, "attempt_closed")
    assert shop.stock(product) == 5


def test_money_that_comes_while_gift_cards_are_given_back_is_paid_back_with_all_of_them(
    shop: Shop, customer: Person, deps: Dependencies, environment: dict[str, str]
) -> None:
    """The process that ended the attempt died after the first of two cards; then the provider tells of the money after all."""
    cards, product = [issued(shop, 300), issued(shop, 400)], shop.product(price=1250, delivery=250, stock=5)
    body = checkout({product: 1}, gift_cards=[card["code"] for card in cards])
    orderid = checkout_that_dies(environment, customer.userid, secrets.token_hex(8), body, "charge")
    found = deps.orders.order(orderid)
    credits.give_back(deps, found.order["credits"][1], orderid)
    charge = Charge(f"sandbox-{orderid}", to_charge(found.order), timestamp())
    assert record_charge(deps, found, charge).status == "cancelled"
    assert [left_on(shop, card) for card in cards] == [300, 400]
    order = shop.get(customer, f"/v1/orders/{orderid}").json()
    assert [refund["total"]["amount"] for refund in order["refunds"]] == [800]
    assert shop.stock(product) == 5
