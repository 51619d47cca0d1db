"""Locks against a real Redis: exclusive, all or none, released, leased, and a quick 503 without Redis."""

import secrets
import threading
import time

import pytest
from redis import Redis

from shared.couch.deadline import request_deadline
from shared.errors import Unavailable
from shared.locks import Locks


@pytest.fixture
def locks(redis_url: str) -> Locks:
    return Locks(Redis.from_url(redis_url), secrets.token_hex(4))


def test_only_one_holds_a_lock_and_it_is_free_afterwards(locks: Locks):
    with locks.hold("a") as first, locks.hold("a") as second:
        assert (first, second) == (True, False)
    with locks.hold("a") as third:
        assert third


def test_who_did_not_get_a_lock_does_not_release_it(locks: Locks):
    with locks.hold("a"):
        with locks.hold("a") as second:
            assert not second
        with locks.hold("a") as third:
            assert not third


def test_several_are_held_together_or_not_at_all(locks: Locks):
    with locks.hold("b"):
        with locks.hold("a", "b", "c") as acquired:
            assert not acquired
        with locks.hold("a", "c") as acquired:
            assert acquired


def test_who_waits_gets_it_when_it_is_released(locks: Locks):
    held, results = threading.Event(), []

    def wait() -> None:
        held.wait()
        with locks.hold("a", wait=10) as acquired:
            results.append(acquired)

    waiting = threading.Thread(target=wait)
    waiting.start()
    with locks.hold("a"):
        held.set()
        time.sleep(0.2)
        assert results == []
    waiting.join()
    assert results == [True]


def test_a_holder_that_hangs_loses_it_and_does_not_release_the_next_ones(locks: Locks):
    with locks.hold("a", lease=0.1), locks.hold("a", wait=5) as after_the_lease:
        assert after_the_lease
    with locks.hold("a", lease=0.1) as hanging:
        assert hanging
        time.sleep(0.2)
        with locks.hold("a") as other:
            assert other


def test_nobody_waits_longer_than_the_request_may_take(locks: Locks):
    began = time.monotonic()
    with locks.hold("a"), request_deadline(1, limit=0.3), locks.hold("a", wait=60) as acquired:
        assert not acquired
    assert time.monotonic() - began < 30


def test_the_locks_of_another_service_are_others(redis_url: str):
    redis = Redis.from_url(redis_url)
    with Locks(redis, "x").hold("a") as here, Locks(redis, "y").hold("a") as there:
        assert (here, there) == (True, True)


def test_without_redis_it_is_503():
    locks = Locks(Redis(port=1, socket_connect_timeout=0.2), "x")
    with pytest.raises(Unavailable), locks.hold("a"):
        pass


def test_of_many_who_plan_the_same_one_asks_for_it(locks: Locks):
    assert locks.plan("a", 30)
    assert not locks.plan("a", 30)
    assert not locks.plan("a", 60), "it comes before that"
    assert locks.plan("b", 30)
    assert locks.plan("a", 5), "sooner"
    assert not locks.plan("a", 30)
    assert locks.plan("c", 0.01)
    time.sleep(0.02)
    assert locks.plan("c", 30), "its time had come"
