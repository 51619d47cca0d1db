"""One creation of a productid at a time, across all processes: a view can tell that an id is taken, not that it is being taken."""

import secrets
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress

from redis import Redis
from redis.exceptions import RedisError

from shared.errors import Unavailable

_LONGEST_SECONDS, _PATIENCE_SECONDS, _LOOK_AGAIN_SECONDS = 10, 12, 0.05

_TAKE = """
for _, key in ipairs(KEYS) do if redis.call('EXISTS', key) == 1 then return 0 end end
for _, key in ipairs(KEYS) do redis.call('SET', key, ARGV[1], 'EX', ARGV[2]) end
return 1
"""
"""All or none, so that two who want some of the same never wait for each other."""

_LEAVE = (
    "for _, key in ipairs(KEYS) do if redis.call('GET', key) == ARGV[1] then redis.call('DEL', key) end end"
)


class Turns:
    """A lock in Redis for each id, let go of after ten seconds whatever happened to its holder."""

    def __init__(self, redis: Redis, database: str) -> None:
        self._redis, self._database = redis, database
        self._take, self._leave = redis.register_script(_TAKE), redis.register_script(_LEAVE)

    @contextmanager
    def alone(self, productid: str) -> Iterator[bool]:
        """Whether nobody else creates this id just now. Raises Unavailable without Redis."""
        with self._held([productid], patience=0) as ours:
            yield ours

    @contextmanager
    def wait(self, productids: Sequence[str]) -> Iterator[None]:
        """Goes on once nobody else creates any of these ids. Raises Unavailable when that lasts too long, and without Redis."""
        with self._held(productids, patience=_PATIENCE_SECONDS) as ours:
            if not ours:
                raise Unavailable("Some of these products are just being made; try again shortly.")
            yield

    @contextmanager
    def _held(self, productids: Sequence[str], patience: float) -> Iterator[bool]:
        keys, mark = [f"create:{self._database}:{each}" for each in productids], secrets.token_hex(8)
        ends = time.monotonic() + patience
        try:
            while not (ours := bool(self._take(keys, [mark, _LONGEST_SECONDS]))) and time.monotonic() < ends:
                time.sleep(_LOOK_AGAIN_SECONDS)
        except RedisError as error:
            raise Unavailable("Redis does not answer; try again shortly.") from error
        try:
            yield ours
        finally:
            if ours:
                with suppress(RedisError):
                    self._leave(keys, [mark])
