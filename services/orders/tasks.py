"""Background jobs of the orders service, each a call to an action; only the worker imports this."""

import logging
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from celery import Celery, Task
from kombu.exceptions import OperationalError
from redis import Redis
from redis.exceptions import RedisError

from services.orders.actions import conflicts, deadletters, fulfilment, reports, sweeping
from services.orders.actions.shop import Shop, open_shop
from services.orders.clients.couriers import SANDBOX
from services.orders.settings import Settings
from shared.errors import AisleError, Unavailable
from shared.jobs import (
    ADVANCE_ORDER,
    CATCH_UP,
    CLOSE_BOOKS,
    COMPUTE_REPORT,
    DEEP_SWEEP_ORDERS,
    LONGEST_COUNTDOWN,
    SETTLE_ORDER_CONFLICTS,
    SWEEP_ORDERS,
    Feed,
    enqueue,
    task,
)
from shared.settings import load

log = logging.getLogger(__name__)

FEED = Feed(
    database="orders",
    routes={
        "payment": (ADVANCE_ORDER, "orderid"),
        "dispatch": (ADVANCE_ORDER, "orderid"),
        "delivery": (ADVANCE_ORDER, "orderid"),
        "cancellation": (ADVANCE_ORDER, "orderid"),
        "refund": (ADVANCE_ORDER, "orderid"),
        "return": (ADVANCE_ORDER, "orderid"),
        "reportrequest": (COMPUTE_REPORT, "reportid"),
        "deadletterretried": (None, "subject"),
    },
    ours=lambda doc: "imported" not in doc and doc.get("courier") != SANDBOX,
)

MOST_RETRIES = 7
LONGEST_PAUSE = 30
TIMEOUT = 10.0
QUEUE_AWAY = (RedisError, OperationalError)
LOCK_MILLISECONDS = 30_000
BUSY_PAUSE = 1.0


class Job(Task):  # type: ignore[misc]  # Celery has no types
    """Retried with back-off while something is away; given up, it becomes a dead letter."""

    abstract = True
    autoretry_for = (Unavailable,)
    max_retries = MOST_RETRIES
    retry_backoff = True
    retry_backoff_max = LONGEST_PAUSE
    retry_jitter = True
    shop: Shop

    def on_failure(self, exc: Exception, task_id: str, args: Any, kwargs: Any, einfo: Any) -> None:
        if isinstance(exc, QUEUE_AWAY):
            log.warning("%s %s: the queue was away; the sweep finds it again", self.name, kwargs["subject"])
            return
        error = exc.code if isinstance(exc, AisleError) else type(exc).__name__
        try:
            deadletters.give_up(
                self.shop, self.name, kwargs["subject"] or "all", error=error, detail=str(exc),
                passing=isinstance(exc, Unavailable),
            )  # fmt: skip
        except Unavailable:
            log.error(
                "%s %s failed (%s) and could not be kept; the sweep finds it",
                self.name,
                kwargs["subject"],
                error,
            )


def register(queue: Celery) -> None:
    """Adds this service's jobs to the worker's queue."""
    settings = load(Settings, os.environ)
    shop, redis = open_shop(settings, TIMEOUT), Redis.from_url(settings.redis_url)
    base = type("OrdersJob", (Job,), {"abstract": True, "shop": shop})

    @task(queue, ADVANCE_ORDER, base=base)
    def advance(subject: str) -> None:
        with _in_hand(redis, subject) as mine:
            if not mine:
                enqueue(queue, ADVANCE_ORDER, subject, countdown=BUSY_PAUSE)
                return
            wait = fulfilment.advance_order(shop, subject)
        if wait is not None and wait <= LONGEST_COUNTDOWN:
            enqueue(queue, ADVANCE_ORDER, subject, countdown=wait + 0.05)

    @task(queue, SWEEP_ORDERS, base=base)
    def sweep(subject: str = "") -> None:
        for orderid in sweeping.sweep(shop, deadletters.skipped_subjects(shop)):
            enqueue(queue, ADVANCE_ORDER, orderid)

    @task(queue, DEEP_SWEEP_ORDERS, base=base)
    def deep_sweep(subject: str = "") -> None:
        for orderid in sweeping.deep_sweep(shop, deadletters.skipped_subjects(shop)):
            enqueue(queue, ADVANCE_ORDER, orderid)

    @task(queue, COMPUTE_REPORT, base=base)
    def report(subject: str) -> None:
        reports.compute_report(shop, subject)

    @task(queue, CATCH_UP, base=base)
    def catch_up(subject: str = "") -> None:
        shop.stores.bulk_reports.catch_up()

    @task(queue, SETTLE_ORDER_CONFLICTS, base=base)
    def conflicts_of_replicas(subject: str = "") -> None:
        conflicts.settle_conflicts(shop)

    @task(queue, CLOSE_BOOKS, base=base)
    def close_books(subject: str = "") -> None:
        reports.close_what_is_over(shop)


@contextmanager
def _in_hand(redis: Redis, orderid: str) -> Iterator[bool]:
    """Keeps two workers off one order, so that no mail goes out twice; what they write is safe without it."""
    name, mine = f"order-in-hand:{orderid}", secrets.token_hex(8).encode()
    got = bool(redis.set(name, mine, nx=True, px=LOCK_MILLISECONDS))
    try:
        yield got
    finally:
        if got and redis.get(name) == mine:
            redis.delete(name)
