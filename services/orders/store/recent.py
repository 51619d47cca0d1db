"""Which orders a customer has just placed, for as long as the index that lists them may be behind."""

import logging
from typing import cast

from redis import Redis
from redis.exceptions import RedisError

log = logging.getLogger(__name__)

TTL_SECONDS, MAX_ORDERS = 600, 5


class RecentOrders:
    """Order ids by customer, in Redis: a convenience, so that nothing fails without it."""

    def __init__(self, redis: Redis) -> None:
        self._redis = redis

    def remember(self, userid: str, orderid: str) -> None:
        key = self._key(userid)
        try:
            with self._redis.pipeline(transaction=False) as pipeline:
                pipeline.lrem(key, 0, orderid)
                pipeline.lpush(key, orderid)
                pipeline.ltrim(key, 0, MAX_ORDERS - 1)
                pipeline.expire(key, TTL_SECONDS)
                pipeline.execute()
        except RedisError as error:
            log.warning("an order is not remembered as recent: %s", error)

    def of(self, userid: str) -> list[str]:
        """Newest first."""
        try:
            stored = cast(list[bytes], self._redis.lrange(self._key(userid), 0, -1))
            return [each.decode() for each in stored]
        except RedisError as error:
            log.warning("recent orders cannot be read: %s", error)
            return []

    @staticmethod
    def _key(userid: str) -> str:
        return f"orders:recent:{userid}"
