"""A node of a cluster keeps what the others refused, and the refused writer dies before it takes its entry back: no card pays two orders."""

import secrets

from services.orders.actions.conflicts import settle_conflicts
from services.orders.dependencies import Dependencies
from services.orders.rules.credits import credits_of, key_of
from shared.couch import Database
from tests.people import Person
from tests.services.orders.conftest import Shop, checkout
from tests.services.orders.crashes import checkout_that_dies
from tests.services.orders.gift_cards import issued, left_on
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
