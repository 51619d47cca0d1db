"""Background jobs: their names, the one thing each is about, and how to ask for one. The worker does them.

The queue only carries work: whatever is lost with it is found again from the database. So a job takes a single
`subject` (an order's or a report's id), or several that came together, and may be done twice.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, TypeVar

from celery import Celery
from kombu.exceptions import ChannelError
from kombu.transport import redis
from redis.exceptions import ConnectionError as RedisConnectionError

from shared.couch import UpdateConflict
from shared.errors import Unavailable
from shared.tracing import outgoing

ADVANCE_ORDER: Final = "orders.advance"
ADVANCE_ORDERS: Final = "orders.advance_several"
COMPUTE_REPORT: Final = "orders.report"
ARCHIVE_YEAR: Final = "orders.archive_year"
FIND_UNFINISHED_ARCHIVES: Final = "orders.find_unfinished_archives"
SWEEP_ORDERS: Final = "orders.sweep"
DEEP_SWEEP_ORDERS: Final = "orders.deep_sweep"
LOOK_FOR_GOODS: Final = "orders.look_for_goods"
CATCH_UP: Final = "orders.catch_up"
SETTLE_ORDER_CONFLICTS: Final = "orders.settle_conflicts"
CLOSE_PERIODS: Final = "orders.close_periods"
SEND_DAILY_FIGURES: Final = "orders.send_daily_figures"
SUMMARISE_ORDER: Final = "orders.summarise"
COMPLETE_SUMMARIES: Final = "orders.complete_summaries"
SUM_UP_PRODUCTS: Final = "products.sum_up"
SWEEP_RESERVATIONS: Final = "products.sweep_reservations"
CORRECT_STOCK: Final = "products.correct_stock"
DEEP_CORRECT_STOCK: Final = "products.deep_correct_stock"
ROLL_UP_STOCK: Final = "products.roll_up_stock"
FINISH_MOVES: Final = "products.finish_moves"
FINISH_RECEIPTS: Final = "products.finish_receipts"
PUBLISH_PRODUCTS: Final = "products.publish"
REFRESH_SALE_PRICES: Final = "products.refresh_sale_prices"
MOVE_CATEGORIES: Final = "products.move_categories"
COUNT_SEARCHES: Final = "products.count_searches"
LEARN_WORDS: Final = "products.learn_words"
SETTLE_PRODUCT_CONFLICTS: Final = "products.settle_conflicts"
SETTLE_USER_CONFLICTS: Final = "users.settle_conflicts"
FINISH_ERASURES: Final = "users.finish_erasures"
NOTIFY_IN_STOCK: Final = "users.notify_in_stock"
REMOVE_EXPIRED: Final = "users.remove_expired"
REMOVE_EXPIRED_DRAFTS: Final = "orders.remove_expired_drafts"
REMOVE_OLD_RECORDS: Final = "orders.remove_old_records"
RESTORE_ORDER_INDEXES: Final = "orders.restore_indexes"
RESTORE_PRODUCT_INDEXES: Final = "products.restore_indexes"
RESTORE_USER_INDEXES: Final = "users.restore_indexes"

FORMER_NAMES: Final = {"orders.close_books": CLOSE_PERIODS}
"""What jobs were called until 0.1: those that were queued or became dead letters then still carry these names."""

TRANSIENT_ERRORS: Final = (Unavailable, UpdateConflict)
"""Errors that need no attention: something is unavailable, or another process was first. The job is done again."""

Job = TypeVar("Job", bound=Callable[..., None])

PeriodicJobs = dict[str, Callable[[], object]]
"""What the timetable runs, by the job's name. Every one may run twice at a time, or not at all for a while."""

QUEUE: Final = "aisle"
MAX_COUNTDOWN: Final = 60
"""Seconds a job may wait in the queue; what is due later is found by the sweep."""

MAX_SUBJECTS: Final = 16
"""Subjects of one job at most: a message costs the worker something, too, and a job is to end well before it is delivered again."""

_REDELIVERED_AFTER = 2 * MAX_COUNTDOWN


@dataclass(frozen=True)
class Feed:
    """Which changes of a database are work: `routes` maps a document's type to (job, the field that holds its subject).

    A job of None means that the document itself names the job in `job`. `is_relevant` says of a document with a route whether
    there is something to do about it. `several` maps a job to the one that does it for many subjects.
    """

    database: str
    routes: dict[str, tuple[str | None, str]]
    is_relevant: Callable[[dict[str, Any]], bool]
    several: Mapping[str, str] = field(default_factory=dict)


def task(queue: Celery, name: str, **options: Any) -> Callable[[Job], Job]:
    """Registers a job under `name`; `options` are Celery's."""
    register: Callable[[Job], Job] = queue.task(name=name, **options)
    return register


class Channel(redis.Channel):
    """Survives that Redis goes while messages are in hand: kombu 5.7 asks the closed connection for its address, and the worker ends.

    Unacknowledged messages stay where they are: they come again by themselves, and the sweep is quicker.
    """

    do_restore = False

    def _connparams(self, asynchronous: bool = False) -> dict[str, Any]:
        if self.connection is None or self.connection.client is None:
            raise RedisConnectionError("This connection to Redis was closed.")
        parameters: dict[str, Any] = super()._connparams(asynchronous)  # type: ignore[no-untyped-call]  # kombu has no types
        return parameters


class Transport(redis.Transport):
    """Redis with our channel."""

    Channel = Channel


def open_queue(redis_url: str) -> Celery:
    """The queue, for those who ask for jobs and for the worker. No connection is made."""
    queue = Celery("aisle", broker=redis_url)
    queue.conf.update(
        broker_transport=f"{__name__}:Transport",
        task_default_queue=QUEUE,
        task_acks_late=True,
        task_ignore_result=True,
        task_serializer="json",
        accept_content=["json"],
        worker_prefetch_multiplier=1,
        worker_hijack_root_logger=False,
        worker_cancel_long_running_tasks_on_connection_loss=False,
        broker_connection_retry_on_startup=True,
        broker_connection_max_retries=None,
        broker_transport_options={"visibility_timeout": _REDELIVERED_AFTER, "socket_timeout": 10},
        enable_utc=True,
        timezone="UTC",
    )
    return queue


def waiting_jobs(queue: Celery) -> int:
    """How many jobs no worker has taken yet. Raises kombu's OperationalError while Redis is away."""
    with queue.connection_or_acquire() as connection, connection.channel() as channel:
        try:
            return int(channel.queue_declare(QUEUE, passive=True).message_count)
        except ChannelError:  # a queue without jobs does not exist
            return 0


@dataclass(frozen=True)
class Subject:
    """What one of a job's several subjects is, and the trace that asked for it (`traceparent`, or "")."""

    id: str
    traceparent: str = ""

    def headers(self) -> dict[str, str]:
        return {"traceparent": self.traceparent}


def enqueue(queue: Celery, job: str, subject: str = "", *, countdown: float = 0) -> None:
    """Asks for a job, `countdown` seconds from now (at most MAX_COUNTDOWN). Raises kombu's OperationalError while Redis is away."""
    wait = min(countdown, MAX_COUNTDOWN) or None
    queue.send_task(job, kwargs={"subject": subject}, countdown=wait, headers=outgoing())


def enqueue_several(queue: Celery, job: str, subjects: Sequence[Subject], *, countdown: float = 0) -> None:
    """Asks for a job that takes `subjects`, in as few messages as MAX_SUBJECTS allows; else as `enqueue`."""
    wait = min(countdown, MAX_COUNTDOWN) or None
    for start in range(0, len(subjects), MAX_SUBJECTS):
        some = [[subject.id, subject.traceparent] for subject in subjects[start : start + MAX_SUBJECTS]]
        queue.send_task(job, kwargs={"subjects": some}, countdown=wait)


def subjects_of(message: Sequence[Sequence[str]]) -> Iterator[Subject]:
    """What `enqueue_several` put into the job's argument."""
    return (Subject(*each) for each in message)
