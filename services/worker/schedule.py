"""What the worker does by the clock: the whole timetable in one table (UTC)."""

from dataclasses import dataclass, replace
from typing import Any, Final

from celery import Celery, bootsteps
from celery.beat import EmbeddedService
from celery.schedules import crontab
from celery.worker import WorkController
from click import Option

from shared.jobs import (
    CATCH_UP,
    CLOSE_BOOKS,
    DEEP_SWEEP_ORDERS,
    FINISH_ERASURES,
    FINISH_MOVES,
    REMOVE_EXPIRED,
    SETTLE_ORDER_CONFLICTS,
    SETTLE_PRODUCT_CONFLICTS,
    SETTLE_USER_CONFLICTS,
    SUM_UP_PRODUCTS,
    SWEEP_ORDERS,
    SWEEP_RESERVATIONS,
)


@dataclass(frozen=True)
class Row:
    """A job and when it is due: every so many seconds, or at a time of day."""

    name: str
    job: str
    due: float | crontab


_TIMEKEEPER: Final = Option(
    ("--timekeeper",), is_flag=True, help="Keep the timetable too; of all workers only one should."
)
UNFINISHED_ORDERS: Final = Row("unfinished orders", SWEEP_ORDERS, 10.0)
TIMETABLE: Final = (
    UNFINISHED_ORDERS,
    Row("unfinished orders of the last hundred days", DEEP_SWEEP_ORDERS, crontab(minute="17")),
    Row("indexes of orders up to date", CATCH_UP, 60.0),
    Row("orders that replicas changed apart", SETTLE_ORDER_CONFLICTS, 30.0),
    Row("close the books of the days and the month that are over", CLOSE_BOOKS, crontab(minute="10")),
    Row("stock and ratings shown on products", SUM_UP_PRODUCTS, 2.0),
    Row("reservations whose time is up", SWEEP_RESERVATIONS, 60.0),
    Row("products and stock that replicas changed apart", SETTLE_PRODUCT_CONFLICTS, 30.0),
    Row("products that moved half-way", FINISH_MOVES, 60.0),
    Row("accounts that replicas changed apart", SETTLE_USER_CONFLICTS, 30.0),
    Row("unfinished erasures", FINISH_ERASURES, 60.0),
    Row("expired sessions and one-time tokens", REMOVE_EXPIRED, crontab(minute="37")),
)


class Timekeeper(bootsteps.StartStopStep):  # type: ignore[misc]  # Celery has no types
    """`worker --timekeeper`: the timetable on a thread of this worker, where Celery's `--beat` starts a second process."""

    def __init__(self, parent: WorkController, timekeeper: bool = False, **options: Any) -> None:
        super().__init__(parent, **options)
        self.enabled = timekeeper

    def create(self, parent: WorkController) -> Any:
        return EmbeddedService(parent.app, thread=True, scheduler_cls=parent.app.conf.beat_scheduler)

    def stop(self, parent: WorkController) -> None:
        self.obj.service.stop()

    terminate = stop


def keep_time(queue: Celery, sweep_seconds: float = UNFINISHED_ORDERS.due) -> None:
    """Gives the timetable to Celery's beat. A job that nobody fetched in time is dropped: the next one is as good."""
    queue.user_options["worker"].add(_TIMEKEEPER)
    queue.steps["worker"].add(Timekeeper)
    rows = [replace(row, due=sweep_seconds) if row is UNFINISHED_ORDERS else row for row in TIMETABLE]
    queue.conf.beat_schedule = {
        row.name: {
            "task": row.job,
            "schedule": row.due,
            "kwargs": {"subject": ""},
            "options": {"expires": row.due if isinstance(row.due, float) else 3600},
        }
        for row in rows
    }
