"""One Idempotency-Key is one order on a cluster too, where writes through different nodes may all be told 201.

COUCH_URLS names the nodes, separated by spaces; without it there is nothing to prove here. The guard: the documents'
ids and the charge's key come from the customer and the Idempotency-Key, and from nothing that a node knows.
"""

import os
import secrets
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from shared.couch import Database
from tests.people import Person
from tests.services.orders.conftest import Shop, clone
from tests.services.orders.test_checkout import kinds

NODES = os.environ.get("COUCH_URLS", "").split()

pytestmark = [pytest.mark.faults, pytest.mark.skipif(len(NODES) < 2, reason="COUCH_URLS names no cluster")]


@pytest.fixture(scope="module")
def couch_url() -> str:
    return NODES[0]


@pytest.fixture(scope="module")
def shops(shop: Shop, service) -> list[Shop]:
    """One orders service at each node, over the same users and products."""
    return [shop, *(replace(shop, orders=service("orders", COUCH_URL=node)) for node in NODES[1:])]


@pytest.mark.parametrize("round_", range(3))
def test_one_key_at_every_node_is_one_order_and_one_charge(
    shops: list[Shop], customer: Person, database: Database, ledger: Database, round_: int
) -> None:
    product, key = shops[0].product(stock=100), secrets.token_hex(8)

    def buy(number: int) -> tuple[int, str]:
        answer = shops[number % len(shops)].order(clone(customer), {product: 1}, key)
        return answer.status_code, answer.json().get("orderid", answer.text)

    with ThreadPoolExecutor(45) as pool:
        answers = set(pool.map(buy, range(45)))
    answers.add(buy(0))
    told = {orderid for status, orderid in answers if status == 201}
    assert len(told) == 1
    assert {status for status, _ in answers} <= {201, 503}, answers
    (orderid,) = told
    assert kinds(database, orderid) == ["customer", "item1", "order", "payment"]
    assert [doc["status"] for doc in ledger.partition(f"order{orderid}").all()] == ["paid"]
    assert shops[0].stock(product) == 99
