"""Background jobs of the users service, each a call to an action that may run any number of times; only the worker imports this."""

import os
from collections.abc import Callable
from functools import partial

from celery import Celery

from services.users.actions import stock_alerts
from services.users.actions.conflicts import settle_conflicts
from services.users.actions.privacy import finish_erasures
from services.users.actions.sessions import remove_expired
from services.users.dependencies import JobDependencies, open_job_dependencies
from services.users.documents import DESIGN
from services.users.settings import JobSettings
from shared.clock import now
from shared.errors import Unavailable
from shared.jobs import (
    FINISH_ERASURES,
    NOTIFY_IN_STOCK,
    REMOVE_EXPIRED,
    RESTORE_USER_INDEXES,
    SETTLE_USER_CONFLICTS,
    PeriodicJobs,
    task,
)
from shared.settings import load

_JOBS: dict[str, Callable[[JobDependencies], object]] = {
    SETTLE_USER_CONFLICTS: settle_conflicts,
    FINISH_ERASURES: finish_erasures,
    NOTIFY_IN_STOCK: lambda deps: stock_alerts.notify(deps, now()),
    REMOVE_EXPIRED: remove_expired,
    RESTORE_USER_INDEXES: lambda deps: deps.store.server.restore_indexes(DESIGN),
}


def register(queue: Celery) -> PeriodicJobs:
    """Adds this service's jobs to the worker's queue; what is returned is due by the clock. While something is away they wait for their next turn."""
    deps = open_job_dependencies(load(JobSettings, os.environ))
    jobs: PeriodicJobs = {name: partial(action, deps) for name, action in _JOBS.items()}
    for name, action in jobs.items():

        @task(queue, name, throws=(Unavailable,))
        def job(subject: str = "", action: Callable[[], object] = action) -> None:
            action()

    return jobs
