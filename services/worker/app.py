"""The Celery application: `celery -A services.worker.app worker`. It knows the services only by their tasks."""

import os

from celery import Celery
from celery.signals import heartbeat_sent, setup_logging

from services.orders import tasks as orders
from services.products import tasks as products
from services.users import tasks as users
from services.worker.heartbeat import Heartbeat
from services.worker.schedule import keep_time
from services.worker.settings import Settings
from services.worker.traces import trace_jobs
from shared.jobs import open_queue
from shared.logs import log_as_json
from shared.settings import load


def create_worker(settings: Settings | None = None) -> Celery:
    """The queue with every service's jobs and the timetable."""
    settings = settings or load(Settings, os.environ)
    queue = open_queue(settings.redis_url)
    setup_logging.connect(lambda **_: log_as_json("worker", settings.log_level), weak=False)
    trace_jobs(settings.otlp_endpoint)
    heartbeat = Heartbeat(settings.heartbeat_file)
    heartbeat_sent.connect(lambda **_: heartbeat.beat(), weak=False)
    orders.register(queue)
    products.register(queue)
    users.register(queue)
    keep_time(queue, settings.sweep_seconds)
    return queue


app = create_worker()
