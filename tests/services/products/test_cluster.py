"""On a cluster a 409 is no lock: three services, each writing through another node, sell exactly what there is.

COUCH_URLS names the nodes, separated by spaces; without it there is nothing to prove here.
"""

import os
from concurrent.futures import ThreadPoolExecutor

import pytest

from services.products.actions.conflicts import settle_conflicts
from services.products.documents import DESIGN
from services.products.rules.ledger import Line
from shared.couch import Server
from tests.services.products.conftest import Shop, eventually, open_as_worker, product
from tests.services.products.reserving import KITCHEN, conflicts, end, level, reservation

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


@pytest.mark.parametrize("round_", range(3))
def test_buyers_at_every_node_and_ten_units(
    desk: Shop, shops: list[Shop], environment: dict[str, str], server: Server, round_: int
):
    productid = f"rare{round_}"
    desk.load([product(productid, stock=10)])

    def buy(number: int) -> int:
        body = reservation(f"{productid}-{number}", (productid, 1))
        return shops[number % len(shops)].service("/v1/internal/reservations", body).status

    with ThreadPoolExecutor(24) as buyers:
        statuses = dict(enumerate(buyers.map(buy, range(120))))
    statuses |= {number: buy(number) for number in range(1000, 1012)}
    assert list(statuses.values()).count(201) == 10
    assert set(statuses.values()) <= {201, 409, 503}
    eventually(lambda: level(shops[-1], productid) == 0)
    for number, status in statuses.items():
        how = "confirmation" if status == 201 else "release"
        assert end(shops[0], f"{productid}-{number}", how, (productid, 1)) == 200
    deps = open_as_worker(environment)
    eventually(lambda: not (settle_conflicts(deps) or conflicts(deps, productid)))
    slots = [each["slot"] for each in deps.ledger.chain(Line(productid, tuple(KITCHEN), 0))]
    assert slots == list(range(1, len(slots) + 1))
    eventually(lambda: level(shops[-1], productid) == 0)
