"""Threads that listen are there for whoever needs one."""

import socket
import threading
from collections.abc import Iterator

import pytest

from deploy.http_server.threads import Threads

LONG = 60.0
SECONDS = 20.0


@pytest.fixture
def pair() -> Iterator[tuple[socket.socket, socket.socket]]:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        yield ours, theirs


def test_a_job_calls_a_listening_thread_away(pair: tuple[socket.socket, socket.socket]) -> None:
    """With one thread, which would listen for a minute to somebody who says nothing."""
    heard: list[bool] = []
    listening, done = threading.Event(), threading.Event()

    def work(job: str) -> None:
        if job == "listen":
            listening.set()
            heard.append(threads.listen(pair[0], LONG))
        else:
            done.set()

    threads = Threads(1, work)
    for _ in range(20):
        listening.clear()
        done.clear()
        threads.submit("listen")
        assert listening.wait(SECONDS)
        threads.submit("other")
        assert done.wait(SECONDS)
    assert heard == [False] * 20
    threads.shutdown()


def test_what_comes_is_heard(pair: tuple[socket.socket, socket.socket]) -> None:
    heard: list[bool] = []
    done = threading.Event()

    def work(seconds: float) -> None:
        heard.append(threads.listen(pair[0], seconds))
        done.set()

    threads = Threads(1, work)
    threads.submit(0.01)
    assert done.wait(SECONDS)
    done.clear()
    threads.submit(LONG)
    pair[1].send(b"x")
    assert done.wait(SECONDS)
    assert heard == [False, True]
    threads.shutdown()


def test_all_jobs_are_done_by_as_many_threads_as_there_may_be() -> None:
    """Also when threads listen between jobs: no job is forgotten, none is done twice."""
    names: set[str] = set()
    finished: list[int] = []
    all_done = threading.Event()

    def work(job: int) -> None:
        names.add(threading.current_thread().name)
        ours, theirs = socket.socketpair()
        with ours, theirs:
            if job % 3 == 0:
                theirs.send(b"x")
            threads.listen(ours, 0.002)
        finished.append(job)
        if len(finished) == 600:
            all_done.set()

    threads = Threads(4, work)

    def submit(first: int) -> None:
        for number in range(first, first + 200):
            threads.submit(number)

    submitters = [threading.Thread(target=submit, args=(first,)) for first in (0, 200, 400)]
    for each in submitters:
        each.start()
    assert all_done.wait(SECONDS)
    assert sorted(finished) == list(range(600))
    assert len(names) <= 4
    assert not threads.backlog
    threads.shutdown()
