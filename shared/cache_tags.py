"""Tags of what pages show, with versions that all replicas of all services see in Redis.

Whoever changes something gives its tags new versions after writing. Who keeps a page reads the versions of its tags
before asking for what it shows, and sends the page again only while they are the same. Tags share a bounded number of
versions, so that nobody fills Redis by asking for pages: now and then a page is drawn again for a change elsewhere.
A version of its own changes with each of them: while it stays, a process remembers those that it has read.
"""

import logging
import threading
import time
import unicodedata
import zlib
from collections.abc import Iterable, Sequence
from datetime import timedelta
from math import inf
from typing import Final, cast

from redis import Redis
from redis.exceptions import RedisError

from shared.clock import now
from shared.couch import time_ordered_id

log = logging.getLogger(__name__)

KEY: Final = "cache-tags"
SLOTS: Final = 4096
SETTLE: Final = timedelta(seconds=3)
"""After a change an index may be late for so long, and what is kept behind it is being made again."""

READ_SECONDS: Final = 0.005
"""A process asks Redis so often whether anything changed, however many pages it sends."""
_ANY: Final = "any"

SHOP: Final = "shop"
"""What every page shows or depends on: settings of search, for instance."""
CATALOGUE: Final = "catalogue"
"""All products: changed with each of them."""
TERMS: Final = "terms"
"""The terms of sale: how the shop delivers, which tax is due."""


def product_tag(productid: str) -> str:
    return f"product {productid}"


def category_tags(taxonomy: Sequence[str]) -> list[str]:
    """A category's own tag last, after those of the categories that it is in: they change with it."""
    levels = [unicodedata.normalize("NFC", level) for level in taxonomy]
    return [f"category {'#'.join(levels[: depth + 1])}" for depth in range(len(levels))]


class CacheTags:
    """Without Redis no version is known, so nothing is sent again; a change that it does not take shows within seconds."""

    def __init__(self, redis: Redis) -> None:
        self._redis = redis
        self._lock = threading.Lock()
        self._known: dict[str, str] = {}
        self._last_change: str | None = None
        self._read_at = -inf

    def invalidate(self, tags: Iterable[str]) -> None:
        """What has these tags is changed: call it after writing, and after whatever else is kept was told."""
        version = time_ordered_id()
        versions = {_slot(tag): version for tag in tags}
        try:
            if versions:
                self._redis.hset(KEY, mapping=versions | {_ANY: version})
        except RedisError as error:
            log.warning("pages cannot be marked as changed: %s", error)
        with self._lock:
            self._read_at = -inf

    def versions(self, tags: Sequence[str]) -> tuple[str, ...] | None:
        """One for each tag, equal as long as nothing changed; None while Redis cannot tell."""
        slots = [_slot(tag) for tag in tags]
        known = self._remembered(slots)
        if known is not None:
            return known
        try:
            found = self._read(slots)
            if None in found:
                self._begin([slot for slot, version in zip(slots, found, strict=True) if version is None])
                found = self._read(slots)
        except RedisError as error:
            log.warning("the versions of pages are not readable: %s", error)
            return None
        return None if None in found else tuple(cast(list[str], found))

    def read(self, names: list[str]) -> Sequence[object] | None:
        """The versions of tags as `shared.waiting.Waiting` looks at them, for who waits until what has a tag changes."""
        return self.versions(names)

    def _remembered(self, slots: list[str]) -> tuple[str, ...] | None:
        """The versions as they were READ_SECONDS ago at most."""
        with self._lock:
            if time.monotonic() - self._read_at > READ_SECONDS or not all(
                slot in self._known for slot in slots
            ):
                return None
            return tuple(self._known[slot] for slot in slots)

    def _read(self, slots: list[str]) -> list[str | None]:
        began = time.monotonic()
        read = cast(list[bytes | None], self._redis.hmget(KEY, [_ANY, *slots]))
        last_change, *found = [version.decode() if version else None for version in read]
        with self._lock:
            if began >= self._read_at:
                if last_change is None or last_change != self._last_change:
                    self._known.clear()
                self._last_change, self._read_at = last_change, began
                if last_change is not None:
                    self._known |= {
                        slot: version
                        for slot, version in zip(slots, found, strict=True)
                        if version is not None
                    }
        return found

    def _begin(self, slots: list[str]) -> None:
        """Of a Redis that is new, or was emptied, no earlier version is ever met again."""
        first = time_ordered_id(now() - 2 * SETTLE)
        for slot in (_ANY, *slots):
            self._redis.hsetnx(KEY, slot, first)


def is_settled(versions: Iterable[str]) -> bool:
    """Whether the last change is so long ago that everybody who is asked has seen it."""
    return max(versions, default="") < time_ordered_id(now() - SETTLE)


def _slot(tag: str) -> str:
    return tag if tag in (SHOP, CATALOGUE, TERMS) else f"{zlib.crc32(tag.encode()) % SLOTS:x}"
