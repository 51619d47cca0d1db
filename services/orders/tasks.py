"""Background jobs of the orders service, each a call to an action; only the worker imports this."""

import logging
import os
import secrets
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

from celery import Celery, Task
from kombu.exceptions import OperationalError
from redis import Redis
from redis.exceptions import RedisError

from services.orders.actions import conflicts, deadletters, fulfilment, reports, sweeping
from services.orders.actions.shop import Shop, open_shop
from services.orders.clients.couriers import SANDBOX
from services.orders.documents import DESIGN, SANDBOX_LEDGER
from services.orders.settings import Settings
from shared.errors import AisleError, Unavailable
from shared.jobs import (
    ADVANCE_ORDER,
    CATCH_UP,
    CLOSE_BOOKS,
    COMPUTE_REPORT,
    DEEP_SWEEP_ORDERS,
    LONGEST_COUNTDOWN,
    RESTORE_ORDER_INDEXES,
    SETTLE_ORDER_CONFLICTS,
    SWEEP_ORDERS,
    Feed,
    PeriodicJobs,
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


def register(queue: Celery) -> PeriodicJobs:
    """Adds this service's jobs to the worker's queue; what is returned is due by the clock."""
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

    @task(queue, COMPUTE_REPORT, base=base)
    def report(subject: str) -> None:
        reports.compute_report(shop, subject)

    jobs = _periodic_jobs(shop, queue)
    for name, action in jobs.items():

        @task(queue, name, base=base)
        def job(subject: str = "", action: Callable[[], object] = action) -> None:
            action()

    return {name: partial(_or_give_up, shop, name, action) for name, action in jobs.items()}


def _periodic_jobs(shop: Shop, queue: Celery) -> PeriodicJobs:
    def advance_all(orderids: Iterable[str]) -> None:
        for orderid in orderids:
            enqueue(queue, ADVANCE_ORDER, orderid)

    return {
        SWEEP_ORDERS: lambda: advance_all(sweeping.sweep(shop, deadletters.skipped_subjects(shop))),
        DEEP_SWEEP_ORDERS: lambda: advance_all(sweeping.deep_sweep(shop, deadletters.skipped_subjects(shop))),
        CATCH_UP: shop.stores.bulk_reports.catch_up,
        SETTLE_ORDER_CONFLICTS: lambda: conflicts.settle_conflicts(shop),
        CLOSE_BOOKS: lambda: reports.close_what_is_over(shop),
        RESTORE_ORDER_INDEXES: lambda: shop.stores.server.restore_indexes(DESIGN, SANDBOX_LEDGER),
    }


def _or_give_up(shop: Shop, name: str, action: Callable[[], object]) -> None:
    """Tells the desk of a job that fails for a reason that waiting does not mend."""
    try:
        action()
    except (Unavailable, *QUEUE_AWAY):
        raise
    except Exception as error:
        code = error.code if isinstance(error, AisleError) else type(error).__name__
        deadletters.give_up(shop, name, "all", error=code, detail=str(error), passing=False)
        raise


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
