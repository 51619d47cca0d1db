"""Locks in Redis: exclusive for a while, across all processes.

A lock saves work and keeps races short; what is written must be safe without it, for Redis may forget it, and a holder
that hangs loses it after its lease.
"""

import secrets
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Final

from redis import Redis
from redis.exceptions import RedisError

from shared.couch.deadline import time_for
from shared.errors import Unavailable

LEASE_SECONDS: Final = 10
SAME_TIME_SECONDS: Final = 0.5
_POLL_SECONDS = 0.05

_ACQUIRE = """
for _, key in ipairs(KEYS) do if redis.call('EXISTS', key) == 1 then return 0 end end
for _, key in ipairs(KEYS) do redis.call('SET', key, ARGV[1], 'PX', ARGV[2]) end
return 1
"""
"""All or none, so that two who need some of the same locks never wait for each other."""

_RELEASE = (
    "for _, key in ipairs(KEYS) do if redis.call('GET', key) == ARGV[1] then redis.call('DEL', key) end end"
)

_PLAN = """
local known = redis.call('GET', KEYS[1])
if known and tonumber(known) <= tonumber(ARGV[2]) then return 0 end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[3])
return 1
"""


class Locks:
    """The locks of one service; `namespace` (its database's name) keeps them apart from those of others on the same Redis."""

    def __init__(self, redis: Redis, namespace: str) -> None:
        self._namespace = namespace
        self._acquire, self._release = redis.register_script(_ACQUIRE), redis.register_script(_RELEASE)
        self._plan = redis.register_script(_PLAN)

    @contextmanager
    def hold(self, *names: str, wait: float = 0, lease: float = LEASE_SECONDS) -> Iterator[bool]:
        """Whether the block holds the locks of all these names, acquired within `wait` seconds, for `lease` seconds at most.

        Raises Unavailable without Redis.
        """
        keys, owner = [f"lock:{self._namespace}:{name}" for name in names], secrets.token_hex(8)
        acquired = self._acquired(keys, owner, wait, lease)
        try:
            yield acquired
        finally:
            if acquired:
                with suppress(RedisError):
                    self._release(keys, [owner])

    def plan(self, name: str, seconds: float) -> bool:
        """Whether nobody has planned `name` for a time until `seconds` from now (and SAME_TIME_SECONDS) yet; now it is, so that of many who
        see that something is due later one asks for it. A plan is over when its time has come. Raises RedisError without Redis."""
        due = time.time() + seconds
        key = f"planned:{self._namespace}:{name}"
        milliseconds = max(1, int(seconds * 1000))
        return bool(self._plan([key], [due, due + SAME_TIME_SECONDS, milliseconds]))

    def _acquired(self, keys: list[str], owner: str, wait: float, lease: float) -> bool:
        ends = time.monotonic() + (time_for(wait) if wait else 0)
        try:
            while not (acquired := bool(self._acquire(keys, [owner, int(lease * 1000)]))):
                if time.monotonic() >= ends:
                    break
                time.sleep(_POLL_SECONDS)
        except RedisError as error:
            raise Unavailable("Redis does not answer; try again shortly.", retry_after=2) from error
        return acquired
