"""Answers about a category, cached in Redis for all replicas and refreshed in the background.

Each change of a product is announced after the write: its category, and each above it, gets a new version, and so does the catalogue.
A request that allows it takes the answer that is there, and when this is of another version, or old, starts making it again on
a thread of its own; a lock lets one replica do so at a time. An index may be late after a write, so the first answer of a
version is followed by a second one, unless the version was some seconds old when it was made.

While the catalogue has the version that it had, a process asks Redis for nothing else.
"""

import logging
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from math import inf
from typing import Any, NamedTuple, cast

import orjson
from redis import Redis
from redis.exceptions import LockError, RedisError

from services.products.documents import partition_of
from shared.background import Background
from shared.couch import is_older, time_ordered_id
from shared.errors import AisleError
from shared.redis import get_or_set

log = logging.getLogger(__name__)

CHECK_SECONDS = 1.0
"""A process looks into Redis so often for what others made or changed."""
CONFIRM_SECONDS = 3.0
WITHOUT_REDIS_SECONDS = 5.0
TTL_SECONDS = 86_400
LOCK_SECONDS = 10
MAX_LOCAL = 300


class Computed(NamedTuple):
    """An answer as JSON, whether the index behind it was up to date, and whether it says nothing: then it is not kept, since
    anyone can ask for categories that do not exist."""

    body: bytes
    up_to_date: bool
    empty: bool


Compute = Callable[[], Computed]


@dataclass
class CachedAnswer:
    """An answer as JSON, when and for which version it was made; `results` are what a process worked out from it, and
    `catalogue_version` is the one under which it was found to be of its category's present version. One that is
    `outdated` is being made again."""

    body: bytes
    version: str | None
    made_at: float
    confirmed: bool
    checked_at: float = 0.0
    catalogue_version: str | None = None
    outdated: bool = False
    results: dict[Any, Any] = field(default_factory=dict)

    def to_json(self) -> bytes:
        about = {"version": self.version, "at": self.made_at, "confirmed": self.confirmed}
        return orjson.dumps(about) + b"\n" + self.body

    @classmethod
    def from_json(cls, text: bytes) -> "CachedAnswer":
        head, _, body = text.partition(b"\n")
        about = orjson.loads(head)
        return cls(body, about["version"], about["at"], about["confirmed"])


@dataclass(frozen=True)
class Question:
    """What is kept under a category's name, and how it is made."""

    category: str
    name: str
    make: Compute
    max_age: float

    @property
    def key(self) -> str:
        return f"{self.category}:{self.name}"


class AnswerCache:
    """`max_age` bounds how long a change made past the API (replication, other tools) can stay unseen.

    Without Redis each process keeps its own, and makes them again every few seconds.
    """

    def __init__(self, redis: Redis, background: Background, database: str, max_age: float) -> None:
        self._redis, self._prefix, self._max_age = redis, f"kept:{database}:", max_age
        self._local: dict[str, CachedAnswer] = {}
        self._catalogue: tuple[str | None, float] = (None, -inf)
        self._refreshing: set[str] = set()
        self._lock = threading.Lock()
        self._background = background

    def get(
        self,
        taxonomy: Sequence[str],
        name: str,
        make: Compute,
        *,
        max_age: float = inf,
        allow_stale: bool = True,
    ) -> CachedAnswer:
        """What is kept under `name` for a category. With `allow_stale` it may be some seconds old, and is made within the
        request only the first time; else whenever something of the category has changed."""
        asked = Question(partition_of(taxonomy), name, make, min(max_age, self._max_age))
        local = self._local.get(asked.key)
        if allow_stale and local is not None and time.monotonic() - local.checked_at < CHECK_SECONDS:
            return local
        catalogue_version = self.catalogue_version()
        if allow_stale and local is not None and self._is_present(asked, local, catalogue_version):
            return local
        found, version, redis_away = self._look_up(asked, local)
        if found is None or (not allow_stale and self._is_due(asked, found, version, redis_away)):
            return self._compute(asked, version, found)
        found.checked_at = time.monotonic()
        self._cache_locally(asked.key, found)
        found.outdated = self._is_due(asked, found, version, redis_away)
        if found.outdated:
            self._compute_in_background(asked)
        else:
            found.catalogue_version = catalogue_version
        return found

    def changed(self, taxonomies: Iterable[Sequence[str]]) -> None:
        """Products of these categories came, went, or have other contents: call it after writing."""
        categories = {
            partition_of(taxonomy[: level + 1]) for taxonomy in taxonomies for level in range(len(taxonomy))
        }
        try:
            pipeline = self._redis.pipeline(transaction=False)
            for category in categories:
                pipeline.set(self._version_key(category), time_ordered_id(), ex=2 * TTL_SECONDS)
            pipeline.set(self.catalogue_key, time_ordered_id(), ex=2 * TTL_SECONDS)  # after the categories'
            pipeline.execute()
        except RedisError as error:
            log.warning("categories cannot be marked as changed: %s", error)
        for key, local in list(self._local.items()):
            if key.rpartition(":")[0] in categories:
                local.checked_at, local.catalogue_version = 0.0, None

    def catalogue_version(self) -> str | None:
        """As it was within the last CHECK_SECONDS, None when Redis cannot tell."""
        version, read_at = self._catalogue
        began = time.monotonic()
        if began - read_at < CHECK_SECONDS:
            return version
        try:
            version = get_or_set(
                self._redis, self.catalogue_key, time_ordered_id(), seconds=2 * TTL_SECONDS
            ).decode()
        except RedisError as error:
            log.warning("the catalogue's version is not readable: %s", error)
            version = None
        self._catalogue = version, began
        return version

    def _is_present(self, asked: Question, local: CachedAnswer, catalogue_version: str | None) -> bool:
        """Whether nothing at all has changed since `local` was found to be good."""
        unchanged = catalogue_version is not None and local.catalogue_version == catalogue_version
        return unchanged and not self._is_due(asked, local, local.version, redis_away=False)

    def _look_up(
        self, asked: Question, local: CachedAnswer | None
    ) -> tuple[CachedAnswer | None, str | None, bool]:
        """What is kept, the category's version now, and whether Redis could not tell."""
        try:
            keys = self._prefix + asked.key, self._version_key(asked.category)
            kept, version = cast(list[bytes | None], self._redis.mget(*keys))
        except RedisError as error:
            log.warning("kept answers are not readable: %s", error)
            return local, None, True
        known = version.decode() if version else None
        if kept is None:
            return None, known, False
        return (
            (local if local is not None and local.to_json() == kept else CachedAnswer.from_json(kept)),
            known,
            False,
        )

    def _is_due(self, asked: Question, found: CachedAnswer, version: str | None, redis_away: bool) -> bool:
        age = time.time() - found.made_at
        if redis_away:
            return age >= WITHOUT_REDIS_SECONDS
        if found.version != version:
            return True
        return age >= (asked.max_age if found.confirmed else CONFIRM_SECONDS)

    def _compute(self, asked: Question, version: str | None, before: CachedAnswer | None) -> CachedAnswer:
        began, made = time.time(), asked.make()
        confirmed = made.up_to_date and (
            _is_settled(version) or (before is not None and before.version == version)
        )
        found = CachedAnswer(made.body, version, began, confirmed, time.monotonic())
        try:
            if not made.empty:
                self._redis.set(self._prefix + asked.key, found.to_json(), ex=TTL_SECONDS)
            elif before is not None:
                self._redis.delete(self._prefix + asked.key)
        except RedisError as error:
            log.warning("answers cannot be kept: %s", error)
        if made.empty:
            with self._lock:
                self._local.pop(asked.key, None)
        else:
            self._cache_locally(asked.key, found)
        return found

    def _compute_in_background(self, asked: Question) -> None:
        with self._lock:
            if asked.key in self._refreshing:
                return
            self._refreshing.add(asked.key)
        self._background.run(self._refresh, asked)

    def _refresh(self, asked: Question) -> None:
        try:
            self._refresh_locked(asked)
        except AisleError as error:
            log.warning("%s could not be made again: %s", asked.key, error)
        except RedisError as error:
            log.warning("kept answers cannot be locked: %s", error)
            with suppress(AisleError):
                self._compute(asked, None, None)
        finally:
            with self._lock:
                self._refreshing.discard(asked.key)

    def _refresh_locked(self, asked: Question) -> None:
        lock = self._redis.lock(f"{self._prefix}lock:{asked.key}", timeout=LOCK_SECONDS, blocking=False)
        if not lock.acquire():
            return
        try:
            found, version, redis_away = self._look_up(asked, self._local.get(asked.key))
            if found is None or self._is_due(asked, found, version, redis_away):
                self._compute(asked, version, found)
        finally:
            with suppress(LockError, RedisError):
                lock.release()

    def _cache_locally(self, key: str, found: CachedAnswer) -> None:
        with self._lock:
            if key not in self._local and len(self._local) >= MAX_LOCAL:
                del self._local[next(iter(self._local))]
            self._local[key] = found

    @property
    def catalogue_key(self) -> str:
        return f"{self._prefix}catalogue-version"

    def _version_key(self, category: str) -> str:
        return f"{self._prefix}version:{category}"


def _is_settled(version: str | None) -> bool:
    """Whether every index has had the time to take in the change that gave this version."""
    return version is None or is_older(version, CONFIRM_SECONDS)
