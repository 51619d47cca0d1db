"""What is done by the clock: every row of the timetable on a thread of its own, in one process of the shop.

No queue lies between the clock and a job, so no backlog of orders delays or drops one, and no slow job holds up another.
A job is begun again only when it has ended; one that fails is run again when it is next due.

`python -m services.worker.timekeeper` runs it alone, `celery worker --timekeeper` in a worker's process.
"""

import logging
import time
from collections.abc import Callable, Sequence
from datetime import timedelta
from threading import Event, Thread
from typing import Final

from celery import Celery
from celery.schedules import maybe_schedule

from services.worker.schedule import Row
from shared.jobs import TRANSIENT_ERRORS, PeriodicJobs
from shared.tracing import span

log = logging.getLogger(__name__)

STOPPING_SECONDS: Final = 8.0
SOON_SECONDS: Final = 10.0
"""After the start no row of an interval waits longer: a process that is started again and again would never come to it."""


class Timetable:
    """Runs `jobs` by the rows' clock until `stop`."""

    def __init__(self, app: Celery, rows: Sequence[Row], jobs: PeriodicJobs) -> None:
        self._stopping = Event()
        self._threads = [
            Thread(target=self._run_row, args=(app, row, jobs[row.job]), name=row.job, daemon=True)
            for row in rows
        ]

    def start(self) -> None:
        for thread in self._threads:
            thread.start()

    def stop(self, seconds: float) -> None:
        """Lets the jobs under way end, for so long at most."""
        self._stopping.set()
        deadline = time.monotonic() + seconds
        for thread in self._threads:
            thread.join(max(0.0, deadline - time.monotonic()))

    def is_alive(self) -> bool:
        return all(thread.is_alive() for thread in self._threads)

    def _run_row(self, app: Celery, row: Row, job: Callable[[], object]) -> None:
        schedule = maybe_schedule(row.due, app=app)
        last = schedule.now()
        if isinstance(row.due, float):
            last -= timedelta(seconds=max(0.0, row.due - SOON_SECONDS))
        while not self._stopping.is_set():
            due, seconds = schedule.is_due(last)
            if due:
                last = schedule.now()
                run(row.job, job)
            else:
                self._stopping.wait(seconds)


def run(name: str, job: Callable[[], object]) -> None:
    """Runs a job once; a failure is logged and ends nothing."""
    try:
        with span(f"job {name}", "internal"):
            job()
    except TRANSIENT_ERRORS as error:
        log.warning("%s waits until it is next due: %s", name, type(error).__name__)
    except Exception:
        log.exception("%s failed", name)
