"""The circuit breaker: what opens it, what never does, and how it closes."""

import os
import threading
import time
from collections.abc import Callable

import pytest

from shared.couch.http import CircuitOpen, HttpClient, NoResponse, TransportError, breaker
from shared.couch.http.breaker import Breaker, State
from tests.processes import free_port
from tests.shared.couch.http.servers import Connection, RawServer, response, serving

SOON = 15.0


class Server:
    """Answers /up, /work and /slow as told: `well`, `busy` (503 to all), `refusing` (429 to all) or `silent`."""

    def __init__(self) -> None:
        self.mood, self.over = "well", threading.Event()

    def serve(self, connection: Connection) -> None:
        while (request := connection.read()) is not None:
            if self.mood == "silent" or (b"/slow" in request and self.mood == "well"):
                self.over.wait(60)
                return
            status = {"busy": "503 Service Unavailable", "refusing": "429 Too Many Requests"}.get(
                self.mood, "200 OK"
            )
            connection.send(response(b"", status))


def until(holds: Callable[[], bool]) -> None:
    ends = time.monotonic() + SOON
    while not holds():
        assert time.monotonic() < ends
        time.sleep(0.02)


def ask(client: HttpClient, url: str, timeout: float = 0.3) -> type[TransportError] | int:
    try:
        return client.request("GET", url, {}, timeout=timeout).status
    except TransportError as error:
        return type(error)


def ask_until_open(client: HttpClient, url: str) -> None:
    until(lambda: ask(client, url) is CircuitOpen)


def probes(server: RawServer) -> int:
    return sum(request.startswith(b"GET /up") for request in server.seen)


def calls(server: RawServer) -> int:
    return len(server.seen) - probes(server)


@pytest.mark.parametrize("mood", ["silent", "busy"])
def test_a_server_that_stays_away_is_not_asked_until_it_answers_a_probe(mood: str) -> None:
    told, server = [], Server()
    breaker.on_change(lambda name, state: told.append((name, state)))
    with serving(server.serve) as raw:
        name, client = raw.url.removeprefix("http://"), HttpClient(probe_url=f"{raw.url}/up")
        assert ask(client, f"{raw.url}/work") == 200
        server.mood = mood
        ask_until_open(client, f"{raw.url}/work")
        sent = calls(raw)
        for _ in range(50):
            assert ask(client, f"{raw.url}/work") is CircuitOpen
        assert calls(raw) == sent, "while the circuit is open no call goes out"
        server.mood = "well"
        until(lambda: ask(client, f"{raw.url}/work") == 200)
        server.over.set()
    assert [state for server_name, state in told if server_name == name] == [State.OPEN, State.CLOSED]


def test_a_server_that_nobody_runs_opens_the_circuit_and_its_start_closes_it() -> None:
    client = HttpClient(probe_url=f"http://127.0.0.1:{(port := free_port())}/up")
    url = f"http://127.0.0.1:{port}/work"
    ask_until_open(client, url)
    with serving(Server().serve, port=port):
        until(lambda: ask(client, url) == 200)


def test_a_short_absence_opens_nothing() -> None:
    """A server that is started anew in a second is asked again by the callers' own retries."""
    circuit = Breaker("a server", lambda timeout: False)
    for _ in range(100):
        circuit.failed(time.monotonic())
    assert circuit.state is State.CLOSED


def test_a_slow_query_opens_nothing_while_the_server_answers_its_probe() -> None:
    server = Server()
    with serving(server.serve) as raw:
        client = HttpClient(probe_url=f"{raw.url}/up")
        for _ in range(2):
            assert ask(client, f"{raw.url}/slow", timeout=breaker.FAILING_SECONDS + 0.2) is NoResponse
            assert ask(client, f"{raw.url}/work", timeout=SOON) == 200
        assert probes(raw) > 0, "it was asked how it is"
        server.over.set()


def test_slow_queries_among_quick_ones_are_not_even_suspect() -> None:
    circuit = Breaker("a server", lambda timeout: False)
    for _ in range(5):
        circuit.succeeded()
        circuit.failed(time.monotonic() - 60)
    assert circuit.state is State.CLOSED


@pytest.mark.parametrize("status", [400, 404, 409, 429, 500])
def test_a_refusal_opens_nothing(status: int) -> None:
    ends = time.monotonic() + breaker.FAILING_SECONDS + 0.5

    def serve(connection: Connection) -> None:
        while connection.read() is not None:
            connection.send(response(b"", f"{status} No"))

    with serving(serve) as raw:
        client = HttpClient(probe_url=f"{raw.url}/up")
        while time.monotonic() < ends:
            assert ask(client, f"{raw.url}/work", timeout=SOON) == status
            time.sleep(0.05)
        assert probes(raw) == 0


def test_the_probe_of_an_unused_circuit_ends_and_the_next_call_begins_with_a_new_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(breaker, "IDLE_SECONDS", 0.2)
    server = Server()
    with serving(server.serve) as raw:
        client = HttpClient(probe_url=f"{raw.url}/up")
        server.mood = "silent"
        ask_until_open(client, f"{raw.url}/work")
        until(lambda: not any(thread.name.endswith(str(raw.port)) for thread in threading.enumerate()))
        assert ask(client, f"{raw.url}/work") is CircuitOpen
        server.mood = "well"
        server.over.set()
        until(lambda: ask(client, f"{raw.url}/work") == 200)


def test_many_callers_need_one_probe() -> None:
    server = Server()
    with serving(server.serve) as raw:
        client = HttpClient(probe_url=f"{raw.url}/up")
        server.mood = "silent"
        ask_until_open(client, f"{raw.url}/work")
        most = 0

        def call() -> None:
            nonlocal most
            for _ in range(200):
                assert ask(client, f"{raw.url}/work") is CircuitOpen
                most = max(most, sum(t.name.endswith(str(raw.port)) for t in threading.enumerate()))

        threads = [threading.Thread(target=call) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        server.over.set()
    assert most == 1


def test_a_forked_child_finds_out_for_itself() -> None:
    server = Server()
    with serving(server.serve) as raw:
        client = HttpClient(probe_url=f"{raw.url}/up")
        server.mood = "silent"
        ask_until_open(client, f"{raw.url}/work")
        child = os.fork()
        if child == 0:
            found = ask(client, f"{raw.url}/work")
            os._exit(0 if found is NoResponse else 1)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        server.over.set()
