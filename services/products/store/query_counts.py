"""What customers search for: counted in Redis, added up by a job into a document for each day.

A search writes nothing by itself. Each process counts for a second, then adds to Redis; what Redis holds is flushed every minute,
so that this much is lost when it restarts.
"""

import atexit
import logging
import threading
import time
from collections.abc import Sequence
from math import inf
from typing import cast

import orjson
from redis import Redis
from redis.exceptions import RedisError, ResponseError

from services.products.rules.query_counts import Counts, added
from services.products.search_documents import DAILY_SEARCHES, SEARCHES_PARTITION, searches_id
from shared.couch import Database, Doc, time_ordered_id

FLUSH_SECONDS, MAX_BUFFERED, MAX_PENDING = 1.0, 1000, 5000
POPULAR_SECONDS, POPULAR_TTL, FLUSHES_REMEMBERED = 30.0, 2 * 24 * 3600, 5
_SEARCHES, _FOUND, _ID = b"n:", b"f:", b"id"

log = logging.getLogger(__name__)

Popular = Sequence[tuple[str, int]]
"""(query, how often it was searched for), the most frequent first"""


class QueryCounter:
    """Counts of the last minute in Redis, at most MAX_PENDING queries. Without Redis nothing is counted."""

    def __init__(self, redis: Redis, database: str) -> None:
        self._redis = redis
        self._pending, self._flushing = f"searches:{database}:pending", f"searches:{database}:flushing"
        self._buffer: dict[str, list[int]] = {}
        self._lock = threading.Lock()
        atexit.register(self._send)

    def count(self, query: str, found: int) -> None:
        """One search, and how many products it found."""
        with self._lock:
            first = not self._buffer
            if query in self._buffer or len(self._buffer) < MAX_BUFFERED:
                self._buffer[query] = [self._buffer.get(query, [0])[0] + 1, found]
        if first:
            timer = threading.Timer(FLUSH_SECONDS, self._send)
            timer.daemon = True
            timer.start()

    def pending(self) -> Counts:
        """What no document holds yet; nothing while Redis is away."""
        try:
            both = [_counts(self._redis.hgetall(key)) for key in (self._flushing, self._pending)]
        except RedisError as error:
            log.warning("searches are not readable: %s", error)
            return {}
        return added(*both)

    def take(self) -> tuple[str, Counts] | None:
        """What is to be written now, under the id of this flush; the same again until it is `done`. Raises RedisError."""
        if not self._redis.exists(self._flushing):
            try:
                self._redis.rename(self._pending, self._flushing)
            except ResponseError:  # nothing was searched for
                return None
        self._redis.hsetnx(self._flushing, _ID.decode(), time_ordered_id())
        kept = cast(dict[bytes, bytes], self._redis.hgetall(self._flushing))
        return kept[_ID].decode(), _counts(kept)

    def done(self) -> None:
        """What was taken is written. Raises RedisError."""
        self._redis.delete(self._flushing)

    def _send(self) -> None:
        with self._lock:
            buffer, self._buffer = self._buffer, {}
        if not buffer:
            return
        names = {query: query.encode() for query in buffer}
        try:
            known = self._redis.hmget(self._pending, [_SEARCHES + name for name in names.values()])
            room = MAX_PENDING - cast(int, self._redis.hlen(self._pending)) // 2
            pipeline = self._redis.pipeline(transaction=False)
            for (query, (searches, found)), there in zip(
                buffer.items(), cast(list[bytes | None], known), strict=True
            ):
                if there is None and (room := room - 1) < 0:
                    continue
                pipeline.hincrby(self._pending, (_SEARCHES + names[query]).decode(), searches)
                pipeline.hset(self._pending, (_FOUND + names[query]).decode(), str(found))
            pipeline.execute()
        except RedisError as error:
            log.warning("searches cannot be counted: %s", error)


class PopularQueries:
    """Queries that customers searched for and that found something, as the job published them; each process reads them now and then."""

    def __init__(self, redis: Redis, database: str) -> None:
        self._redis, self._key = redis, f"searches:{database}:popular"
        self._queries: Popular = ()
        self._read_at = -inf

    def get(self) -> Popular:
        """As they were within POPULAR_SECONDS. No database call."""
        if time.monotonic() - self._read_at >= POPULAR_SECONDS:
            self._read_at = time.monotonic()
            try:
                body = self._redis.get(self._key)
                self._queries = [tuple(each) for each in orjson.loads(cast(bytes, body))] if body else ()
            except RedisError as error:
                log.warning("popular queries are not readable: %s", error)
        return self._queries

    def publish(self, queries: Popular) -> None:
        """Raises RedisError."""
        self._redis.set(self._key, orjson.dumps(queries), ex=POPULAR_TTL)

    def are_published(self) -> bool:
        """Raises RedisError."""
        return bool(self._redis.exists(self._key))


class SearchDays:
    """A document for each day. Errors are those of `shared.couch`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def all(self) -> list[Doc]:
        """In their order. 1 partition query."""
        return self._database.partition(SEARCHES_PARTITION).all()

    def add(self, day: str, flush: str, counts: Counts) -> None:
        """Adds a flush to its day, once. 1 read and 1 write. Raises UpdateConflict."""
        docid = searches_id(day)
        doc = self._database.get_many([docid]).get(docid)
        if doc is None:
            doc = DAILY_SEARCHES.new(docid, date=day, queries={}, flushes=[])
        if flush in doc["flushes"]:
            return
        flushes = [*doc["flushes"], flush][-FLUSHES_REMEMBERED:]
        self._database.put(doc | {"queries": added(doc["queries"], counts), "flushes": flushes})

    def remove(self, docs: Sequence[Doc]) -> None:
        """1 write."""
        self._database.put_many([{"_id": doc["_id"], "_rev": doc["_rev"], "_deleted": True} for doc in docs])


def _counts(kept: object) -> dict[str, list[int]]:
    """{query: [searches, found]} of a hash in Redis."""
    fields = cast(dict[bytes, bytes], kept)
    return {
        name[len(_SEARCHES) :].decode(): [int(value), int(fields.get(_FOUND + name[len(_SEARCHES) :], 0))]
        for name, value in fields.items()
        if name.startswith(_SEARCHES)
    }
