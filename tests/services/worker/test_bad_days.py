"""The database or Redis away: 503 (how soon is in `tests/test_timeouts.py`), and what was accepted is finished afterwards."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
import requests

from tests.people import Person
from tests.processes import Process, free_port, start_minicouch, start_redis
from tests.services.orders.conftest import Shop, Worker, until
from tests.services.worker.test_fulfilment import finished

pytestmark = pytest.mark.faults


@dataclass
class Stores:
    """A database server and a Redis of this module's own, to be killed and started again."""

    folder: Path
    couch_port: int
    redis_port: int
    couch: Process
    redis: Process
    couch_url: str
    redis_url: str

    def restart_couch(self) -> None:
        self.couch, _ = start_minicouch(self.folder / "data", port=self.couch_port)

    def restart_redis(self) -> None:
        self.redis, _ = start_redis(self.folder, port=self.redis_port)


@pytest.fixture(scope="session")
def stores(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stores]:
    folder, couch_port, redis_port = tmp_path_factory.mktemp("stores"), free_port(), free_port()
    couch, couch_url = start_minicouch(folder / "data", port=couch_port)
    redis, redis_url = start_redis(folder, port=redis_port)
    found = Stores(folder, couch_port, redis_port, couch, redis, couch_url, redis_url)
    yield found
    found.couch.kill()
    found.redis.kill()


@pytest.fixture(scope="session")
def couch_url(stores: Stores) -> str:
    return stores.couch_url


@pytest.fixture(scope="session")
def redis_url(stores: Stores) -> str:
    return stores.redis_url


def test_the_database_away_is_503_and_accepted_orders_are_finished(
    shop: Shop, worker: Worker, customer: Person, stores: Stores
) -> None:
    """The guard is that what the transport gives up is DatabaseUnavailable: anything else is a 500."""
    product = shop.product()
    accepted = [shop.placed(customer, {product: 1})["orderid"] for _ in range(5)]
    stores.couch.kill()
    path = f"/v1/orders/{accepted[0]}"
    for ask in (
        lambda: shop.get(customer, path),
        lambda: shop.get(customer, "/v1/orders"),
        lambda: shop.order(customer, {product: 1}),
        lambda: shop.post(customer, f"{path}/cancellation", {}),
        lambda: shop.get(shop.admin, "/v1/admin/reports/sales"),
    ):
        is_away(ask)
    assert requests.get(f"{shop.orders}/health/ready", timeout=10).status_code == 503
    assert requests.get(f"{shop.orders}/health/live", timeout=10).status_code == 200
    stores.restart_couch()
    until(lambda: requests.get(f"{shop.orders}/health/ready", timeout=10).status_code == 200)
    again = until(lambda: (answer := shop.order(customer, {product: 1}, "again")).ok and answer)
    for orderid in (*accepted, again.json()["orderid"]):
        finished(shop, customer, orderid)


def test_redis_away_stops_no_checkout_and_delays_only_what_follows(
    shop: Shop, worker: Worker, customer: Person, stores: Stores
) -> None:
    """The guard is that a checkout's key is kept in the database: with `shared.web.idempotent` it is a 503."""
    product = shop.product()
    stores.redis.kill()
    orderid = shop.placed(customer, {product: 1})["orderid"]
    assert shop.get(customer, f"/v1/orders/{orderid}").json()["status"] == "paid"
    stores.restart_redis()
    finished(shop, customer, orderid, seconds=90)


def is_away(ask) -> None:
    answer = ask()
    assert (answer.status_code, answer.headers["Content-Type"]) == (503, "application/problem+json"), (
        answer.text
    )
    assert int(answer.headers["Retry-After"]) >= 1
