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

from services.products.actions import catalogue, maintenance
from services.products.actions.bulk_edit import bulk_edit
from services.products.actions.conflicts import settle_conflicts
from services.products.documents import DESIGN
from services.products.rules.bulk_edit import BulkEdit
from services.products.rules.ledger import Line
from shared.clock import now, timestamp
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


def test_edits_of_one_product_at_every_node_are_all_kept(
    desk: Shop, shops: list[Shop], environment: dict[str, str]
):
    """Each that is told as made doubles the price once, also where another was made at the same time."""
    desk.load([product(f"doubled{number}") for number in range(20)])
    staff = [open_as_worker({**environment, "COUCH_URL": node}) for node in NODES]
    for number in range(20):
        productid = f"doubled{number}"
        eventually(
            lambda wanted=productid: all(wanted in catalogue.current(each, [wanted]) for each in staff)
        )

        def double(at: int, productid: str = productid) -> int:
            edit = BulkEdit(key=f"{productid}-{at}", price_change=10_000)
            return len(bulk_edit(staff[at % len(staff)], [productid], edit, timestamp()).changed)

        with ThreadPoolExecutor(3) as together:
            assert list(together.map(double, range(3))) == [1, 1, 1]
    prices = [desk.ok(f"/v1/products/doubled{number}")["price"]["amount"] for number in range(20)]
    assert prices == [8000] * 20
