"""How often somebody may try: counters in Redis that expire, with an honest Retry-After."""

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass

from redis import Redis

from shared.errors import TooManyRequests


@dataclass(frozen=True)
class Limit:
    """At most `tries` in `seconds` for whom (or what) `subject` names; kept as a digest."""

    name: str
    subject: str
    tries: int
    seconds: int

    @property
    def key(self) -> str:
        return f"limit:{self.name}:{hashlib.sha256(self.subject.encode()).hexdigest()[:32]}"


class Limits:
    """Counts tries before they happen, so that parallel tries cannot slip through, and gives them back on success."""

    def __init__(self, redis: Redis) -> None:
        self._redis = redis

    def take(self, limits: Iterable[Limit]) -> None:
        """Counts one try against each limit. Raises TooManyRequests with the seconds until the longest one ends."""
        limits = list(limits)
        pipeline = self._redis.pipeline(transaction=False)
        for limit in limits:
            pipeline.set(limit.key, 0, ex=limit.seconds, nx=True)
            pipeline.incr(limit.key)
            pipeline.ttl(limit.key)
        answers = pipeline.execute()
        counted = zip(limits, answers[1::3], answers[2::3], strict=True)
        waits = [max(1, seconds) for limit, tries, seconds in counted if tries > limit.tries]
        if waits:
            raise TooManyRequests(
                f"Too many tries. Try again in {max(waits)} seconds.", retry_after=max(waits)
            )

    def allows(self, limit: Limit) -> bool:
        """Like `take` for one limit, as a yes or no."""
        try:
            self.take([limit])
        except TooManyRequests:
            return False
        return True

    def forgive(self, account: Limit, address: Limit) -> None:
        """After a success: the account starts afresh, the address gets its try back."""
        pipeline = self._redis.pipeline(transaction=False)
        pipeline.delete(account.key)
        pipeline.decr(address.key)
        pipeline.execute()
