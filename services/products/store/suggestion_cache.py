"""Suggestions for what was typed, kept for a minute in Redis, so that all processes answer from one search."""

import logging
from collections.abc import Callable
from typing import cast

from redis import Redis
from redis.exceptions import RedisError

SECONDS = 60

log = logging.getLogger(__name__)


class SuggestionCache:
    """Without Redis each request asks the database."""

    def __init__(self, redis: Redis, database: str) -> None:
        self._redis, self._prefix = redis, f"suggestions:{database}:"

    def get(self, key: str, make: Callable[[], bytes]) -> bytes:
        """What is kept under a key, else what `make` answers."""
        try:
            if kept := self._redis.get(self._prefix + key):
                return cast(bytes, kept)
        except RedisError as error:
            log.warning("suggestions are not readable: %s", error)
            return make()
        body = make()
        try:
            self._redis.set(self._prefix + key, body, ex=SECONDS)
        except RedisError as error:
            log.warning("suggestions cannot be kept: %s", error)
        return body
