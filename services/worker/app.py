"""The Celery application: `celery -A services.worker.app worker`. It knows the services only by their tasks.

`worker --timekeeper` keeps the timetable in its own process as well; of all workers only one should.
"""

import logging
import os
from typing import Any

from celery import Celery, bootsteps
from celery.signals import heartbeat_sent, setup_logging
from celery.worker import WorkController
from celery.worker.consumer import Consumer
from celery.worker.state import maybe_shutdown
from click import Option

from services.worker.heartbeat import Heartbeat
from services.worker.jobs import register_jobs
from services.worker.schedule import timetable
from services.worker.settings import Settings
from services.worker.timetable import STOPPING_SECONDS, Timetable
from services.worker.traces import trace_jobs
from shared.jobs import PeriodicJobs, open_queue
from shared.logs import log_as_json
from shared.settings import load

log = logging.getLogger(__name__)


def create_worker(settings: Settings | None = None) -> Celery:
    """The queue with every service's jobs, and the timetable for who keeps it."""
    settings = settings or load(Settings, os.environ)
    queue = open_queue(settings.redis_url)
    setup_logging.connect(lambda **_: log_as_json("worker", settings.log_level), weak=False)
    trace_jobs(settings.otlp_endpoint)
    heartbeat = Heartbeat(settings.heartbeat_file)
    heartbeat_sent.connect(lambda **_: heartbeat.beat(), weak=False)
    queue.conf.worker_consumer = waiting_consumer(heartbeat)
    jobs = register_jobs(queue)
    queue.user_options["worker"].add(
        Option(
            ("--timekeeper",), is_flag=True, help="Keep the timetable too; of all workers only one should."
        )
    )
    queue.steps["worker"].add(timekeeper(queue, jobs, settings))
    return queue


def waiting_consumer(heartbeat: Heartbeat) -> type[Consumer]:
    """Celery's consumer, which shows that it lives while it waits for Redis as well: to start it again would bring Redis back no sooner."""

    class WaitingConsumer(Consumer):  # type: ignore[misc]  # Celery has no types
        def ensure_connected(self, conn: Any) -> Any:
            connected = conn.ensure_connection(self._report, callback=self._wait)
            self.first_connection_attempt = False
            return connected

        def _report(self, error: Exception, interval: float) -> None:
            log.error("Redis does not answer, trying again in %.0f s: %s", interval, error)

        def _wait(self) -> None:
            """Every second."""
            heartbeat.beat()
            maybe_shutdown()

    return WaitingConsumer


def timekeeper(queue: Celery, jobs: PeriodicJobs, settings: Settings) -> type[bootsteps.StartStopStep]:
    """The step of a worker's start that keeps the timetable beside the queue."""

    class Timekeeper(bootsteps.StartStopStep):  # type: ignore[misc]  # Celery has no types
        def __init__(self, parent: WorkController, timekeeper: bool = False, **options: Any) -> None:
            super().__init__(parent, **options)
            self.enabled = timekeeper

        def create(self, parent: WorkController) -> Timetable:
            return Timetable(queue, timetable(settings.sweep_seconds), jobs)

        def stop(self, parent: WorkController) -> None:
            self.obj.stop(STOPPING_SECONDS)

        terminate = stop

    return Timekeeper


app = create_worker()
