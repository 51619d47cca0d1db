"""`python -m services.worker.follower`: the changes feed is the queue of record, this turns changes into jobs.

It reads all changes and chooses its own: a filter in the database reads them all as well, and answers no sequence to
continue from while nothing matches, so that a follower behind a large import would begin again and again.

The sequence reached is stored in the database, so neither a killed follower nor an emptied Redis loses anything.
Followers share the changes by shards of the subject's hash; each shard has its own checkpoint and one follower at a time.
"""

import logging
import os
import signal
import sys
import time
import zlib
from collections.abc import Iterable
from contextlib import suppress
from threading import Event, Thread
from typing import Any

from celery import Celery
from kombu.exceptions import OperationalError
from redis import Redis
from redis.exceptions import RedisError

from services.orders.feed import FEED
from services.worker.heartbeat import Heartbeat
from services.worker.leases import Leases
from services.worker.settings import Settings
from shared import tracing
from shared.couch import Change, Database, DatabaseDesign, Server
from shared.database import open_server
from shared.errors import AisleError
from shared.jobs import Feed, Subject, enqueue, enqueue_several, open_queue
from shared.logs import log_as_json
from shared.settings import load

log = logging.getLogger(__name__)

WAIT_SECONDS = 4
BATCH = 500
CHECKPOINT_SECONDS, BATCH_SECONDS = 1.0, 0.1
IDLE_SECONDS, RETRY_SECONDS = 2.0, 1.0


class ShardFollower:
    """Follows one shard of one feed."""

    def __init__(
        self, database: Database, feed: Feed, queue: Celery, leases: Leases, shard: int, shards: int
    ) -> None:
        self._database, self._feed, self._queue = database, feed, queue
        self._leases, self._shard, self._shards = leases, shard, shards
        self._checkpoint = f"follower-{shard}-of-{shards}"
        self.last_active = time.monotonic()

    def follow(self, stop: Event) -> None:
        """Until `stop`: takes the shard when it may, and works through its changes."""
        while not stop.is_set():
            self.last_active = time.monotonic()
            try:
                if self._leases.hold(self._shard):
                    self._work(stop)
                else:
                    stop.wait(IDLE_SECONDS)
            except (AisleError, RedisError, OperationalError) as error:
                log.warning("shard %s waits: %s", self._shard, type(error).__name__)
                stop.wait(RETRY_SECONDS)

    def _work(self, stop: Event) -> None:
        checkpoint = self._database.get_local(self._checkpoint) or {"since": "0"}
        since, saved = checkpoint["since"], time.monotonic()
        while not stop.is_set() and self._leases.hold(self._shard):
            self.last_active = time.monotonic()
            found = self._database.changes(since, limit=BATCH, wait=WAIT_SECONDS)
            self._enqueue_jobs(found.rows)
            since = found.last_seq
            if since != checkpoint["since"] and time.monotonic() - saved > CHECKPOINT_SECONDS:
                checkpoint, saved = self._save_checkpoint(since), time.monotonic()
            if 0 < len(found.rows) < BATCH:
                stop.wait(BATCH_SECONDS)
        if since != checkpoint["since"]:
            self._save_checkpoint(since)

    def _enqueue_jobs(self, changes: Iterable[Change]) -> None:
        """One job for each subject, however many of its documents changed; subjects of one job together where it takes several."""
        for job, subjects in self._jobs(changes).items():
            several = self._feed.several.get(job)
            if several is not None and len(subjects) > 1:
                enqueue_several(self._queue, several, list(subjects.values()))
                continue
            for subject in subjects.values():
                with tracing.span("change", "producer", subject.headers()):
                    enqueue(self._queue, job, subject.id)

    def _jobs(self, changes: Iterable[Change]) -> dict[str, dict[str, Subject]]:
        """{job: {its subject's id: the subject, with the trace of the first change}}."""
        jobs: dict[str, dict[str, Subject]] = {}
        for change in changes:
            found = self._job(change)
            if found is not None:
                job, subject = found
                jobs.setdefault(job, {}).setdefault(subject.id, subject)
        return jobs

    def _job(self, change: Change) -> tuple[str, Subject] | None:
        """What a change calls for, where it is this shard's."""
        if change.deleted or not change.doc or "type" not in change.doc:
            return None
        route = self._feed.routes.get(change.doc["type"])
        if route is None or not self._feed.is_relevant(change.doc):
            return None
        job, field = route
        subject = change.doc[field]
        if zlib.crc32(subject.encode()) % self._shards != self._shard:
            return None
        return job or change.doc["job"], Subject(subject, change.doc.get("traceparent", ""))

    def _save_checkpoint(self, since: str) -> dict[str, Any]:
        stored = self._database.get_local(self._checkpoint) or {}
        checkpoint = {**stored, "since": since, "date": time.time()}
        self._database.put_local(self._checkpoint, checkpoint)
        return checkpoint


def main() -> int:
    settings = load(Settings, os.environ)
    log_as_json("follower", settings.log_level)
    tracing.switch_on("follower", settings.otlp_endpoint)
    server = open_server(settings)
    stop = Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stop.set())
    leases = Leases(Redis.from_url(settings.redis_url), settings.follower_shards)
    followers = _followers(settings, server, open_queue(settings.redis_url), leases)
    threads = [Thread(target=follower.follow, args=(stop,), daemon=True) for follower in followers]
    heartbeat = Heartbeat(settings.heartbeat_file, *(lambda one=one: one.last_active for one in followers))
    for thread in threads:
        thread.start()
    log.info("following the changes of %s", FEED.database)
    while not stop.wait(1.0):
        if not all(thread.is_alive() for thread in threads):
            log.error("a follower thread ended; this process ends too, to be restarted")
            return 1
        heartbeat.beat()
    with suppress(RedisError):  # without Redis they end by themselves
        leases.close()
    return 0


def _followers(settings: Settings, server: Server, queue: Celery, leases: Leases) -> list[ShardFollower]:
    database = server.open(DatabaseDesign(FEED.database, ()))
    shards = settings.follower_shards
    return [ShardFollower(database, FEED, queue, leases, shard, shards) for shard in range(shards)]


if __name__ == "__main__":
    sys.exit(main())
