"""Long polls that hold no thread: a request waits beside the threads until something is marked as changed, or its time is over.

The server (`deploy/http_server`) runs the request once more then, from its beginning: who asks is checked again.
"""

import logging
import secrets
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Protocol, cast

from redis import Redis
from redis.exceptions import RedisError

log = logging.getLogger(__name__)

LOOK_SECONDS: Final = 0.5
MARK_SECONDS: Final = 120


class Readable(Protocol):
    """What `Waiting` looks at: something for each name that is another after each change; None while nobody can tell."""

    def read(self, names: list[str]) -> Sequence[object] | None: ...


class Marks:
    """When something changed, as all replicas see it in Redis. Without Redis nobody is told early, and nothing is lost."""

    def __init__(self, redis: Redis, namespace: str) -> None:
        self._redis, self._namespace = redis, namespace

    def change(self, names: Iterable[str]) -> None:
        """Call it after writing."""
        try:
            for name in names:
                self._redis.set(self._key(name), secrets.token_hex(8), ex=MARK_SECONDS)
        except RedisError as error:
            log.info("who waits for a change is not told early: %s", error)

    def read(self, names: list[str]) -> list[bytes | None] | None:
        """One for each name, another after each change; None while Redis cannot tell."""
        try:
            return cast("list[bytes | None]", self._redis.mget([self._key(name) for name in names]))
        except RedisError:
            return None

    def _key(self, name: str) -> str:
        return f"changed:{self._namespace}:{name}"


def marks_of_people(redis: Redis, prefix: str) -> Marks:
    """Of what people's devices wait for, each by `device_mark`; `prefix` is that of the shop's databases."""
    return Marks(redis, f"{prefix}users")


def device_mark(userid: str) -> str:
    """Changed with whatever a person's devices are shown: what is in their partition, and their orders."""
    return f"user{userid}"


@dataclass(frozen=True)
class _Waiter:
    name: str
    mark: object
    ends: float
    resume: Callable[[], None]


class Waiting:
    """The requests of this process that wait: at most `places`. One thread looks at all their marks at once."""

    def __init__(self, marks: Readable, places: int) -> None:
        self._marks, self._places = marks, places
        self._waiters: list[_Waiter] = []
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None

    def mark(self, name: str) -> object:
        """Read it before what is waited for is looked at."""
        found = self._marks.read([name])
        return found[0] if found else None

    def park(self, environ: Mapping[str, Any], name: str, mark: object, seconds: float) -> bool:
        """Whether the request (its WSGI `environ`) waits now, so that its answer is thrown away. False when it has waited, or there is no place."""
        park = environ.get("aisle.park")
        if park is None or environ.get("aisle.was_parked") or seconds <= 0:
            return False
        with self._lock:
            if len(self._waiters) >= self._places:
                return False
            self._waiters.append(_Waiter(name, mark, time.monotonic() + seconds, park()))
            if self._thread is None:
                self._thread = threading.Thread(target=self._look, name="waiting", daemon=True)
                self._thread.start()
        return True

    def is_full(self) -> bool:
        return len(self._waiters) >= self._places

    def _look(self) -> None:
        while True:
            time.sleep(LOOK_SECONDS)
            with self._lock:
                waiters = list(self._waiters)
                if not waiters:
                    self._thread = None
                    return
            found = self._marks.read([waiter.name for waiter in waiters])
            marks = found or [waiter.mark for waiter in waiters]
            now = time.monotonic()
            due = [
                waiter
                for waiter, mark in zip(waiters, marks, strict=True)
                if mark != waiter.mark or now >= waiter.ends
            ]
            with self._lock:
                self._waiters = [waiter for waiter in self._waiters if waiter not in due]
            for waiter in due:
                waiter.resume()
