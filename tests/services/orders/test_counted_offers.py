"""Promotions that apply by themselves with a limit, and the customer that a use is counted for."""

import secrets
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import pytest
import requests

from services.orders.actions.checkout import reconcile
from services.orders.actions.code_uses import give_back, take
from services.orders.dependencies import Dependencies
from services.orders.documents import customer_use_key
from services.orders.rules.pricing import PriceChanged
from services.orders.store.settings import MAX_AGE_SECONDS
from shared.couch import Database
from tests.people import ADDRESS, Person
from tests.services.orders.conftest import Shop, calls, checkout, clone, insisting
from tests.services.orders.crashes import STEPS, checkout_that_dies
from tests.services.orders.test_code_uses import left_behind, used
from tests.services.orders.test_promotions import code, promotion, quoted
from tests.waiting import Holds, eventually

BUYERS, OFFERED = 30, 5


def offer(shop: Shop, product: str, **content: Any) -> dict[str, Any]:
    """Ten percent off a product, without a code."""
    return promotion(shop, conditions=[{"kind": "products", "products": [product]}], **content)


def discounts(answer: requests.Response) -> list[str]:
    assert answer.ok, answer.text
    return [each["promotion"] for each in answer.json()["discounts"]]


def guest_order(shop: Shop, product: str, email: str, **more: Any) -> requests.Response:
    return shop.order(requests.Session(), {product: 1}, email=email, address=ADDRESS, **more)


def test_an_offer_for_the_first_two_orders_is_used_twice_and_then_the_goods_cost_more(
    shop: Shop, customer: Person, replica: str, database: Database, holds: Holds
) -> None:
    product = shop.product(price=1000, delivery=0)
    made = offer(shop, product, limit=2)
    eventually(lambda: discounts(quoted(replica, {product: 1})) == [made["id"]])
    if not database.has_one_copy:
        time.sleep(MAX_AGE_SECONDS + 1)  # until then the terms may be what a node that was behind had listed
    for _ in range(2):
        order = shop.placed(customer, {product: 1}, expected_total={"amount": 900, "currency": "GBP"})
    holds(lambda: used(shop, made) == 2)
    for url in (shop.orders, replica):
        holds(lambda url=url: discounts(quoted(url, {product: 1})) == [])
    refused = shop.order(customer, {product: 1}, expected_total={"amount": 900, "currency": "GBP"})
    assert (refused.status_code, refused.json()["code"]) == (409, "price_changed")
    assert refused.json()["total"]["amount"] == 1000
    assert shop.placed(customer, {product: 1})["total"]["amount"] == 1000
    assert shop.post(customer, f"/v1/orders/{order['orderid']}/cancellation", {"reason": ""}).ok
    holds(lambda: discounts(quoted(shop.orders, {product: 1})) == [made["id"]])


def test_thirty_at_once_get_an_offer_of_five_five_times(
    shop: Shop, replica: str, holds: Holds, stock_comes_to: Callable[[str, int], None]
) -> None:
    """Who loses the race for it is told that the price has changed, and orders at that. There is stock for what losers hold for a moment."""
    product = shop.product(price=1000, delivery=0, stock=2 * BUYERS)
    made = offer(shop, product, limit=OFFERED)
    people = [shop.customer() for _ in range(3)]
    eventually(lambda: discounts(quoted(replica, {product: 1})) == [made["id"]])

    def buy(number: int) -> int:
        person = clone(people[number % len(people)])
        at = replace(shop, orders=(shop.orders, replica)[number % 2])
        while True:
            answer = insisting(at, person, {product: 1})
            if answer.status_code == 201:
                return int(answer.json()["payment"]["total"]["amount"])
            assert answer.json()["code"] == "price_changed", answer.text

    with ThreadPoolExecutor(BUYERS) as pool:
        assert Counter(pool.map(buy, range(BUYERS))) == {900: OFFERED, 1000: BUYERS - OFFERED}
    holds(lambda: used(shop, made) == OFFERED)
    stock_comes_to(product, BUYERS)


def test_who_loses_the_slot_of_an_offer_is_asked_to_look_at_the_price_again(
    shop: Shop, customer: Person, environment: dict[str, str], deps: Dependencies
) -> None:
    """Two orders that were priced when one was left; sent again, the second is refused as it was before."""
    product, key = shop.product(price=1000, stock=9), secrets.token_hex(8)
    made = offer(shop, product, limit=1)
    body = checkout({product: 1})
    first, second = (
        left_behind(deps, checkout_that_dies(environment, customer.userid, each, body, "intent"))
        for each in (secrets.token_hex(8), key)
    )
    assert take(deps, first)
    with pytest.raises(PriceChanged):
        take(deps, second)
    for _ in range(2):
        refused = shop.order(customer, {product: 1}, key)
        assert (refused.status_code, refused.json()["code"]) == (409, "price_changed")
    assert used(shop, made) == 1
    give_back(deps, first)
    assert used(shop, made) == 0


def test_an_offer_is_counted_at_one_query_and_one_write(shop: Shop, customer: Person) -> None:
    plain, limited = shop.product(price=1000), shop.product(price=1000)
    shop.placed(customer, {plain: 1})
    without = calls(shop.order(customer, {plain: 1}))
    offer(shop, limited, limit=10)
    assert calls(shop.order(customer, {plain: 1})) == without, "it does not apply to this order"
    counted = calls(shop.order(customer, {limited: 1}))
    assert counted == without | {"partition": without["partition"] + 1, "write": without["write"] + 1}


def test_an_offer_for_each_customer_once_is_for_a_person_with_or_without_an_account(
    shop: Shop, customer: Person
) -> None:
    product, other = shop.product(price=1000, delivery=0), shop.customer()
    offer(shop, product, per_customer=1)
    assert shop.placed(customer, {product: 1})["total"]["amount"] == 900
    assert discounts(quoted(shop.orders, {product: 1}, by=clone(customer))) == []
    assert shop.placed(customer, {product: 1})["total"]["amount"] == 1000
    assert discounts(quoted(shop.orders, {product: 1}, by=clone(other))) != []
    assert guest_order(shop, product, customer.email.upper()).json()["total"]["amount"] == 1000
    assert guest_order(shop, product, other.email.title()).json()["total"]["amount"] == 900
    assert shop.placed(other, {product: 1})["total"]["amount"] == 1000


def test_an_offer_for_first_orders_applies_to_accounts_that_have_none(shop: Shop) -> None:
    product, newcomer = shop.product(price=1000, delivery=0), shop.customer()
    made = promotion(shop, conditions=[{"kind": "first_order"}, {"kind": "products", "products": [product]}])
    assert discounts(quoted(shop.orders, {product: 1})) == []
    assert discounts(quoted(shop.orders, {product: 1}, by=clone(newcomer))) == [made["id"]]
    assert shop.placed(newcomer, {product: 1})["total"]["amount"] == 900
    eventually(lambda: discounts(quoted(shop.orders, {product: 1}, by=clone(newcomer))) == [])
    assert shop.placed(newcomer, {product: 1})["total"]["amount"] == 1000


@pytest.mark.parametrize("guest_first", [True, False])
def test_one_person_uses_a_code_once_as_a_guest_or_with_an_account(shop: Shop, guest_first: bool) -> None:
    once, product, person = code(), shop.product(price=1000), shop.customer()
    promotion(shop, codes=[once], per_customer=1)
    if guest_first:
        assert guest_order(shop, product, person.email.title(), codes=[once]).status_code == 201
        assert quoted(shop.orders, {product: 1}, once, by=clone(person)).json()["reason"] == "per_customer"
        refused = shop.order(person, {product: 1}, codes=[once])
    else:
        shop.placed(person, {product: 1}, codes=[once])
        refused = guest_order(shop, product, f" {person.email.upper()}".strip(), codes=[once])
    assert (refused.status_code, refused.json()["reason"]) == (422, "per_customer")


@pytest.mark.parametrize("step", STEPS[:-2])
def test_an_attempt_that_was_ended_takes_no_use_of_its_customer(
    shop: Shop, environment: dict[str, str], deps: Dependencies, step: str
) -> None:
    """A request that is slower than the sweep: what it would take would never be given back if it died then."""
    once, product, person = code(), shop.product(), shop.customer()
    promotion(shop, codes=[once], per_customer=2)
    body = checkout({product: 1}, codes=[once])
    orderid = checkout_that_dies(environment, person.userid, secrets.token_hex(8), body, step)
    found = left_behind(deps, orderid)
    assert reconcile(deps, found).cancellation is not None
    assert not take(deps, found)
    for _ in range(2):
        shop.placed(person, {product: 1}, codes=[once])
    assert shop.order(person, {product: 1}, codes=[once]).json()["reason"] == "per_customer"
    assert not take(deps, found)


def test_a_use_of_an_order_that_came_to_nothing_keeps_nobody_from_the_code(
    shop: Shop, environment: dict[str, str], deps: Dependencies
) -> None:
    """As an earlier version left it behind: the quote says what the order would find, that it can be used."""
    once, product, person = code(), shop.product(), shop.customer()
    promotion(shop, codes=[once], per_customer=1)
    body = checkout({product: 1}, codes=[once])
    orderid = checkout_that_dies(environment, person.userid, secrets.token_hex(8), body, "intent")
    found = deps.orders.order(orderid)
    assert take(deps, found)
    (use,) = found.order["uses"]
    docid = customer_use_key(use["promotion"], use["customer"], 1)
    reconcile(deps, found)
    free = deps.promotions.read([docid])[docid]
    deps.promotions.write([{**free, "free": False, "orderid": orderid}])
    assert quoted(shop.orders, {product: 1}, once, by=clone(person)).status_code == 200
    shop.placed(person, {product: 1}, codes=[once])
    assert quoted(shop.orders, {product: 1}, once, by=clone(person)).json()["reason"] == "per_customer"
