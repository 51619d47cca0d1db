"""How old what a process holds of the settings can be: by a clock of its own, so that no machine is too slow for it."""

from collections.abc import Callable
from typing import Any

import pytest
from redis import Redis
from redis.exceptions import ConnectionError

from services.orders.store.settings import MAX_AGE_SECONDS
from shared import document_cache
from shared.document_cache import CHECK_SECONDS, DocumentCache

PROMISED_SECONDS = 5.0
STEP = 0.05


class Clock:
    """`time` for the caches, moved by the test."""

    def __init__(self) -> None:
        self.moment = 1000.0

    def monotonic(self) -> float:
        return self.moment


class SwitchedRedis:
    """Redis, which can be away, or emptied right after each write."""

    def __init__(self, redis: Redis) -> None:
        self._redis, self.is_away, self.is_emptied = redis, False, False

    def set(self, key: str, value: bytes | str, **options: Any) -> bool:
        if self.is_away:
            raise ConnectionError("away")
        written = bool(self._redis.set(key, value, **options))
        if self.is_emptied:
            self._redis.delete(key)
        return written

    def __getattr__(self, name: str) -> Any:
        if self.is_away:
            raise ConnectionError("away")
        return getattr(self._redis, name)


class Background:
    """Work behind a request: done after it, or never by a thread that hangs."""

    def __init__(self) -> None:
        self.hangs = False
        self._waiting: list[Callable[[], None]] = []

    def run(self, work: Callable[[], None]) -> None:
        self._waiting.append(work)

    def work(self) -> None:
        while self._waiting and not self.hangs:
            self._waiting.pop(0)()


def priced(price: int) -> dict[str, Any]:
    return {"_id": "settings:p", "_rev": f"{price}-a", "price": price}


class Replicas:
    """Processes over one database, which is `docs` here; `reads` counts how often it was asked."""

    def __init__(self, redis: SwitchedRedis, key: str) -> None:
        self.redis, self.key = redis, key
        self.docs: list[dict[str, Any]] = [priced(1)]
        self.while_read: Callable[[], object] = lambda: None
        self.reads = 0
        self.background = Background()

    def process(self) -> DocumentCache[list[int]]:
        def read() -> list[dict[str, Any]]:
            self.reads += 1
            self.while_read()
            return list(self.docs)

        return DocumentCache(
            self.redis,
            self.background,
            self.key,
            read,
            lambda docs: [doc["price"] for doc in docs],
            MAX_AGE_SECONDS,
        )

    def ask(self, cache: DocumentCache[list[int]]) -> list[int]:
        """One request, and what it leaves behind."""
        found = cache.required()
        self.background.work()
        return found

    def save(self, by: DocumentCache[list[int]], price: int) -> None:
        self.docs = [priced(price)]
        by.changed(priced(price))


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(document_cache, "time", clock)
    return clock


@pytest.fixture
def replicas(redis_url: str, request: pytest.FixtureRequest) -> Replicas:
    redis = Redis.from_url(redis_url)
    key = f"cache-test:{request.node.name}"
    for name in redis.scan_iter(f"{key}*"):
        redis.delete(name)
    return Replicas(SwitchedRedis(redis), key)


def seconds_until(clock: Clock, replicas: Replicas, cache: DocumentCache[list[int]], price: int) -> float:
    """How long, of a process that is asked all the time, until it has this price."""
    began = clock.moment
    while replicas.ask(cache) != [price]:
        clock.moment += STEP
        assert clock.moment - began < 60
    return clock.moment - began


def test_a_change_is_seen_by_other_processes_with_the_next_look(clock: Clock, replicas: Replicas) -> None:
    one, other = replicas.process(), replicas.process()
    assert one.required() == other.required() == [1]
    replicas.save(one, 2)
    assert seconds_until(clock, replicas, other, 2) <= CHECK_SECONDS + STEP
    read = replicas.reads
    clock.moment += 3600
    replicas.save(one, 3)
    clock.moment += 3600
    assert other.required() == [3], "nobody had asked it for two hours"
    assert replicas.reads == read + 1, "by the process that wrote it"


@pytest.mark.parametrize("tenths", range(0, 60, 3))
def test_a_change_is_seen_within_five_seconds_without_redis(
    clock: Clock, replicas: Replicas, tenths: int
) -> None:
    """Whenever Redis went away before the change."""
    one, other = replicas.process(), replicas.process()
    assert one.required() == other.required() == [1]
    replicas.redis.is_away = True
    ends = clock.moment + tenths / 10
    while clock.moment < ends:
        clock.moment += STEP
        replicas.ask(other)
    replicas.save(one, 2)
    assert seconds_until(clock, replicas, other, 2) <= PROMISED_SECONDS


def test_without_redis_the_database_is_not_asked_all_the_time(clock: Clock, replicas: Replicas) -> None:
    cache = replicas.process()
    cache.required()
    replicas.redis.is_away = True
    before, ends = replicas.reads, clock.moment + 40
    while clock.moment < ends:
        clock.moment += STEP
        replicas.ask(cache)
    assert replicas.reads - before <= 40 / MAX_AGE_SECONDS + 1


def test_a_process_that_nobody_asked_for_long_reads_within_the_request(
    clock: Clock, replicas: Replicas
) -> None:
    one, other = replicas.process(), replicas.process()
    one.required(), other.required()
    replicas.redis.is_away = replicas.background.hangs = True
    replicas.save(one, 2)
    clock.moment += PROMISED_SECONDS
    assert other.required() == [2]


def test_what_redis_has_lost_is_read_within_the_request(clock: Clock, replicas: Replicas) -> None:
    one, other = replicas.process(), replicas.process()
    one.required(), other.required()
    replicas.background.hangs = True
    clock.moment += 60
    replicas.save(one, 2)
    for name in replicas.redis.scan_iter(f"{replicas.key}*"):
        replicas.redis.delete(name)
    assert other.required() == [2]


def test_a_redis_that_is_emptied_between_two_commands_costs_no_request(
    clock: Clock, replicas: Replicas
) -> None:
    one, other = replicas.process(), replicas.process()
    replicas.redis.is_emptied = True
    assert one.required() == other.required() == [1]
    replicas.save(one, 2)
    clock.moment += PROMISED_SECONDS
    assert other.required() == [2]
    replicas.redis.is_emptied = False
    assert seconds_until(clock, replicas, replicas.process(), 2) == 0


def test_what_was_written_counts_though_a_node_of_a_cluster_lists_it_as_it_was(
    clock: Clock, replicas: Replicas
) -> None:
    one, other = replicas.process(), replicas.process()
    assert one.required() == other.required() == [1]
    one.changed(priced(2))
    assert one.required() == [2]
    assert seconds_until(clock, replicas, other, 2) <= CHECK_SECONDS + STEP
    one.changed({"_id": "settings:a", "_rev": "1-a", "price": 7})
    assert one.required() == [7, 1], "a new one is in its place, and the node is believed for all others"
    replicas.docs = [priced(3)]
    one.changed(priced(2))
    assert one.required() == [3], "somebody wrote after it"


def test_who_looks_while_the_writer_reads_waits_for_what_it_wrote(clock: Clock, replicas: Replicas) -> None:
    """Its own list may come from a node that has the document as it was, and would be kept for seconds."""
    one, other = replicas.process(), replicas.process()
    assert one.required() == other.required() == [1]
    clock.moment += CHECK_SECONDS
    seen: list[list[int]] = []

    def look() -> None:
        replicas.while_read = lambda: None
        seen.append(replicas.ask(other))

    replicas.while_read = look
    one.changed(priced(2))
    assert seen == [[1]]
    assert seconds_until(clock, replicas, other, 2) <= CHECK_SECONDS + STEP
