"""Orders that come together are moved on by few messages, and each as if it had come alone."""

import base64
import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from redis import Redis

from services.orders.documents import PAYMENT
from shared.couch import Database
from shared.jobs import QUEUE
from tests.people import Person
from tests.services.orders.conftest import Shop, until
from tests.services.worker.processes import Worker as Processes
from tests.services.worker.test_fulfilment import WHOLE, finished, keys, order_without_its_provider

ORDERS = 12


@pytest.fixture
def processes(environment: dict[str, str], tmp_path: Path) -> Iterator[Processes]:
    running = Processes(environment, tmp_path)
    yield running
    running.stop()


def waiting(redis: Redis) -> list[list[str]]:
    """The subjects of each message in the queue."""
    bodies = [base64.b64decode(json.loads(message)["body"]) for message in redis.lrange(QUEUE, 0, -1)]
    jobs = [json.loads(body)[1] for body in bodies]
    return [
        [subject for subject, _ in job["subjects"]] if "subjects" in job else [job["subject"]] for job in jobs
    ]


def test_orders_that_come_together_are_few_messages_and_all_delivered_but_the_one_that_cannot_be(
    shop: Shop, customer: Person, database: Database, environment: dict[str, str], processes: Processes
) -> None:
    redis, product = Redis.from_url(environment["REDIS_URL"]), shop.product(stock=ORDERS)
    for name in ("follower", "worker"):
        processes.kill(name)
    placed = [shop.placed(customer, {product: 1})["orderid"] for _ in range(ORDERS)]
    lost = order_without_its_provider(shop, customer, database, environment)
    database.put(
        {"_id": f"order{lost}:payment", "type": PAYMENT.name, "orderid": lost, "schema": 1, "date": "2026"}
    )
    redis.delete(QUEUE)
    processes.restart("follower")
    until(lambda: {*placed, lost} <= {subject for message in waiting(redis) for subject in message})
    assert len(waiting(redis)) <= 4, "two shards, and some hundred changes are read together"
    processes.restart("worker")
    for orderid in placed:
        finished(shop, customer, orderid)
        until(lambda orderid=orderid: keys(database, orderid) == WHOLE)

    def dead_letter() -> str | None:
        found = shop.get(shop.admin, "/v1/admin/dead-letters").json()["items"]
        return next((each["job"] for each in found if each["orderid"] == lost), None)

    assert until(dead_letter) == "orders.advance"
