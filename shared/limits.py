"""How often an address or account may try: counters in Redis that expire, with an honest Retry-After."""

import hashlib
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from ipaddress import IPv6Address, ip_address, ip_network

from redis import Redis

from shared.errors import Forbidden, TooManyRequests, Unauthorized

_TIMEOUT_SECONDS, _POLL_SECONDS, _ATTEMPT_TTL_SECONDS = 2.5, 0.03, 15

_ADMIT = """
for place = 1, #KEYS, 2 do
  if tonumber(redis.call('GET', KEYS[place]) or 0) >= tonumber(ARGV[(place + 3) / 2]) then
    return {'blocked', redis.call('TTL', KEYS[place])}
  end
end
for place = 1, #KEYS, 2 do
  local seen = tonumber(redis.call('GET', KEYS[place]) or 0) + tonumber(redis.call('GET', KEYS[place + 1]) or 0)
  if seen >= tonumber(ARGV[(place + 3) / 2]) then return {'wait', 1} end
end
for place = 2, #KEYS, 2 do
  redis.call('INCR', KEYS[place])
  redis.call('EXPIRE', KEYS[place], ARGV[1])
end
return {'in', 0}
"""
"""KEYS: for each limit the failures and those under way. ARGV: seconds that a try may be under way, then the limits."""

_COUNT = """
local seen = redis.call('INCR', KEYS[1])
if redis.call('TTL', KEYS[1]) < 0 then redis.call('EXPIRE', KEYS[1], ARGV[1]) end
return {seen, redis.call('TTL', KEYS[1])}
"""
"""One step, because a counter that ran out between two would count for ever. KEYS: the limit's. ARGV: its seconds."""


@dataclass(frozen=True)
class Limit:
    """At most `tries` in `seconds` for whom (or what) `subject` names, kept as a digest; `forgiven`: by a success."""

    name: str
    subject: str
    tries: int
    seconds: int
    forgiven: bool = False

    @property
    def key(self) -> str:
        return f"limit:{self.name}:{hashlib.sha256(self.subject.encode()).hexdigest()[:32]}"


class Limits:
    """Counts in Redis. Errors are those of Redis while it is away."""

    def __init__(self, redis: Redis) -> None:
        self._redis = redis
        self._admit_script = redis.register_script(_ADMIT)

    def take(self, limits: Iterable[Limit]) -> None:
        """Counts one try against each limit. Raises TooManyRequests with the seconds until the longest one ends."""
        limits = list(limits)
        pipeline = self._redis.pipeline(transaction=False)
        for limit in limits:
            pipeline.eval(_COUNT, 1, limit.key, limit.seconds)
        counted = zip(limits, pipeline.execute(), strict=True)
        waits = [max(1, seconds) for limit, (tries, seconds) in counted if tries > limit.tries]
        if waits:
            raise too_many(max(waits))

    def allows(self, limit: Limit) -> bool:
        """Like `take` for one limit, as a yes or no."""
        try:
            self.take([limit])
        except TooManyRequests:
            return False
        return True

    @contextmanager
    def attempt(self, *limits: Limit) -> Iterator[None]:
        """A guess at a secret. Unauthorized or Forbidden out of the block is a failure; no more than `tries` of them are let through.

        What is under way counts as if it would fail, so that parallel guesses do not slip through; honest parallel
        logins wait for their turn. Raises TooManyRequests with the seconds until the failures are forgotten.
        """
        self._admit(limits)
        outcome = None
        try:
            yield
            outcome = "success"
        except (Unauthorized, Forbidden):
            outcome = "failure"
            raise
        finally:
            self._release(limits, outcome)

    def _admit(self, limits: tuple[Limit, ...]) -> None:
        keys = [key for limit in limits for key in (limit.key, f"{limit.key}:now")]
        arguments = [_ATTEMPT_TTL_SECONDS, *(limit.tries for limit in limits)]
        deadline = time.monotonic() + _TIMEOUT_SECONDS
        while True:
            state, seconds = self._admit_script(keys=keys, args=arguments)
            if state == b"in":
                return
            if state == b"blocked" or time.monotonic() > deadline:
                raise too_many(max(1, seconds))
            time.sleep(_POLL_SECONDS)

    def _release(self, limits: tuple[Limit, ...], outcome: str | None) -> None:
        pipeline = self._redis.pipeline(transaction=False)
        for limit in limits:
            pipeline.decr(f"{limit.key}:now")
            if outcome == "failure":
                pipeline.eval(_COUNT, 1, limit.key, limit.seconds)
            elif outcome == "success" and limit.forgiven:
                pipeline.delete(limit.key)
        pipeline.execute()


def network_of(address: str) -> str:
    """What counts as one place that requests come from: an IPv4 address; of IPv6 the /56 that a household is given."""
    with suppress(ValueError):
        found = ip_address(address)
        if isinstance(found, IPv6Address):
            found = found.ipv4_mapped or found
        if isinstance(found, IPv6Address):
            return str(ip_network((found, 56), strict=False))
        return str(found)
    return address


def too_many(seconds: int) -> TooManyRequests:
    return TooManyRequests(f"Too many tries. Try again in {seconds} seconds.", retry_after=seconds)
