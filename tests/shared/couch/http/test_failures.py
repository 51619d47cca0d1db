"""Servers that drip, say nothing or hang up: the time limit holds, and a write is known to be sent or not."""

import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager

import pycurl
import pytest

from shared.couch.http import HttpClient, NoResponse, NotSent, TransportError, handle
from tests.processes import free_port
from tests.shared.couch.http.servers import Connection, RawServer, answering, response, serving

LIMIT, SLACK = 0.5, 4.0
"""A call may take LIMIT; what the servers here do would take it half a minute or for ever."""


def fails(
    url: str, kind: type[TransportError], method: str = "GET", client: HttpClient | None = None
) -> None:
    began = time.monotonic()
    with pytest.raises(kind) as failure:
        (client or HttpClient()).request(
            method, url + "/x", {}, b"" if method == "POST" else None, timeout=LIMIT
        )
    assert type(failure.value) is kind
    assert time.monotonic() - began < LIMIT + SLACK


def drip(message: bytes) -> Callable[[Connection], None]:
    def serve(connection: Connection) -> None:
        connection.read()
        for number in range(len(message)):
            connection.send(message[number : number + 1])
            time.sleep(0.1)

    return serve


HEAD = b"HTTP/1.1 200 OK\r\nContent-Length: 300\r\n\r\n"


@pytest.mark.parametrize("message", [response(b"x" * 300), HEAD.replace(b"200 OK", b"200 " + b"O" * 300)])
def test_a_server_that_drips_cannot_outlast_the_limit(message: bytes) -> None:
    with serving(drip(message)) as server:
        fails(server.url, NoResponse)


def test_a_body_that_drips_behind_quick_headers_cannot_either() -> None:
    def serve(connection: Connection) -> None:
        connection.read()
        connection.send(HEAD)
        drip(b"x" * 300)(connection)

    with serving(serve) as server:
        fails(server.url, NoResponse)


def test_a_server_that_never_answers_is_given_up_on() -> None:
    def serve(connection: Connection) -> None:
        connection.read()
        server.over.wait(60)

    with serving(serve) as server:
        fails(server.url, NoResponse)
        fails(server.url, NoResponse, "POST")
    assert len(server.seen) == 2, "nothing is sent a second time"


def test_a_server_that_takes_no_more_of_a_large_body_is_given_up_on() -> None:
    with serving(lambda _: server.over.wait(60) and None) as server, pytest.raises(NoResponse):
        HttpClient().request("POST", server.url + "/", {}, b"x" * 50_000_000, timeout=LIMIT)


@pytest.mark.parametrize("timeout", [0.0, -3.0])
def test_without_time_nothing_is_sent(timeout: float) -> None:
    """A limit of 0 ms is none for libcurl."""
    with serving(answering) as server:
        with pytest.raises(NotSent):
            HttpClient().request("POST", server.url + "/x", {}, b"pay", timeout=timeout)
        assert server.connections == 0


def test_nobody_listens() -> None:
    fails(f"http://127.0.0.1:{free_port()}", NotSent, "POST")


def test_a_name_that_is_none() -> None:
    fails("http://no-such-host.invalid", NotSent, "POST")


@pytest.mark.parametrize(
    "answer",
    [
        b"",
        HEAD,
        HEAD + b"x" * 299,
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab",
        b"what?\r\n\r\n",
    ],
)
def test_a_server_that_hangs_up_in_the_middle_gave_no_answer(answer: bytes) -> None:
    with serving(lambda connection: connection.send(answer) if connection.read() else None) as server:
        fails(server.url, NoResponse)
        fails(server.url, NoResponse, "POST")


def test_an_answer_that_comes_too_late_is_not_the_next_ones() -> None:
    late = threading.Event()

    def serve(connection: Connection) -> None:
        while (request := connection.read()) is not None:
            if request.startswith(b"GET /x"):
                late.wait(60)
            connection.send(response(request.split()[1]))

    client = HttpClient()
    with serving(serve) as server:
        fails(server.url, NoResponse, client=client)
        late.set()
        for number in range(3):
            assert client.request("GET", f"{server.url}/{number}", {}, timeout=10).body == b"/%d" % number


def test_a_kept_connection_that_was_closed_is_replaced_unseen() -> None:
    closed = threading.Event()

    def serve(connection: Connection) -> None:
        connection.read()
        connection.send(response(b"yes"))
        connection.sock.close()
        closed.set()

    client = HttpClient()
    with serving(serve) as server:
        for method in ("GET", "POST", "PUT"):
            assert (
                client.request(
                    method, server.url + "/", {}, b"" if method != "GET" else None, timeout=10
                ).body
                == b"yes"
            )
            assert closed.wait(10)
            closed.clear()
    assert server.connections == len(server.seen) == 3


def hangs_up_on_the_second(connection: Connection) -> None:
    """Answers the first request of the first connection, reads the next one and hangs up: done, or not done?"""
    connection.read()
    connection.send(response(b"first"))
    if connection.number == 0:
        connection.read()
    else:
        answering(connection)


def test_a_write_is_not_repeated_behind_our_back_when_a_kept_connection_dies() -> None:
    """libcurl would send it again by itself, and a write that was carried out would come back as a conflict with itself."""
    client = HttpClient()
    with serving(hangs_up_on_the_second) as server:
        client.request("GET", server.url + "/first", {}, timeout=10)
        with pytest.raises(NoResponse):
            client.request("PUT", server.url + "/doc", {}, b"{}", timeout=10)
        assert [request.split()[0] for request in server.seen] == [b"GET", b"PUT"]
        assert client.request("PUT", server.url + "/doc", {}, b"{}", timeout=10).body == b"first"


def test_a_read_is_repeated_when_a_kept_connection_dies() -> None:
    client = HttpClient()
    with serving(hangs_up_on_the_second) as server:
        client.request("GET", server.url + "/first", {}, timeout=10)
        assert client.request("GET", server.url + "/doc", {}, timeout=10).body == b"first"
    assert len(server.seen) == 3


@contextmanager
def deaf(*addresses: str) -> Iterator[int]:
    """A port at which nobody accepts and the queue is full, so that a connection is neither made nor refused."""
    with ExitStack() as stack:
        port = 0
        for address in addresses:
            listener = stack.enter_context(socket.socket())
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.bind((address, port))
            listener.listen(0)
            port = listener.getsockname()[1]
            for _ in range(4):
                waiting = stack.enter_context(socket.socket())
                waiting.setblocking(False)
                waiting.connect_ex((address, port))
        yield port


def test_a_name_with_several_dead_addresses_takes_no_longer_than_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tried one after the other, each with the whole time, they took a call of half a second three times as long."""
    addresses = [f"127.0.0.{number}" for number in range(1, 9)]
    with deaf(*addresses) as port:
        options = {**handle._options(), pycurl.RESOLVE: [f"database.test:{port}:{','.join(addresses)}"]}
        monkeypatch.setattr(handle, "_options", lambda: options)
        began = time.monotonic()
        with pytest.raises(NotSent):
            HttpClient().request("GET", f"http://database.test:{port}/", {}, timeout=LIMIT)
        assert time.monotonic() - began < LIMIT * len(addresses) / 2


def test_a_long_call_can_be_interrupted() -> None:
    """In a process of its own, whose call runs on the main thread, where signals arrive."""
    call = (
        "import signal, sys; from shared.couch.http import HttpClient; signal.signal(signal.SIGINT, signal.default_int_handler); "
        "HttpClient().request('GET', sys.argv[1], {}, timeout=60)"
    )
    with serving(lambda connection: connection.read() and server.over.wait(60) and None) as server:
        process = subprocess.Popen(
            [sys.executable, "-c", call, server.url], stderr=subprocess.PIPE, text=True
        )
        ends = time.monotonic() + 30
        while not server.seen and time.monotonic() < ends:
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=30)
    assert "KeyboardInterrupt" in said


def test_many_limits_run_side_by_side() -> None:
    with serving(lambda connection: server.over.wait(60) and None) as server:
        client = HttpClient()
        threads = [
            threading.Thread(target=fails, args=(server.url, NoResponse, "GET", client)) for _ in range(24)
        ]
        began = time.monotonic()
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert time.monotonic() - began < LIMIT + SLACK


def test_the_server_of_these_tests_is_quick_when_it_is_asked_nicely() -> None:
    with serving(answering) as server:
        assert isinstance(server, RawServer)
        assert HttpClient().request("GET", server.url + "/x", {}, timeout=LIMIT + SLACK).body == b"/x"
