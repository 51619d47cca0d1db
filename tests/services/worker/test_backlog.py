"""What is due by the clock is done while thousands of jobs wait in the queue, and mends what somebody dropped."""

import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import requests
from redis import Redis

from services.orders.rules.steps import FEED_GRACE
from services.products.documents import BY_PRODUCTID
from services.products.documents import DESIGN as PRODUCTS
from shared.couch import Server
from shared.jobs import ADVANCE_ORDER, QUEUE, enqueue, open_queue
from tests.people import Person
from tests.processes import Process
from tests.services.orders.conftest import Shop, until
from tests.services.worker.processes import Worker as Processes

BACKLOG = 6000


@pytest.fixture
def burst(shop: Shop, environment: dict[str, str]) -> Iterator[Redis]:
    """A queue full of work, and who can say how much of it is left."""
    redis, queue = Redis.from_url(environment["REDIS_URL"]), open_queue(environment["REDIS_URL"])
    for number in range(BACKLOG):
        enqueue(queue, ADVANCE_ORDER, f"nobody{number}")
    yield redis
    redis.delete(QUEUE)


@pytest.mark.load
def test_stock_shown_is_right_while_a_burst_of_orders_waits(
    shop: Shop, customer: Person, burst: Redis, environment: dict[str, str], tmp_path: Path
) -> None:
    """On a shared queue the job that sums up stock stood behind the burst, expired there, and so did the next ones."""
    product = shop.product(stock=9)
    shop.placed(customer, {product: 4})
    worker = Processes(environment, tmp_path)
    try:
        until(lambda: requests.get(f"{shop.products}/v1/products/{product}", timeout=30).json()["stock"] == 5)
        waiting = burst.llen(QUEUE)
    finally:
        burst.delete(QUEUE)
        worker.stop()
    assert waiting > 0, "the burst was over before the stock was right"


@pytest.mark.load
def test_the_sweep_adds_nothing_to_a_long_queue(
    shop: Shop, customer: Person, burst: Redis, environment: dict[str, str], tmp_path: Path
) -> None:
    """It put every unfinished order in once more each time: the longer the queue was, the faster it grew."""
    product = shop.product()
    placed = [shop.placed(customer, {product: 1})["orderid"] for _ in range(3)]
    command = [sys.executable, "-m", "services.worker.timekeeper"]
    log = tmp_path / "timekeeper.log"
    timekeeper = Process("timekeeper", command, log, environment | {"SWEEP_SECONDS": "1"})
    try:
        time.sleep(FEED_GRACE.total_seconds() + 4)
        assert burst.llen(QUEUE) == BACKLOG
        burst.delete(QUEUE)
        until(lambda: burst.llen(QUEUE) >= len(placed))
    finally:
        timekeeper.stop()


def test_a_dropped_index_is_said_and_comes_back_by_itself(
    shop: Shop, server: Server, environment: dict[str, str], tmp_path: Path
) -> None:
    product, name = shop.product(), server.name_of(PRODUCTS)
    page, ready = f"{shop.products}/v1/products/{product}", f"{shop.products}/health/ready"
    until(lambda: requests.get(ready, timeout=30).status_code == 200)
    assert requests.get(page, timeout=30).status_code == 200
    doc = server.client.call("get_design_document", db=name, ddoc=BY_PRODUCTID.design_id)
    server.client.call("delete_design_document", db=name, ddoc=BY_PRODUCTID.design_id, rev=doc["_rev"])
    answer = requests.get(page, timeout=30)
    assert (answer.status_code, answer.json()["code"]) == (503, "not_prepared")
    assert requests.get(ready, timeout=30).status_code == 503
    worker = Processes(environment, tmp_path)
    try:
        until(lambda: requests.get(ready, timeout=30).status_code == 200, 90)
    finally:
        worker.stop()
    assert requests.get(page, timeout=30).status_code == 200
