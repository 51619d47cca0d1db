"""A node of a cluster keeps what the others refused, and the refused writer dies before it takes its entry back: no card pays two orders."""

import secrets
from typing import Any

import pytest

from services.orders.actions import fulfilment
from services.orders.actions.conflicts import settle_conflicts
from services.orders.dependencies import Dependencies
from services.orders.rules.credits import credits_of, key_of
from shared.couch import Database
from tests.people import Person
from tests.services.orders.conftest import Shop, checkout
from tests.services.orders.crashes import checkout_that_dies
from tests.services.orders.gift_cards import card_of, issued, left_on
from tests.services.orders.test_contested_uses import EARLIER, left_beside


def test_a_card_that_a_paid_order_emptied_pays_no_order_that_died_beside_it(
    shop: Shop, customer: Person, environment: dict[str, str], deps: Dependencies, database: Database
) -> None:
    card, product = issued(shop, 1500), shop.product(price=1250, delivery=250, stock=9)
    key, body = secrets.token_hex(8), checkout({product: 1}, gift_cards=[card["code"]])
    died = checkout_that_dies(environment, customer.userid, key, body, "intent")
    assert shop.order(customer, {product: 1}, gift_cards=[card["code"]]).status_code == 201
    assert left_on(shop, card) == 0

    (credit,) = credits_of(deps.orders.order(died).order)
    spent = database.get(key_of(credit).entry_id(2))
    refused = {**spent, "orderid": died, "reference": died, "mark": "0", "date": EARLIER}
    del refused["_rev"]
    left_beside(database, refused, {"start": 1, "ids": ["f" * 32]})
    assert settle_conflicts(deps) > 0

    assert left_on(shop, card) == 0
    again = shop.order(customer, {product: 1}, key, gift_cards=[card["code"]])
    assert (again.status_code, again.json()["code"]) == (409, "balance_spent"), again.text
    assert left_on(shop, card) == 0


def spent_by(database: Database, deps: Dependencies, orderid: str) -> dict[str, Any]:
    (credit,) = credits_of(deps.orders.order(orderid).order)
    return database.get(key_of(credit).entry_id(2))


def beside(database: Database, spent: dict[str, Any], orderid: str, date: str) -> None:
    """The entry of another order under the same number, which the database shows."""
    other = {**spent, "orderid": orderid, "reference": orderid, "mark": "0", "date": date}
    del other["_rev"]
    left_beside(database, other, {"start": 1, "ids": ["f" * 32]})


@pytest.mark.parametrize("date", [EARLIER, "2100-01-01T00:00:00.000Z"])
def test_of_two_open_orders_that_empty_a_card_one_has_it_and_the_other_is_told(
    shop: Shop,
    customer: Person,
    environment: dict[str, str],
    deps: Dependencies,
    database: Database,
    date: str,
) -> None:
    card, product = issued(shop, 1500), shop.product(price=1250, delivery=250, stock=9)
    keys, body = [secrets.token_hex(8) for _ in range(2)], checkout({product: 1}, gift_cards=[card["code"]])
    other = checkout_that_dies(environment, customer.userid, keys[1], body, "intent")
    first = checkout_that_dies(environment, customer.userid, keys[0], body, "claim")
    beside(database, spent_by(database, deps, first), other, date)
    assert settle_conflicts(deps) > 0
    assert left_on(shop, card) == 0
    won, lost = (keys[1], keys[0]) if date == EARLIER else (keys[0], keys[1])
    told = shop.order(customer, {product: 1}, lost, gift_cards=[card["code"]])
    assert (told.status_code, told.json()["code"]) == (409, "balance_spent"), told.text
    paid = shop.order(customer, {product: 1}, won, gift_cards=[card["code"]])
    assert (paid.status_code, paid.json()["payment"]["total"]["amount"]) == (201, 1500), paid.text
    assert left_on(shop, card) == 0


def test_an_order_that_was_told_it_has_the_card_stands_in_its_chain_whatever_was_decided(
    shop: Shop, customer: Person, environment: dict[str, str], deps: Dependencies, database: Database
) -> None:
    """Its entry gave way while it was being charged: the card owes what it paid twice, and no money is lost from the books."""
    card, product = issued(shop, 1500), shop.product(price=1250, delivery=250, stock=9)
    body = checkout({product: 1}, gift_cards=[card["code"]])
    other = checkout_that_dies(environment, customer.userid, secrets.token_hex(8), body, "intent")
    order = shop.placed(customer, {product: 1}, gift_cards=[card["code"]])
    spent = spent_by(database, deps, order["orderid"])
    database.put({**spent, "orderid": other, "reference": other, "mark": "0"})
    for _ in range(2):
        fulfilment.advance_order(deps, order["orderid"])
    found = card_of(shop, card)
    assert found["balance"]["amount"] == -1500
    assert [entry.get("orderid") for entry in found["entries"][1:]] == [other, order["orderid"]]
