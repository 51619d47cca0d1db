"""Calls that have no response for too long are told of while they are under way, by one thread for all."""

import os
import threading
from collections.abc import Callable
from typing import Any

import pytest

from shared.couch.http import overdue
from shared.couch.http.overdue import OverdueCalls
from tests.waiting import eventually


@pytest.fixture
def calls() -> OverdueCalls:
    return OverdueCalls()


def noted(calls: OverdueCalls, seconds: float) -> tuple[object, list[str]]:
    """A call that has begun, and who was told of it."""
    call, told = object(), []  # type: Any, list[str]
    calls.begin(call, seconds, lambda: told.append(threading.current_thread().name))
    return call, told


def test_a_call_is_told_of_once_and_only_when_it_takes_too_long(calls: OverdueCalls):
    _, slow = noted(calls, 0.1)
    quick, never = noted(calls, 0.1)
    calls.end(quick)
    _, later = noted(calls, 60)
    eventually(lambda: slow == ["overdue calls"])
    _, after = noted(calls, 0.1)
    eventually(lambda: after == ["overdue calls"])
    assert (slow, never, later) == (["overdue calls"], [], [])


def test_a_call_that_ends_after_it_was_told_of_does_no_harm(calls: OverdueCalls):
    call, told = noted(calls, 0.0)
    eventually(lambda: told)
    calls.end(call)
    assert len(told) == 1


def test_the_thread_ends_without_calls_and_comes_back(calls: OverdueCalls, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(overdue, "IDLE_SECONDS", 0.1)
    call, _ = noted(calls, 60)
    watcher = calls._watcher
    calls.end(call)
    eventually(lambda: watcher is not None and not watcher.is_alive())
    _, told = noted(calls, 0.0)
    eventually(lambda: told)


def test_many_threads_begin_and_end_calls_at_once(calls: OverdueCalls, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(overdue, "IDLE_SECONDS", 0.0)
    told: list[Any] = []

    def work() -> None:
        for _ in range(200):
            call = object()
            calls.begin(call, 60, lambda: told.append("early"))
            calls.end(call)
        calls.begin(threading.current_thread(), 0.0, lambda: told.append("due"))

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    eventually(lambda: told == ["due"] * 8)


def test_a_forked_child_watches_its_own_calls(calls: OverdueCalls):
    noted(calls, 60)

    def in_child() -> bool:
        calls.reset()
        _, told = noted(calls, 0.0)
        eventually(lambda: told, seconds=20)
        return told == ["overdue calls"]

    assert _exit_status(in_child) == 0


def _exit_status(check: Callable[[], bool]) -> int:
    child = os.fork()
    if child == 0:
        os._exit(0 if check() else 1)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def test_without_a_thread_calls_go_on(calls: OverdueCalls, monkeypatch: pytest.MonkeyPatch):
    def refuse(self: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    with monkeypatch.context() as without:
        without.setattr(threading.Thread, "start", refuse)
        call, told = noted(calls, 0.0)
        calls.end(call)
    _, again = noted(calls, 0.0)
    eventually(lambda: again)
    assert told == []
