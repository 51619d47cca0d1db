"""`python -m deploy.http_server`: one process for a service, for who starts it again when it ends."""

import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.deploy.http_server.conftest import Server, running
from tests.raw_http import raw_connection
from tests.waiting import eventually

PROGRAM = "deploy.http_server"


@pytest.fixture
def single(tmp_path: Path) -> Iterator[Callable[..., Server]]:
    """`single(*options)` of gunicorn's."""
    with ExitStack() as stack:
        yield lambda *options: stack.enter_context(running(tmp_path, 2, PROGRAM, *options))


def children(pid: int) -> str:
    return Path(f"/proc/{pid}/task/{pid}/children").read_text()


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_it_answers_without_a_process_beside_it(single: Callable[..., Server]) -> None:
    server = single()
    assert server.get("/here") == b"GET /here 0"
    assert children(server.process.popen.pid) == ""


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_several_workers_are_gunicorns_own(single: Callable[..., Server]) -> None:
    server = single("-w", "2")
    assert server.get("/here") == b"GET /here 0"
    eventually(lambda: len(children(server.process.popen.pid).split()) == 2)


def test_what_is_under_way_when_it_is_stopped_is_answered(
    single: Callable[..., Server], tmp_path: Path
) -> None:
    server = single()
    answers: list[bytes] = []
    asking = threading.Thread(target=lambda: answers.append(server.get("/wait/end")))
    asking.start()
    eventually((tmp_path / "end-waits").exists)
    os.kill(server.process.popen.pid, signal.SIGTERM)
    (tmp_path / "end").touch()
    asking.join(20)
    assert answers == [b"GET /wait/end 0"]
    assert server.process.popen.wait(20) == 0


def test_one_that_hangs_is_ended(single: Callable[..., Server]) -> None:
    """gunicorn's master ends a worker whose main loop says nothing for `timeout` seconds."""
    server = single("--timeout", "3")
    with raw_connection(server.url) as connection:
        connection.send_head("GET", "/hang")
        assert server.process.popen.wait(40) == -signal.SIGALRM
