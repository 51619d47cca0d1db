"""What was written of somebody a moment ago, for as long as a list of theirs may lack it."""

import logging
import time
from collections.abc import Mapping, Sequence
from typing import Final, cast

from redis import Redis
from redis.exceptions import RedisError

log = logging.getLogger(__name__)

TTL_SECONDS: Final = 600


class Recent:
    """Ids by whom they belong to, the `most` written last, in Redis under `name`: a convenience, so that nothing fails without it."""

    def __init__(self, redis: Redis, name: str, most: int) -> None:
        self._redis, self._name, self._most = redis, name, most

    def remember(self, owner: str, ids: Sequence[str]) -> None:
        self.remember_many({owner: ids})

    def remember_many(self, ids: Mapping[str, Sequence[str]]) -> None:
        """By whom they belong to. One message to Redis."""
        now = time.time()
        try:
            with self._redis.pipeline(transaction=False) as pipeline:
                for owner, written in ids.items():
                    key = self._key(owner)
                    pipeline.zadd(key, dict.fromkeys(written, now))
                    pipeline.zremrangebyrank(key, 0, -self._most - 1)
                    pipeline.expire(key, TTL_SECONDS)
                pipeline.execute()
        except RedisError as error:
            log.warning("what was just written is not remembered: %s", error)

    def of(self, owner: str) -> list[str]:
        """Newest first."""
        return self.of_many([owner])[owner]

    def of_many(self, owners: Sequence[str]) -> dict[str, list[str]]:
        """Of each of them, newest first. One question to Redis."""
        since = time.time() - TTL_SECONDS
        try:
            with self._redis.pipeline(transaction=False) as pipeline:
                for owner in owners:
                    pipeline.zrevrangebyscore(self._key(owner), "+inf", since)
                stored = cast(list[list[bytes]], pipeline.execute())
        except RedisError as error:
            log.warning("what was just written cannot be read: %s", error)
            return {owner: [] for owner in owners}
        return {owner: [each.decode() for each in found] for owner, found in zip(owners, stored, strict=True)}

    def _key(self, owner: str) -> str:
        return f"{self._name}:{owner}"
