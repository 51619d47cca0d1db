"""The clock of the worker: what it does soon after a start."""

from threading import Event

import pytest
from celery import Celery
from celery.schedules import crontab

from services.worker import timetable
from services.worker.schedule import Row
from services.worker.timetable import Timetable


def test_a_job_of_every_hour_is_done_soon_after_the_start_too(monkeypatch: pytest.MonkeyPatch) -> None:
    """A process that dies and is started again and again would never do it."""
    monkeypatch.setattr(timetable, "SOON_SECONDS", 0.1)
    hourly, nightly = Event(), Event()
    rows = [
        Row("looks each hour", "hourly", 3600.0),
        Row("looks on 29 February", "nightly", crontab(month_of_year="2", day_of_month="29")),
    ]
    running = Timetable(Celery(), rows, {"hourly": hourly.set, "nightly": nightly.set})
    running.start()
    assert hourly.wait(60)
    running.stop(60)
    assert not nightly.is_set()
