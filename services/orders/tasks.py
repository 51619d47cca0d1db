"""Background jobs of the orders service, each a call to an action; only the worker imports this."""

import logging
import os
from collections.abc import Callable
from functools import partial
from itertools import groupby
from math import ceil
from typing import Any

from celery import Celery, Task
from kombu.exceptions import OperationalError
from redis.exceptions import RedisError

from services.orders.actions import (
    archive_years,
    backorders,
    conflicts,
    daily_figures,
    dead_letters,
    drafts,
    fulfilment,
    old_records,
    reports,
    summaries,
    sweep,
)
from services.orders.dependencies import Dependencies, open_dependencies
from services.orders.documents import (
    DESIGN,
    SANDBOX_LEDGER,
)
from services.orders.settings import Settings
from shared.clock import now
from shared.errors import AisleError, Unavailable
from shared.jobs import (
    ADVANCE_ORDER,
    ADVANCE_ORDERS,
    ARCHIVE_YEAR,
    CATCH_UP,
    CLOSE_PERIODS,
    COMPLETE_SUMMARIES,
    COMPUTE_REPORT,
    DEEP_SWEEP_ORDERS,
    FIND_UNFINISHED_ARCHIVES,
    FORMER_NAMES,
    LOOK_FOR_GOODS,
    MAX_COUNTDOWN,
    REMOVE_EXPIRED_DRAFTS,
    REMOVE_OLD_RECORDS,
    RESTORE_ORDER_INDEXES,
    SEND_DAILY_FIGURES,
    SETTLE_ORDER_CONFLICTS,
    SUMMARISE_ORDER,
    SWEEP_ORDERS,
    TRANSIENT_ERRORS,
    PeriodicJobs,
    Subject,
    enqueue,
    enqueue_several,
    subjects_of,
    task,
    waiting_jobs,
)
from shared.settings import load
from shared.tracing import outgoing, span

log = logging.getLogger(__name__)

MAX_RETRIES = 7
MAX_RETRY_SECONDS = 30
TIMEOUT = 10.0
QUEUE_ERRORS = (RedisError, OperationalError)
LEASE_SECONDS = 30.0
LOCKED_RETRY_SECONDS = 1.0
SWEEP_FILLS_UPTO = 200  # jobs waiting in the queue


class Job(Task):  # type: ignore[misc]  # Celery has no types
    """Retried with back-off while something is unavailable or another writer is first; after the last attempt it becomes a dead letter."""

    abstract = True
    autoretry_for = TRANSIENT_ERRORS
    max_retries = MAX_RETRIES
    retry_backoff = True
    retry_backoff_max = MAX_RETRY_SECONDS
    retry_jitter = True
    deps: Dependencies

    def on_failure(self, exc: Exception, task_id: str, args: Any, kwargs: Any, einfo: Any) -> None:
        subject = kwargs.get("subject", "")
        if isinstance(exc, QUEUE_ERRORS):
            log.warning("%s %s: the queue was unavailable; the sweep finds it again", self.name, subject)
            return
        try:
            _add_dead_letter(
                self.deps, self.name, subject or "all", exc, transient=isinstance(exc, TRANSIENT_ERRORS)
            )
        except Unavailable:
            log.error(
                "%s %s failed (%s) and could not be stored; the sweep finds it",
                self.name,
                subject,
                type(exc).__name__,
            )


def register(queue: Celery) -> PeriodicJobs:
    """Adds this service's jobs to the worker's queue; what is returned is due by the clock."""
    deps = open_dependencies(load(Settings, os.environ), TIMEOUT)
    base = type("OrdersJob", (Job,), {"abstract": True, "deps": deps})

    @task(queue, ADVANCE_ORDER, base=base)
    def advance(subject: str) -> None:
        wait = _advance(deps, subject)
        if wait is not None:
            enqueue(queue, ADVANCE_ORDER, subject, countdown=wait)

    @task(queue, ADVANCE_ORDERS, base=base)
    def advance_several(subjects: list[list[str]]) -> None:
        _advance_several(deps, queue, list(subjects_of(subjects)))

    @task(queue, SUMMARISE_ORDER, base=base)
    def summarise(subject: str) -> None:
        summaries.summarise_order(deps, subject)

    @task(queue, COMPUTE_REPORT, base=base)
    def report(subject: str) -> None:
        reports.compute_report(deps, subject)

    @task(queue, ARCHIVE_YEAR, base=base)
    def archive(subject: str) -> None:
        archive_years.advance(deps, subject)

    jobs = _periodic_jobs(deps, queue)
    former = {name: jobs[present] for name, present in FORMER_NAMES.items()}
    for name, action in {**jobs, **former}.items():

        @task(queue, name, base=base)
        def job(subject: str = "", action: Callable[[], object] = action) -> None:
            action()

    return {name: partial(_or_dead_letter, deps, name, action) for name, action in jobs.items()}


def _advance(deps: Dependencies, orderid: str) -> float | None:
    """Does what is due of an order; seconds until the job is to come again, or None where the sweep finds what is left, or the job was
    asked for by then already."""
    with deps.locks.hold(f"order {orderid}", lease=LEASE_SECONDS) as acquired:
        if not acquired:
            return LOCKED_RETRY_SECONDS
        wait = fulfilment.advance_order(deps, orderid)
    if wait is None or wait > MAX_COUNTDOWN or not deps.locks.plan(f"order {orderid}", wait):
        return None
    return wait + 0.05


def _advance_several(deps: Dependencies, queue: Celery, orders: list[Subject]) -> None:
    """Each by itself: one that fails comes again alone, with retries and a dead letter of its own. Those due again at about
    the same time come again together, at the time of the last."""
    waiting: list[tuple[float, Subject]] = []
    for order in orders:
        with span(f"job {ADVANCE_ORDER}", "consumer", order.headers()) as attributes:
            attributes["aisle.subject"] = order.id
            try:
                wait = _advance(deps, order.id)
            except QUEUE_ERRORS:
                raise
            except Exception as error:
                log.warning("%s %s comes again alone: %s", ADVANCE_ORDER, order.id, type(error).__name__)
                enqueue(queue, ADVANCE_ORDER, order.id)
                continue
            if wait is not None:
                waiting.append((wait, Subject(order.id, outgoing().get("traceparent", ""))))
    for _, together in groupby(sorted(waiting, key=lambda each: each[0]), key=lambda each: ceil(each[0])):
        several = list(together)
        enqueue_several(queue, ADVANCE_ORDERS, [order for _, order in several], countdown=several[-1][0])


def _periodic_jobs(deps: Dependencies, queue: Celery) -> PeriodicJobs:
    def advance_all(orderids: list[str]) -> None:
        """Oldest first, as many as the queue has room for: most of what is due under a backlog waits in it already."""
        for orderid in orderids[: max(0, SWEEP_FILLS_UPTO - waiting_jobs(queue))]:
            enqueue(queue, ADVANCE_ORDER, orderid)

    def go_on_with_archives() -> None:
        for year in archive_years.unfinished(deps):
            enqueue(queue, ARCHIVE_YEAR, year)

    return {
        FIND_UNFINISHED_ARCHIVES: go_on_with_archives,
        SWEEP_ORDERS: lambda: advance_all(sweep.sweep(deps, dead_letters.skipped_subjects(deps))),
        DEEP_SWEEP_ORDERS: lambda: advance_all(sweep.deep_sweep(deps, dead_letters.skipped_subjects(deps))),
        LOOK_FOR_GOODS: lambda: advance_all(backorders.look_for_goods(deps)),
        CATCH_UP: deps.stores.bulk_reports.catch_up,
        SETTLE_ORDER_CONFLICTS: lambda: conflicts.settle_conflicts(deps),
        COMPLETE_SUMMARIES: lambda: summaries.complete(deps.stores.bulk_summaries),
        REMOVE_EXPIRED_DRAFTS: lambda: drafts.remove_expired(deps),
        REMOVE_OLD_RECORDS: lambda: old_records.remove_old_records(deps, now()),
        CLOSE_PERIODS: lambda: reports.close_ended_periods(deps),
        SEND_DAILY_FIGURES: lambda: daily_figures.send_daily_figures(deps, now()),
        RESTORE_ORDER_INDEXES: lambda: deps.stores.server.restore_indexes(DESIGN, SANDBOX_LEDGER),
    }


def _or_dead_letter(deps: Dependencies, name: str, action: Callable[[], object]) -> None:
    """Shows admins a job that fails for a reason that waiting does not mend."""
    try:
        action()
    except (*TRANSIENT_ERRORS, *QUEUE_ERRORS):
        raise
    except Exception as error:
        _add_dead_letter(deps, name, "all", error, transient=False)
        raise


def _add_dead_letter(
    deps: Dependencies, job: str, subject: str, error: Exception, *, transient: bool
) -> None:
    code = error.code if isinstance(error, AisleError) else type(error).__name__
    dead_letters.add(deps, job, subject, error=code, detail=str(error), transient=transient)
