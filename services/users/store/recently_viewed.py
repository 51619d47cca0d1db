"""The products that a user looked at lately: 20 of them for 30 days, in Redis because they are short-lived."""

import time
from datetime import UTC, datetime
from typing import cast

from redis import Redis

from shared.clock import iso

_MAX_PRODUCTS = 20
_TTL_SECONDS = 30 * 24 * 3600


class RecentlyViewed:
    def __init__(self, redis: Redis) -> None:
        self._redis = redis

    def add(self, userid: str, productid: str) -> None:
        key = _key(userid)
        pipeline = self._redis.pipeline(transaction=False)
        pipeline.zadd(key, {productid: time.time()})
        pipeline.zremrangebyrank(key, 0, -_MAX_PRODUCTS - 1)
        pipeline.expire(key, _TTL_SECONDS)
        pipeline.execute()

    def list(self, userid: str) -> list[dict[str, str]]:
        """Newest first."""
        found = self._redis.zrevrange(_key(userid), 0, -1, withscores=True)
        rows = cast("list[tuple[bytes, float]]", found)
        return [
            {"productid": productid.decode(), "viewed": iso(datetime.fromtimestamp(moment, UTC))}
            for productid, moment in rows
        ]

    def clear(self, userid: str) -> None:
        self._redis.delete(_key(userid))


def _key(userid: str) -> str:
    return f"viewed:{userid}"
