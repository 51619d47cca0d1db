"""What searches counted, kept in Redis for a minute while no product changes."""

import hashlib
import logging
import time
from collections.abc import Mapping
from typing import Any, NamedTuple, cast

import orjson
from redis import Redis
from redis.exceptions import RedisError

from services.products.store.answer_cache import AnswerCache
from shared.couch import SearchQuery

TTL_SECONDS = 60
REWRITE_SECONDS = TTL_SECONDS / 2
MAX_LOCAL = 1000

log = logging.getLogger(__name__)


class FieldCounts(NamedTuple):
    """{field: {value: products}} and {field: {band: products}}."""

    counts: Mapping[str, Mapping[str, int]]
    ranges: Mapping[str, Mapping[str, int]]

    def holds(self, query: SearchQuery) -> bool:
        """Whether all that the query counts is here."""
        return self.counts.keys() >= set(query.counts) and self.ranges.keys() >= set(query.bands)


class FacetCounts:
    """Under the condition of a query and the version of the catalogue; a process writes the same again only after a while."""

    def __init__(self, redis: Redis, database: str, versions: AnswerCache, language: str = "") -> None:
        self._redis, self._database, self._versions = redis, database, versions
        self._prefix = f"counts:{database}:{language}"
        self._written: dict[str, float] = {}

    def in_language(self, code: str) -> "FacetCounts":
        """What is counted by the same words of another language."""
        return FacetCounts(self._redis, self._database, self._versions, f"{code}:")

    def get(self, query: SearchQuery, group: str = "", *, allow_stale: bool) -> FieldCounts | None:
        """What was counted for the same condition, if it holds what is asked and, without `allow_stale`, no product has changed since."""
        try:
            kept, version = cast(
                list[bytes | None], self._redis.mget(self._key(query, group), self._versions.catalogue_key)
            )
        except RedisError as error:
            log.warning("facet counts are not readable: %s", error)
            return None
        head, _, body = (kept or b"").partition(b"\n")
        if not body or not (allow_stale or (version is not None and head == version)):
            return None
        found = FieldCounts(*orjson.loads(body))
        return found if found.holds(query) else None

    def put(self, query: SearchQuery, counts: FieldCounts, group: str = "") -> None:
        """Keeps what was counted, for the version of the catalogue that was there before: a later one makes it void."""
        key, version = self._key(query, group), self._versions.catalogue_version()
        written = f"{key}:{version}:{query.counts}"
        if version is None or time.monotonic() - self._written.get(written, -TTL_SECONDS) < REWRITE_SECONDS:
            return
        if len(self._written) >= MAX_LOCAL:
            self._written.clear()
        self._written[written] = time.monotonic()
        body: list[Any] = [counts.counts, counts.ranges]
        try:
            self._redis.set(key, version.encode() + b"\n" + orjson.dumps(body), ex=TTL_SECONDS)
        except RedisError as error:
            log.warning("facet counts cannot be kept: %s", error)

    def _key(self, query: SearchQuery, group: str) -> str:
        """`group`: the customer group by whose prices it was counted."""
        condition = f"{group}{query.condition()!r}".encode()
        return self._prefix + hashlib.sha1(condition, usedforsecurity=False).hexdigest()
