"""Items that are made while the ones before them are written."""

import threading
from collections.abc import Iterator
from contextlib import closing
from contextvars import ContextVar

import pytest

from shared.read_ahead import read_ahead


def test_the_next_is_made_while_one_is_used() -> None:
    made = [threading.Event() for _ in range(3)]

    def make() -> Iterator[int]:
        for number, event in enumerate(made):
            event.set()
            yield number

    for number in read_ahead(make()):
        assert all(event.wait(5) for event in made[: number + 2])
        assert not any(event.is_set() for event in made[number + 2 :])


def test_what_was_made_before_an_error_is_used_first() -> None:
    def make() -> Iterator[int]:
        yield 1
        raise ValueError("the third line")

    items = read_ahead(make())
    assert next(items) == 1
    with pytest.raises(ValueError, match="the third line"):
        next(items)


def test_they_are_made_in_the_context_of_who_asks() -> None:
    who = ContextVar("who", default="nobody")
    who.set("admin")
    assert list(read_ahead(who.get() for _ in range(3))) == ["admin"] * 3


def test_who_stops_early_leaves_no_thread() -> None:
    before = threading.active_count()
    with closing(read_ahead(range(10))) as items:
        assert next(items) == 0
    assert threading.active_count() == before


def test_nothing_is_nothing() -> None:
    assert list(read_ahead([])) == []
