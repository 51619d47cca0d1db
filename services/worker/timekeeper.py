"""`python -m services.worker.timekeeper`: the timetable as a process of its own, where several workers share the queue."""

import os
import signal
import sys
from threading import Event

from services.worker.heartbeat import Heartbeat
from services.worker.jobs import register_jobs
from services.worker.schedule import timetable
from services.worker.settings import Settings
from services.worker.timetable import STOPPING_SECONDS, Timetable
from shared import tracing
from shared.jobs import open_queue
from shared.logs import log_as_json
from shared.settings import load


def main() -> int:
    settings = load(Settings, os.environ)
    log_as_json("timekeeper", settings.log_level)
    tracing.switch_on("timekeeper", settings.otlp_endpoint)
    stop = Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stop.set())
    queue = open_queue(settings.redis_url)
    running = Timetable(queue, timetable(settings.sweep_seconds), register_jobs(queue))
    heartbeat = Heartbeat(settings.heartbeat_file)
    running.start()
    while not stop.wait(1.0):
        if not running.is_alive():
            return 1
        heartbeat.beat()
    running.stop(STOPPING_SECONDS)
    return 0


if __name__ == "__main__":
    sys.exit(main())
