"""Suggestions for what was typed, kept for a minute in Redis, so that all processes answer from one search.

Each stands under the version that was there before it was made, so that what names a product no longer shown is not answered.
"""

import logging
from collections.abc import Callable
from typing import cast

from redis import Redis
from redis.exceptions import RedisError

from shared.couch import time_ordered_id

SECONDS = 60

log = logging.getLogger(__name__)


class SuggestionCache:
    """Without Redis each request asks the database."""

    def __init__(self, redis: Redis, database: str) -> None:
        self._redis, self._prefix = redis, f"suggestions:{database}:"
        self._version_key = f"suggestions-version:{database}"

    def get(self, key: str, make: Callable[[], bytes]) -> bytes:
        """What is kept under a key, else what `make` answers."""
        try:
            read = self._redis.mget(self._prefix + key, self._version_key)
        except RedisError as error:
            log.warning("suggestions are not readable: %s", error)
            return make()
        kept, version = (part or b"" for part in cast(list[bytes | None], read))
        made_for, _, body = kept.partition(b"\n")
        if body and made_for == version:
            return body
        body = make()
        try:
            self._redis.set(self._prefix + key, version + b"\n" + body, ex=SECONDS)
        except RedisError as error:
            log.warning("suggestions cannot be kept: %s", error)
        return body

    def clear(self) -> None:
        """Products are no longer shown: nothing that may name them is answered again."""
        try:
            self._redis.set(self._version_key, time_ordered_id(), ex=2 * SECONDS)
        except RedisError as error:
            log.warning("suggestions cannot be cleared: %s", error)
