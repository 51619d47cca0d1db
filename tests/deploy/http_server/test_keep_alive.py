"""A thread that has answered listens for the next request of that connection, and is nobody's for it."""

import contextlib
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.deploy.http_server.conftest import Server
from tests.raw_http import RawConnection

MIB = 1024 * 1024


def ask(connection: RawConnection, path: str) -> bytes:
    connection.send_head("GET", path)
    return connection.response().body


def wait_for(path: Path) -> None:
    deadline = time.monotonic() + 20
    while not path.exists():
        assert time.monotonic() < deadline, f"{path} did not come"
        time.sleep(0.01)


def test_one_thread_serves_more_kept_connections_than_one(start: Callable[[int], Server]) -> None:
    server = start(1)
    connections = [server.connect() for _ in range(10)]
    for turn in range(20):
        for number, connection in enumerate(connections):
            assert ask(connection, f"/{turn}/{number}") == f"GET /{turn}/{number} 0".encode()


@pytest.mark.parametrize("others", [False, True], ids=["alone", "with others waiting"])
def test_requests_sent_without_waiting_are_answered_in_order(
    start: Callable[[int], Server], others: bool
) -> None:
    server = start(1)
    with contextlib.ExitStack() as stack:
        connection = stack.enter_context(contextlib.closing(server.connect()))
        waiting = [server.connect() for _ in range(5 if others else 0)]
        posts = b"".join(
            f"POST /{number} HTTP/1.1\r\nHost: x\r\nContent-Length: {number}\r\n\r\n".encode() + b"x" * number
            for number in range(200)
        )
        connection.send(posts)
        for other in waiting:
            other.send_head("GET", "/other")
        stream = connection.socket.makefile("rb")
        for number in range(200):
            assert stream.readline() == b"HTTP/1.1 200 OK\r\n"
            while stream.readline() != b"\r\n":
                pass
            expected = f"POST /{number} {number}".encode()
            assert stream.read(len(expected)) == expected
        assert all(other.response().body == b"GET /other 0" for other in waiting)


def test_a_second_request_in_drips_holds_no_thread(start: Callable[[int], Server]) -> None:
    """The first, quick one has made a thread listen to it; there is only one."""
    server = start(1)
    slow = server.connect()
    assert ask(slow, "/first") == b"GET /first 0"
    for byte in b"POST /second HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\n12345":
        slow.send(bytes([byte]))
        assert server.get("/other") == b"GET /other 0"
    assert slow.response().body == b"POST /second 5"
    assert ask(slow, "/third") == b"GET /third 0"


def test_an_application_that_exits_costs_no_thread(start: Callable[[int], Server]) -> None:
    server = start(1)
    for _ in range(3):
        assert b"internal_error" in server.get("/exit")
    assert server.get("/after") == b"GET /after 0"


def test_who_waits_to_be_asked_is_asked_once_on_a_kept_connection(start: Callable[[int], Server]) -> None:
    server = start(1)
    connection = server.connect()
    for _ in range(3):
        assert ask(connection, "/first") == b"GET /first 0"
        connection.send_head("POST", "/second", Content_Length="5", Expect="100-continue")
        assert connection.socket.recv(1000) == b"HTTP/1.1 100 Continue\r\n\r\n"
        connection.send(b"123")
        assert server.get("/other") == b"GET /other 0"
        connection.send(b"45")
        assert connection.response().body == b"POST /second 5"


def test_large_bodies_on_a_kept_connection(start: Callable[[int], Server]) -> None:
    """They are read by a thread, one at a time with two threads; each leaves its place to the next."""
    server = start(2)
    connection = server.connect()
    for _ in range(4):
        assert ask(connection, "/small") == b"GET /small 0"
        connection.send_head("POST", "/large", Content_Length=str(3 * MIB))
        connection.send(b"x" * 3 * MIB)
        assert connection.response().body == f"POST /large {3 * MIB}".encode()


def test_a_second_request_may_be_the_last(start: Callable[[int], Server]) -> None:
    server = start(1)
    connection = server.connect()
    connection.send_head("HEAD", "/")
    connection.send_head("GET", "/last", Connection="close")
    sent = connection.rest()
    head, _, last = sent.partition(b"\r\n\r\n")
    assert b"Connection: keep-alive" in head
    assert b"Connection: close" in last
    assert last.endswith(b"\r\n\r\nGET /last 0")


def test_liveness_has_a_thread_while_all_others_work(start: Callable[[int], Server]) -> None:
    server = start(2)
    busy = [server.connect() for _ in range(2)]
    kept = server.connect()
    assert ask(kept, "/first") == b"GET /first 0"
    for number, connection in enumerate(busy):
        connection.send_head("GET", f"/wait/{number}")
        wait_for(server.folder / f"{number}-waits")
    assert ask(kept, "/health/live") == b"GET /health/live 0"
    for number, connection in enumerate(busy):
        (server.folder / str(number)).touch()
        assert connection.response().body == f"GET /wait/{number} 0".encode()


def test_stopping_ends_what_is_under_way_and_listens_to_nobody(start: Callable[[int], Server]) -> None:
    """One connection in the hands of a thread that listens, one of a thread that works: that one gets its answer."""
    server = start(4)
    idle, busy = server.connect(), server.connect()
    busy.send_head("GET", "/wait/end")
    wait_for(server.folder / "end-waits")
    assert ask(idle, "/first") == b"GET /first 0"
    server.process.ask_to_stop()
    (server.folder / "end").touch()
    answer = busy.response()
    assert answer.body == b"GET /wait/end 0"
    with contextlib.suppress(ConnectionError):
        assert idle.rest() == b""
    assert server.process.popen.wait(20) == 0


def test_a_request_sent_while_stopping_is_answered_as_the_last(start: Callable[[int], Server]) -> None:
    server = start(2)
    kept, busy = server.connect(), server.connect()
    assert ask(kept, "/first") == b"GET /first 0"
    busy.send_head("GET", "/wait/end")
    wait_for(server.folder / "end-waits")
    server.process.ask_to_stop()
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        kept.send_head("GET", "/again")
        answer = kept.response()
        assert answer.body == b"GET /again 0"
        if answer.headers["connection"] == "close":
            break
    assert answer.headers["connection"] == "close"
    (server.folder / "end").touch()
    assert busy.response().status == 200
    assert server.process.popen.wait(20) == 0
