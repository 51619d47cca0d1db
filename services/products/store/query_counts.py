"""What customers search for: counted in Redis, added up by a job into a document for each day.

A search writes nothing by itself. Each process counts for a second, then adds to Redis; what Redis holds is flushed every minute,
so that this much is lost when it restarts.
"""

import atexit
import hashlib
import logging
import secrets
import threading
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import inf
from typing import cast

import orjson
from redis import Redis
from redis.exceptions import RedisError, ResponseError

from services.products.rules.query_counts import Counts, added
from services.products.search_documents import DAILY_SEARCHES, SEARCHES_PARTITION, DailySearches, searches_id
from shared.couch import Database, time_ordered_id
from shared.redis import get_or_set

FLUSH_SECONDS, MAX_BUFFERED, MAX_PENDING = 1.0, 1000, 5000
POPULAR_SECONDS, POPULAR_TTL, FLUSHES_REMEMBERED = 30.0, 2 * 24 * 3600, 5
_FIELDS = _SEARCHES, _FOUND, _PEOPLE = b"n:", b"f:", b"p:"
_ID = b"id"
DAY_SECONDS, MAX_VISITORS = 24 * 3600, 100_000

log = logging.getLogger(__name__)

Popular = Sequence[tuple[str, int]]
"""(query, how often it was searched for), the most frequent first"""


@dataclass
class _Buffered:
    searches: int = 0
    found: int | None = None
    visitors: set[str] = field(default_factory=set)


class Visitors:
    """Which addresses searched for what within a day, as digests under a key that is made by chance, never written to disk by us and
    gone with the day: enough to count a person once, not enough to find out who it was."""

    def __init__(self, redis: Redis, database: str) -> None:
        self._redis, self._key = redis, f"searches:{database}:visitors"

    def new(self, searches: Mapping[str, Iterable[str]]) -> dict[str, int]:
        """{query: how many of these visitors had not searched for it today}. Raises RedisError."""
        secret = get_or_set(self._redis, f"{self._key}:key", secrets.token_bytes(32), seconds=DAY_SECONDS)
        if cast(int, self._redis.scard(self._key)) > MAX_VISITORS:
            log.warning("more than %s visitors searched today: the others are not counted", MAX_VISITORS)
            return dict.fromkeys(searches, 0)
        pipeline = self._redis.pipeline(transaction=False)
        for query, visitors in searches.items():
            digests = [
                hashlib.blake2b(f"{query}\0{each}".encode(), key=secret, digest_size=8).digest()
                for each in visitors
            ]
            pipeline.sadd(self._key, *digests)
        pipeline.expire(self._key, DAY_SECONDS, nx=True)
        return dict(zip(searches, pipeline.execute(), strict=False))


class QueryCounter:
    """Counts of the last minute in Redis, at most MAX_PENDING queries. Without Redis nothing is counted."""

    def __init__(self, redis: Redis, database: str) -> None:
        self._redis = redis
        self._pending, self._flushing = f"searches:{database}:pending", f"searches:{database}:flushing"
        self._buffer: dict[str, _Buffered] = {}
        self._visitors = Visitors(redis, database)
        self._lock, self._sending = threading.Lock(), threading.Lock()
        atexit.register(self._send)

    def count(self, query: str, found: int | None, visitor: str) -> None:
        """One search, how many products it found (None: as many as before), and the address it came from, which is kept for a second."""
        with self._lock:
            first = not self._buffer
            if query in self._buffer or len(self._buffer) < MAX_BUFFERED:
                counted = self._buffer.setdefault(query, _Buffered())
                counted.searches += 1
                counted.found = counted.found if found is None else found
                counted.visitors.add(visitor)
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
        return (kept[_ID].decode(), _counts(kept)) if _ID in kept else None  # emptied meanwhile

    def done(self) -> None:
        """What was taken is written. Raises RedisError."""
        self._redis.delete(self._flushing)

    def forget(self, queries: Iterable[str]) -> None:
        """What Redis holds of these. Raises RedisError."""
        fields = [(kind + query.encode()).decode() for query in queries for kind in _FIELDS]
        if fields:
            for key in (self._flushing, self._pending):
                self._redis.hdel(key, *fields)

    def _send(self) -> None:
        with self._lock:
            buffer, self._buffer = self._buffer, {}
        if not buffer:
            return
        try:
            with self._sending:  # the next one sees how much room this one leaves
                self._add_pending(buffer)
        except RedisError as error:
            log.warning("searches cannot be counted: %s", error)

    def _add_pending(self, buffer: Mapping[str, _Buffered]) -> None:
        names = {query: query.encode() for query in buffer}
        known = self._redis.hmget(self._pending, [_SEARCHES + name for name in names.values()])
        room = MAX_PENDING - cast(int, self._redis.hlen(self._pending)) // len(_FIELDS)
        people = self._visitors.new({query: counted.visitors for query, counted in buffer.items()})
        pipeline = self._redis.pipeline(transaction=False)
        for (query, counted), there in zip(buffer.items(), cast(list[bytes | None], known), strict=True):
            if there is None and (room := room - 1) < 0:
                continue
            pipeline.hincrby(self._pending, (_SEARCHES + names[query]).decode(), counted.searches)
            pipeline.hincrby(self._pending, (_PEOPLE + names[query]).decode(), people[query])
            if counted.found is not None:
                pipeline.hset(self._pending, (_FOUND + names[query]).decode(), str(counted.found))
        pipeline.execute()


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

    def all(self) -> list[DailySearches]:
        """In their order. 1 partition query."""
        return DAILY_SEARCHES.among(self._database.partition(SEARCHES_PARTITION).all())

    def add(self, day: str, flush: str, counts: Counts) -> None:
        """Adds a flush to its day, once. 1 read and 1 write. Raises UpdateConflict."""
        docid = searches_id(day)
        doc = DAILY_SEARCHES.typed(self._database.get_many([docid]).get(docid))
        if doc is None:
            doc = DAILY_SEARCHES.build(docid, date=day, queries={}, flushes=[])
        if flush in doc["flushes"]:
            return
        flushes = [*doc["flushes"], flush][-FLUSHES_REMEMBERED:]
        self._database.put({**doc, "queries": added(doc["queries"], counts), "flushes": flushes})

    def forget(self, queries: set[str]) -> None:
        """Takes them out of every day. 1 partition query, 1 write for each day that has one. Raises UpdateConflict."""
        for doc in self.all():
            if not queries.isdisjoint(doc["queries"]):
                kept = {query: count for query, count in doc["queries"].items() if query not in queries}
                self._database.put({**doc, "queries": kept})

    def remove(self, docs: Sequence[DailySearches]) -> None:
        """1 write."""
        self._database.put_many([{"_id": doc["_id"], "_rev": doc["_rev"], "_deleted": True} for doc in docs])


def _counts(kept: object) -> dict[str, list[int | None]]:
    """{query: [searches, found, people]} of a hash in Redis; what the last release wrote there has no people."""
    fields = cast(dict[bytes, bytes], kept)

    def of(kind: bytes, query: bytes) -> int | None:
        return int(fields[kind + query]) if kind + query in fields else None

    queries = [name[len(_SEARCHES) :] for name in fields if name.startswith(_SEARCHES)]
    return {
        query.decode(): [
            searches := of(_SEARCHES, query),
            of(_FOUND, query),
            people if (people := of(_PEOPLE, query)) is not None else searches,
        ]
        for query in queries
    }
