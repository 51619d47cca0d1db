"""Background jobs of the products service, each a call to an action that may run any number of times; only the worker imports this."""

import os
from collections.abc import Callable

from celery import Celery

from services.products.actions import upkeep
from services.products.settings import Settings
from services.products.store import Store, open_server, open_store
from shared.clock import now
from shared.couch import UpdateConflict
from shared.errors import Unavailable
from shared.jobs import FINISH_MOVES, SETTLE_PRODUCT_CONFLICTS, SUM_UP_PRODUCTS, SWEEP_RESERVATIONS, task
from shared.settings import load

PATIENCE = 20.0

_JOBS: dict[str, Callable[[Store], object]] = {
    SUM_UP_PRODUCTS: upkeep.sum_up,
    SWEEP_RESERVATIONS: lambda store: upkeep.sweep(store, now()),
    SETTLE_PRODUCT_CONFLICTS: upkeep.settle_conflicts,
    FINISH_MOVES: lambda store: upkeep.finish_moves(store, now()),
}


def register(queue: Celery) -> None:
    """Adds this service's jobs to the worker's queue; one that meets another worker, or finds something away, waits for its next turn."""
    settings = load(Settings, os.environ)
    store = open_store(settings, open_server(settings, PATIENCE))
    for name, action in _JOBS.items():

        @task(queue, name, throws=(Unavailable, UpdateConflict))
        def job(subject: str = "", action: Callable[[Store], object] = action) -> None:
            action(store)
