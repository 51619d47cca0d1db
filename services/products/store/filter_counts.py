"""What a category's filters count, kept in Redis for all replicas and counted again behind the requests.

Whoever changes a product says so after writing: its category gets a new version. A request that allows it takes the counts
that are there, and when these are of another version, or old, starts a count on a thread of its own; a lock lets one replica
count at a time. An index may be late after a write, so the first count of a version is followed by a second one.
"""

import logging
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, cast

import orjson
from redis import Redis
from redis.exceptions import LockError, RedisError

from services.products.documents import partition_of
from services.products.rules.facets import Row
from shared.couch import time_ordered_id
from shared.errors import AisleError

log = logging.getLogger(__name__)

CHECK_SECONDS = 1.0
"""A process looks into Redis so often for what others counted or changed."""
CONFIRM_SECONDS = 3.0
WITHOUT_REDIS_SECONDS = 5.0
KEEP_SECONDS = 86_400
LOCK_SECONDS = 10
MAX_CATEGORIES = 300

CountRows = Callable[[Sequence[str]], list[Row] | None]


@dataclass
class Counted:
    """The rows of a category as JSON (null: too many to keep), when and for which version they were counted."""

    rows: bytes
    version: str | None
    counted_at: float
    confirmed: bool
    checked_at: float = 0.0
    results: dict[Any, Any] = field(default_factory=dict)

    def to_json(self) -> bytes:
        about = {"version": self.version, "at": self.counted_at, "confirmed": self.confirmed}
        return orjson.dumps(about) + b"\n" + self.rows

    @classmethod
    def from_json(cls, text: bytes) -> "Counted":
        head, _, rows = text.partition(b"\n")
        about = orjson.loads(head)
        return cls(rows, about["version"], about["at"], about["confirmed"])

    def load_rows(self) -> list[Row] | None:
        rows: list[Row] | None = orjson.loads(self.rows)
        return rows


class FilterCounts:
    """`max_age` bounds how long a change made past the API (replication, other tools) can stay unseen."""

    def __init__(self, redis: Redis, database: str, count_rows: CountRows, max_age: float) -> None:
        self._redis, self._prefix, self._count_rows, self._max_age = (
            redis,
            f"filter-counts:{database}:",
            count_rows,
            max_age,
        )
        self._near: dict[str, Counted] = {}
        self._refreshing: set[str] = set()
        self._lock = threading.Lock()
        self._behind = ThreadPoolExecutor(1, "filter-counts")

    def get(self, taxonomy: Sequence[str], *, allow_stale: bool) -> Counted:
        """What the category's filters count. With `allow_stale` it may be some seconds old, and costs no database call but
        the first time; else at most 1 partition query."""
        partition = partition_of(taxonomy)
        near = self._near.get(partition)
        if allow_stale and near is not None and time.monotonic() - near.checked_at < CHECK_SECONDS:
            return near
        found, version, redis_away = self._look_up(partition, near)
        if found is None or (not allow_stale and self._is_due(found, version, redis_away)):
            return self._count(taxonomy, version, found)
        found.checked_at = time.monotonic()
        self._keep_near(partition, found)
        if self._is_due(found, version, redis_away):
            self._count_behind(taxonomy)
        return found

    def changed(self, taxonomies: Iterable[Sequence[str]]) -> None:
        """Products of these categories came, went, or have other brands, colours or prices: call it after writing."""
        partitions = {partition_of(taxonomy) for taxonomy in taxonomies}
        try:
            pipeline = self._redis.pipeline(transaction=False)
            for partition in partitions:
                pipeline.set(self._version_key(partition), time_ordered_id(), ex=2 * KEEP_SECONDS)
            pipeline.execute()
        except RedisError as error:
            log.warning("categories cannot be marked as changed: %s", error)
        for partition in partitions:
            if near := self._near.get(partition):
                near.checked_at = 0.0

    def _look_up(self, partition: str, near: Counted | None) -> tuple[Counted | None, str | None, bool]:
        """What is kept, the category's version now, and whether Redis could not tell."""
        try:
            keys = self._key(partition), self._version_key(partition)
            kept, version = cast(list[bytes | None], self._redis.mget(*keys))
        except RedisError as error:
            log.warning("counts of filters are not readable: %s", error)
            return near, None, True
        known = version.decode() if version else None
        if kept is None:
            return None, known, False
        return (
            (near if near is not None and near.to_json() == kept else Counted.from_json(kept)),
            known,
            False,
        )

    def _is_due(self, found: Counted, version: str | None, redis_away: bool) -> bool:
        age = time.time() - found.counted_at
        if redis_away:
            return age >= WITHOUT_REDIS_SECONDS
        if found.version != version:
            return True
        return age >= (self._max_age if found.confirmed else CONFIRM_SECONDS)

    def _count(self, taxonomy: Sequence[str], version: str | None, before: Counted | None) -> Counted:
        """1 partition query."""
        partition, began = partition_of(taxonomy), time.time()
        rows = self._count_rows(taxonomy)
        again = before is not None and before.version == version
        found = Counted(orjson.dumps(rows), version, began, again, time.monotonic())
        try:
            self._redis.set(self._key(partition), found.to_json(), ex=KEEP_SECONDS)
        except RedisError as error:
            log.warning("counts of filters are not writable: %s", error)
        self._keep_near(partition, found)
        return found

    def _count_behind(self, taxonomy: Sequence[str]) -> None:
        partition = partition_of(taxonomy)
        with self._lock:
            if partition in self._refreshing:
                return
            self._refreshing.add(partition)
        self._behind.submit(self._refresh, taxonomy, partition)

    def _refresh(self, taxonomy: Sequence[str], partition: str) -> None:
        try:
            self._refresh_alone(taxonomy, partition)
        except AisleError as error:
            log.warning("filters of %s could not be counted again: %s", partition, error)
        except RedisError as error:
            log.warning("counts of filters cannot be locked: %s", error)
            with suppress(AisleError):
                self._count(taxonomy, None, None)
        finally:
            with self._lock:
                self._refreshing.discard(partition)

    def _refresh_alone(self, taxonomy: Sequence[str], partition: str) -> None:
        lock = self._redis.lock(f"{self._prefix}lock:{partition}", timeout=LOCK_SECONDS, blocking=False)
        if not lock.acquire():
            return
        try:
            found, version, redis_away = self._look_up(partition, self._near.get(partition))
            if found is None or self._is_due(found, version, redis_away):
                self._count(taxonomy, version, found)
        finally:
            with suppress(LockError, RedisError):
                lock.release()

    def _keep_near(self, partition: str, found: Counted) -> None:
        if partition not in self._near and len(self._near) >= MAX_CATEGORIES:
            self._near = {}
        self._near[partition] = found

    def _key(self, partition: str) -> str:
        return f"{self._prefix}{partition}"

    def _version_key(self, partition: str) -> str:
        return f"{self._prefix}version:{partition}"
