"""Background jobs of the users service, each a call to an action that may run any number of times; only the worker imports this."""

import os

from celery import Celery

from services.users.actions.conflicts import settle_conflicts
from services.users.actions.privacy import finish_erasures
from services.users.actions.sessions import remove_expired
from services.users.actions.tools import open_job_tools
from services.users.settings import JobSettings
from shared.errors import Unavailable
from shared.jobs import FINISH_ERASURES, REMOVE_EXPIRED, SETTLE_USER_CONFLICTS, task
from shared.settings import load

_JOBS = {
    SETTLE_USER_CONFLICTS: settle_conflicts,
    FINISH_ERASURES: finish_erasures,
    REMOVE_EXPIRED: remove_expired,
}


def register(queue: Celery) -> None:
    """Adds this service's jobs to the worker's queue; while something is away they wait for their next turn."""
    tools = open_job_tools(load(JobSettings, os.environ))
    for name, action in _JOBS.items():

        @task(queue, name, throws=(Unavailable,))
        def job(subject: str = "", action=action) -> None:
            action(tools)
