"""On a cluster a 409 is no lock: three services, each writing through another node, sell exactly what there is.

COUCH_URLS names the nodes, separated by spaces; without it there is nothing to prove here.
"""

import itertools
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from functools import partial

import pytest

from services.products.actions import maintenance
from services.products.actions.conflicts import settle_conflicts
from services.products.documents import DESIGN
from services.products.rules.ledger import Line
from shared.clock import now
from shared.couch import Server
from tests import waiting
from tests.patience import PATIENCE_SECONDS
from tests.services.products.conftest import Shop, eventually, open_as_worker, product
from tests.services.products.reserving import KITCHEN, conflicts, end, reservation

NODES = os.environ.get("COUCH_URLS", "").split()

pytestmark = [pytest.mark.faults, pytest.mark.skipif(len(NODES) < 2, reason="COUCH_URLS names no cluster")]


@pytest.fixture(scope="module")
def couch_url() -> str:
    return NODES[0]


@pytest.fixture(scope="module")
def shops(prepared, service, neighbours) -> list[Shop]:
    """One products service at each node, with no common memory of where the chains end."""
    prepared(DESIGN)
    urls = [
        service(
            "products",
            COUCH_URL=node,
            USERS_URL=neighbours.url,
            ORDERS_URL=neighbours.url,
            ACCESS_LOG="false",
            REDIS_URL="redis://127.0.0.1:1/0",
        )
        for node in NODES
    ]
    return [Shop(url, neighbours) for url in urls]


@pytest.fixture(scope="module")
def desk(prepared, service, neighbours) -> Shop:
    """Where products are made, which takes Redis."""
    return Shop(service("products", USERS_URL=neighbours.url, ORDERS_URL=neighbours.url), neighbours)


def insisting(ask: Callable[[], int]) -> int:
    """The first status that is no 503. Where that was the answer the unit may be taken, and be this buyer's."""
    return waiting.eventually(lambda: status if (status := ask()) != 503 else None, seconds=PATIENCE_SECONDS)


def shown(shop: Shop, productid: str) -> int | None:
    """The level, or None while the database is too busy to say it."""
    answer = shop.admin("GET", f"/v1/products/{productid}/stock")
    return answer.json["stock"] if answer.status != 503 else None


@pytest.mark.parametrize("round_", range(3))
def test_buyers_at_every_node_and_ten_units(
    desk: Shop, shops: list[Shop], environment: dict[str, str], server: Server, round_: int
):
    productid = f"rare{round_}"
    desk.load([product(productid, stock=10)])

    def buy(number: int) -> int:
        shop, body = shops[number % len(shops)], reservation(f"{productid}-{number}", (productid, 1))
        return insisting(lambda: shop.service("/v1/internal/reservations", body).status)

    def finish(number: int, how: str) -> None:
        assert insisting(partial(end, shops[0], f"{productid}-{number}", how, (productid, 1))) == 200

    with ThreadPoolExecutor(24) as buyers:
        statuses = dict(enumerate(buyers.map(buy, range(120))))
    assert set(statuses.values()) <= {201, 409}
    sold = [number for number, status in statuses.items() if status == 201]
    for number in statuses.keys() - set(sold):
        finish(number, "release")
    deps, late = open_as_worker(environment), itertools.count(1000)

    def are_all_sold() -> bool:
        """Who was told that nothing is left may have had a unit that one node's list did not show: it comes back, to whoever comes later."""
        if len(sold) < 10:
            settle_conflicts(deps)
            maintenance.correct_settled(deps, now() + timedelta(seconds=31))
            number = next(late)
            if buy(number) == 201:
                sold.append(number)
            else:
                finish(number, "release")
        return len(sold) >= 10

    waiting.eventually(are_all_sold, seconds=PATIENCE_SECONDS)
    assert {buy(number) for number in range(2000, 2012)} == {409}
    assert len(sold) == 10
    eventually(lambda: shown(shops[-1], productid) == 0)
    for number in sold:
        finish(number, "confirmation")
    eventually(lambda: not (settle_conflicts(deps) or conflicts(deps, productid)))
    slots = [each["slot"] for each in deps.ledger.chain(Line(productid, tuple(KITCHEN), 0))]
    assert slots == list(range(1, len(slots) + 1))
    eventually(lambda: shown(shops[-1], productid) == 0)
