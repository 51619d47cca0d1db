"""The category menu, kept ready in Redis under the catalogue's version, so that every replica serves the same one.

A change of which products are where gives it a new version after the write; a menu is counted for the version read before
counting, so that an older count can never stand under a newer version. Without Redis it is counted each time. On a cluster
the node that counts may not have the change yet: what is counted right after one is kept for CONFIRM_SECONDS only.
"""

import hashlib
import logging
from typing import cast

from redis import Redis
from redis.exceptions import RedisError

from shared.couch import is_older, time_ordered_id
from shared.redis import get_or_set

log = logging.getLogger(__name__)

CONFIRM_SECONDS = 3


class MenuCache:
    """`seconds` bounds how long a change made past the API (replication, other tools) can stay unseen."""

    def __init__(self, redis: Redis, database: str, seconds: int) -> None:
        self._redis, self._seconds = redis, seconds
        self._version_key, self._menu_key = f"menu:{database}:version", f"menu:{database}:"
        self._near: dict[str, tuple[bytes, str]] = {}
        self._last: dict[str, tuple[bytes, str]] = {}

    def version(self) -> str | None:
        """The catalogue's version, None when Redis cannot tell."""
        try:
            return get_or_set(
                self._redis, self._version_key, time_ordered_id(), seconds=self._seconds
            ).decode()
        except RedisError as error:
            log.warning("the menu's version is not readable: %s", error)
            return None

    def get(self, version: str, question: str) -> tuple[bytes, str] | None:
        """The menu and its ETag."""
        key = f"{version}:{question}"
        found = self._near.get(key)
        if found is None:
            try:
                body = self._redis.get(self._menu_key + key)
            except RedisError as error:
                log.warning("the menu is not readable: %s", error)
                return None
            if body is None:
                return None
            is_sure = is_older(version, 2 * CONFIRM_SECONDS)
            found = self._cache_locally(version, question, cast(bytes, body), is_sure)
        return found

    def last(self, question: str) -> tuple[bytes, str] | None:
        """The menu as this process knew it last, for as long as it cannot be counted."""
        return self._last.get(question)

    def put(self, version: str | None, question: str, body: bytes, *, is_sure: bool) -> tuple[bytes, str]:
        """Keeps a menu that was counted after `version` was read; one that is not sure, by a node that may not have the change, for a moment."""
        if version is None:
            return body, tag_of(body)
        is_sure = is_sure or is_older(version, CONFIRM_SECONDS)
        try:
            seconds = self._seconds if is_sure else CONFIRM_SECONDS
            self._redis.set(f"{self._menu_key}{version}:{question}", body, ex=seconds)
        except RedisError as error:
            log.warning("the menu is not writable: %s", error)
        return self._cache_locally(version, question, body, is_sure)

    def changed(self) -> None:
        """Products came, went or moved: call it after writing."""
        try:
            self._redis.set(self._version_key, time_ordered_id(), ex=self._seconds)
        except RedisError as error:
            log.warning("the menu is not writable: %s", error)

    def _cache_locally(self, version: str, question: str, body: bytes, is_sure: bool) -> tuple[bytes, str]:
        if len(self._near) > 50:
            self._near, self._last = {}, {}
        found = (body, tag_of(body))
        self._last[question] = found
        if is_sure:
            self._near[f"{version}:{question}"] = found
        return found


def tag_of(body: bytes) -> str:
    return f'"{hashlib.sha1(body, usedforsecurity=False).hexdigest()}"'
