"""The simulated minutes of `deploy.traffic`: what fits is not refused, what does not is, nothing is lost, and the same seed says the same."""

import random
from collections import Counter
from contextlib import nullcontext

import pytest

from deploy.local.minicouch.errors import CouchError
from deploy.local.minicouch.server.plans import PLANS, Throttle
from deploy.traffic import (
    FIRST_DELAY,
    MAX_DELAY,
    QUERY,
    READ,
    TIMEOUT,
    WRITE,
    Kind,
    Window,
    blocks_that_hold,
    percentile,
    queue_waits,
    simulate,
)
from shared.couch import transport

PLAN = {READ: 100, QUERY: 5, WRITE: 50}


def searches(rate: float) -> tuple[Kind, ...]:
    return (Kind("search", rate, ((QUERY, 1),)),)


def test_it_asks_again_as_the_client_library_does() -> None:
    assert (FIRST_DELAY, MAX_DELAY) == (transport.FIRST_DELAY, transport.MAX_DELAY)
    assert transport.DatabaseSession("http://127.0.0.1").timeout == TIMEOUT


def test_it_refuses_as_minicouch_does() -> None:
    rng, now = random.Random(1), [0.0]
    throttle, window = Throttle(PLANS["standard"], lambda: now[0]), Window(PLAN)
    requests = {READ: ("GET", "/shop/a:1"), QUERY: ("POST", "/shop/_find"), WRITE: ("PUT", "/shop/a:1")}
    answers = Counter[bool]()
    for _ in range(5000):
        now[0] += rng.expovariate(200)
        name = rng.choice([READ, QUERY, WRITE])
        admitted = window.admits(now[0], (name, 1))
        with nullcontext() if admitted else pytest.raises(CouchError, match="exceeded"):
            throttle.admit(*requests[name], b"")
        answers[admitted] += 1
    assert min(answers[True], answers[False]) > 500


def test_what_fits_waits_for_nothing_and_what_does_not_is_given_up() -> None:
    quiet, busy = simulate(searches(0.5), PLAN, 600), simulate(searches(20), PLAN, 600)
    assert (quiet.share_given_up, percentile(quiet.waits, 0.99)) == (0, 0)
    assert busy.share_given_up == pytest.approx(1 - 5 / 20, abs=0.03)
    assert percentile(busy.waits, 0.99) <= TIMEOUT


def test_nothing_is_lost_and_the_same_seed_says_the_same() -> None:
    kinds = (*searches(8), Kind("order", 1, ((READ, 30), (QUERY, 1), (WRITE, 4))))
    once, again, other = (simulate(kinds, PLAN, 300, seed) for seed in (1, 1, 2))
    assert once == again != other
    assert once.requests == len(once.waits)
    assert once.calls >= once.requests


def test_the_worker_waits_and_gives_nothing_up() -> None:
    kinds = (Kind("the worker", 4, ((WRITE, 20),), is_patient=True),)
    found = simulate(kinds, PLAN, 60)
    assert found.given_up.total() == 0
    assert len(found.work_waits) == pytest.approx(240, abs=60)
    assert percentile(found.work_waits, 0.99) > TIMEOUT


def test_more_blocks_hold_more_and_averages_are_not_enough() -> None:
    """Twelve searches a second are 2.4 blocks on average."""
    assert blocks_that_hold(searches(12), PLAN, 300, 1) >= 3
    assert blocks_that_hold(searches(1), PLAN, 300, 1) == 1


def test_who_comes_to_nodes_that_are_busy_waits_and_to_those_that_are_too_few_ever_longer() -> None:
    half, nearly, over = (queue_waits(rate, 1000, 60) for rate in (500, 950, 1200))
    assert sum(half) / len(half) == pytest.approx(0.5 / (2 * 1000 * 0.5), rel=0.1)  # of theory: M/D/1
    assert percentile(half, 0.99) < percentile(nearly, 0.99) < 0.1
    assert over[-1] == pytest.approx(60 * 0.2, rel=0.1)
