"""Background jobs of the products service, each a call to an action that may run any number of times; only the worker imports this."""

import os
from collections.abc import Callable
from functools import partial

from celery import Celery

from services.products.actions import (
    category_moves,
    conflicts,
    maintenance,
    publishing,
    query_counts,
    stock_roll_up,
    supplier_deliveries,
    word_learning,
)
from services.products.dependencies import Dependencies, open_dependencies
from services.products.settings import Settings
from shared.clock import now
from shared.couch import UpdateConflict
from shared.errors import Unavailable
from shared.jobs import (
    CORRECT_STOCK,
    COUNT_SEARCHES,
    DEEP_CORRECT_STOCK,
    FINISH_MOVES,
    FINISH_RECEIPTS,
    LEARN_WORDS,
    MOVE_CATEGORIES,
    PUBLISH_PRODUCTS,
    REFRESH_SALE_PRICES,
    RESTORE_PRODUCT_INDEXES,
    ROLL_UP_STOCK,
    SETTLE_PRODUCT_CONFLICTS,
    SUM_UP_PRODUCTS,
    SWEEP_RESERVATIONS,
    PeriodicJobs,
    task,
)
from shared.settings import load

JOB_TIMEOUT = 20.0

_JOBS: dict[str, Callable[[Dependencies], object]] = {
    SUM_UP_PRODUCTS: maintenance.sum_up,
    SWEEP_RESERVATIONS: lambda deps: maintenance.sweep(deps, now()),
    CORRECT_STOCK: lambda deps: maintenance.correct_settled(deps, now()),
    DEEP_CORRECT_STOCK: lambda deps: maintenance.correct_settled_of_two_days(deps, now()),
    ROLL_UP_STOCK: lambda deps: stock_roll_up.roll_up(deps.bulk, now()),
    SETTLE_PRODUCT_CONFLICTS: conflicts.settle_conflicts,
    FINISH_MOVES: lambda deps: maintenance.finish_moves(deps, now()),
    FINISH_RECEIPTS: lambda deps: supplier_deliveries.finish_receipts(deps, now()),
    PUBLISH_PRODUCTS: lambda deps: publishing.publish_due(deps, now()),
    MOVE_CATEGORIES: lambda deps: category_moves.move_products(deps, now()),
    REFRESH_SALE_PRICES: lambda deps: maintenance.refresh_sale_prices(deps, now()),
    COUNT_SEARCHES: lambda deps: query_counts.flush(deps, now()),
    LEARN_WORDS: word_learning.learn_words,
    RESTORE_PRODUCT_INDEXES: lambda deps: deps.server.restore_indexes(deps.design),
}


def register(queue: Celery) -> PeriodicJobs:
    """Adds this service's jobs to the worker's queue; what is returned is due by the clock.

    One that meets another worker, or finds something away, waits for its next turn.
    """
    deps = open_dependencies(load(Settings, os.environ), JOB_TIMEOUT)
    jobs: PeriodicJobs = {name: partial(action, deps) for name, action in _JOBS.items()}
    for name, action in jobs.items():

        @task(queue, name, throws=(Unavailable, UpdateConflict))
        def job(subject: str = "", action: Callable[[], object] = action) -> None:
            action()

    return jobs
