"""What is read whole and asked in every request, such as the rules of search: documents that a process has at hand."""

import hashlib
import logging
import threading
import time
from collections.abc import Callable, Sequence
from math import inf
from typing import Any, Generic, TypeVar, cast

import orjson
from redis import Redis
from redis.exceptions import RedisError

from shared.background import Background
from shared.couch import Document, generation, is_older, time_ordered_id
from shared.errors import AisleError, Unavailable
from shared.redis import get_or_set

CHECK_SECONDS, CONFIRM_SECONDS, MAX_AGE_SECONDS, TTL_SECONDS = 0.1, 5, 60, 24 * 3600
RETRY_AFTER_SECONDS = 2
OVERDUE_SECONDS = 0.9
WRITER_SECONDS = 1.0
"""So long the others leave it to the writer of a new version to read the documents: it knows what it wrote."""
RETRY_SECONDS = 1.0
"""What did not answer is asked again after so long."""

log = logging.getLogger(__name__)

T = TypeVar("T")
"""What a process makes of the documents, once for each version of them."""


class DocumentCache(Generic[T]):
    """Documents are kept in Redis under the version that their last change gave them, and ready to be asked in each process, which
    looks at the version every CHECK_SECONDS.

    Whoever writes one makes a new version afterwards, so documents under a version are never older than it. What is written past
    the API (replication, other tools), or while Redis is away, is seen within `max_age` seconds. Documents are read behind a request, never within it.
    """

    def __init__(
        self,
        redis: Redis,
        background: Background,
        key: str,
        read: Callable[[], Sequence[Document]],
        make: Callable[[Sequence[Any]], T],
        max_age: float = MAX_AGE_SECONDS,
    ) -> None:
        self._redis, self._read, self._make, self._max_age = redis, read, make, max_age
        self._background = background
        self._version_key, self._body_key = f"{key}:version", f"{key}:"
        self._docs: Sequence[Document] = []
        self._made, self._digest = make([]), _digest([])
        self._version: str | None = None
        self._loaded = False
        self._checked_at, self._due, self._current_at = -inf, -inf, -inf
        self._lock = threading.Lock()
        self._is_loading = False

    def get(self) -> T:
        """What is made of the documents as they were within the last second. No database call."""
        if time.monotonic() - self._checked_at >= CHECK_SECONDS and self._lock.acquire(blocking=False):
            try:
                if self._check() and not self._is_loading:
                    self._is_loading = True
                    self._background.run(self._load_behind)
            finally:
                self._lock.release()
        return self._made

    def loaded(self) -> T:
        """The same, read within the request the first time that this process is asked: 1 partition query then."""
        if not self._loaded:
            with self._lock:
                self._load_first()
        return self.get()

    def required(self) -> T:
        """The same, never older than OVERDUE_SECONDS more than `max_age`: a process that nobody asked for longer, or one without Redis
        whose reading behind is late, reads within the request. Raises Unavailable while they cannot be read for the first time."""
        found = self.loaded()
        if self._is_overdue():
            with self._lock:
                if self._is_overdue():
                    self._load_overdue()
            found = self._made
        if not self._loaded:
            raise Unavailable("The shop's settings cannot be read just now.", retry_after=RETRY_AFTER_SECONDS)
        return found

    def reread(self) -> T:
        """The same as the documents are at this moment. 1 partition query. Raises what the database raises."""
        with self._lock:
            try:
                self._load(self._shared_version())
            except RedisError:
                self._use(self._version, self._read())
        return self._made

    def changed(self, written: Document | None = None) -> None:
        """A document came, went or is another: call it after writing, with what was `written`, which a node of a cluster may list as it was. 1 partition
        query."""
        version = time_ordered_id()
        try:
            self._redis.set(self._version_key, version, ex=TTL_SECONDS)
        except RedisError as error:
            log.warning("%s cannot be marked as changed: %s", self._version_key, error)
        with self._lock:
            try:
                self._load(version, written)
            except AisleError as error:
                log.warning("%s could not be read again: %s", self._version_key, error)

    def version(self) -> str | None:
        """What changes when the documents do, and when a node of a cluster that had listed them late has caught up."""
        self.get()
        return self._version and f"{self._version}-{self._digest}"

    def _load_first(self) -> None:
        try:
            version = self._shared_version()
            if not self._take_over(version):
                self._load(version)
        except RedisError:
            self._load_alone()
        except AisleError as error:
            log.warning("%s could not be read: %s", self._version_key, error)

    def _is_overdue(self) -> bool:
        return self._loaded and time.monotonic() - self._current_at > self._max_age + OVERDUE_SECONDS

    def _load_overdue(self) -> None:
        try:
            self._load(self._shared_version())
        except RedisError:
            self._load_alone()
        except AisleError as error:
            log.warning("%s could not be read: %s", self._version_key, error)

    def _check(self) -> bool:
        """Takes over what is kept; whether the documents have to be read."""
        self._checked_at = time.monotonic()
        try:
            version = self._shared_version()
            if version == self._version:
                self._current_at = self._checked_at
            elif self._take_over(version):
                return False
        except RedisError as error:
            log.warning("%s are not readable: %s", self._version_key, error)
            self._checked_at += RETRY_SECONDS
            return time.monotonic() >= self._due
        is_changed = version != self._version and (not self._loaded or is_older(version, WRITER_SECONDS))
        return is_changed or self._checked_at >= self._due

    def _shared_version(self) -> str:
        return get_or_set(self._redis, self._version_key, time_ordered_id(), seconds=TTL_SECONDS).decode()

    def _take_over(self, version: str) -> bool:
        body = self._redis.get(self._body_key + version)
        if body is None:
            return False
        self._use(version, orjson.loads(cast(bytes, body)))
        return True

    def _load_behind(self) -> None:
        with self._lock:
            try:
                self._load(self._shared_version())
            except RedisError:
                self._load_alone()
            except AisleError as error:
                log.warning("%s could not be read: %s", self._version_key, error)
                self._checked_at = time.monotonic() + RETRY_SECONDS
            finally:
                self._is_loading = False

    def _load_alone(self) -> None:
        """While Redis is away."""
        try:
            self._use(self._version, self._read())
        except AisleError as error:
            log.warning("%s could not be read: %s", self._version_key, error)

    def _load(self, version: str, written: Document | None = None) -> None:
        docs = _with_written(self._read(), written)
        self._use(version, docs)
        try:
            self._redis.set(self._body_key + version, orjson.dumps(docs), ex=TTL_SECONDS)
        except RedisError as error:
            log.warning("%s cannot be kept: %s", self._version_key, error)

    def _use(self, version: str | None, docs: Sequence[Document]) -> None:
        """A copy of a cluster may have been late: what changed just now is read once more."""
        settled = version is None or is_older(version, CONFIRM_SECONDS)
        if docs != self._docs:
            self._made, self._docs, self._digest = self._make(docs), docs, _digest(docs)
        self._version, self._loaded, self._current_at = version, True, time.monotonic()
        self._due = time.monotonic() + (self._max_age if settled else min(CONFIRM_SECONDS, self._max_age))


def _with_written(docs: Sequence[Document], written: Document | None) -> Sequence[Document]:
    """The list with what was just written, where it has that as it was or not at all."""
    if written is None:
        return docs
    listed = next((doc for doc in docs if doc["_id"] == written["_id"]), None)
    if listed is not None and generation(listed["_rev"]) >= generation(written["_rev"]):
        return docs
    return sorted(
        [*(doc for doc in docs if doc is not listed), written], key=lambda doc: cast(str, doc["_id"])
    )


def _digest(docs: Sequence[Document]) -> str:
    return hashlib.blake2b(orjson.dumps(docs), digest_size=6).hexdigest()
