"""One creation of a productid at a time, across all processes: a view can tell that an id is taken, not that it is being taken."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress

from redis import Redis
from redis.exceptions import LockError, RedisError

from shared.errors import Unavailable

_LONGEST_SECONDS = 10


class Turns:
    """A lock in Redis for each id, let go of after ten seconds whatever happened to its holder."""

    def __init__(self, redis: Redis, database: str) -> None:
        self._redis, self._database = redis, database

    @contextmanager
    def alone(self, productid: str) -> Iterator[bool]:
        """Whether nobody else creates this id just now. Raises Unavailable without Redis."""
        lock = self._redis.lock(f"create:{self._database}:{productid}", timeout=_LONGEST_SECONDS)
        try:
            ours = lock.acquire(blocking=False)
        except RedisError as error:
            raise Unavailable("Redis does not answer; try again shortly.") from error
        try:
            yield ours
        finally:
            if ours:
                with suppress(LockError, RedisError):
                    lock.release()
