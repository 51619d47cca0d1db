"""Calls to our other services: what a customer is told when one is away, and what a page is told of their cost."""

import contextvars
import logging
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import pytest

from shared.client import (
    ServiceCall,
    ServiceClient,
    database_calls,
    database_timing,
    service_calls,
)
from shared.errors import NotFound, Unavailable
from tests.processes import free_port
from tests.shared.couch.http.servers import Connection, response, serving

TIMING = 'partition;dur=1.9;desc="1", global;dur=0;desc="0"'


def test_whoever_is_away_is_named_in_plain_words_and_its_address_is_for_the_log(
    caplog: pytest.LogCaptureFixture,
) -> None:
    port = free_port()
    client = ServiceClient("products", f"http://127.0.0.1:{port}", "secret", deadline=0.5)
    with caplog.at_level(logging.WARNING), pytest.raises(Unavailable) as away:
        client.get("/v1/products/p1")
    assert away.value.detail == "The products service does not answer; try again shortly."
    assert f"127.0.0.1:{port}" in caplog.text


def test_what_a_block_asks_of_services_is_collected_with_its_cost() -> None:
    def serve(connection: Connection) -> None:
        while (request := connection.read()) is not None:
            if b"/lost" in request:
                connection.send(
                    response(b'{"detail": "Not here."}', "404 Not Found", f"Server-Timing: {TIMING}")
                )
            else:
                connection.send(response(b"{}"))

    with serving(serve) as server, ThreadPoolExecutor(1) as pool:
        client = ServiceClient("products", server.url, "secret")
        client.get("/before")
        with service_calls() as calls:
            client.get("/here")
            pool.submit(contextvars.copy_context().run, partial(client.fetch, "GET", "/elsewhere")).result()
            with pytest.raises(NotFound):
                client.get("/lost")
        client.get("/after")
    assert calls == [
        ServiceCall("products", 200, ""),
        ServiceCall("products", 200, ""),
        ServiceCall("products", 404, TIMING),
    ]


def test_what_calls_cost_includes_what_their_services_asked_others() -> None:
    own = 'partition;dur=1.9;desc="1", global;dur=0;desc="0", read;dur=0.2;desc="2", write;dur=0;desc="0"'
    through = f'{own}, services;desc="partition 0, global 1, read 0, write 3"'
    calls = [
        ServiceCall("orders", 201, through),
        ServiceCall("users", 200, own),
        ServiceCall("users", 503, ""),
    ]
    assert database_calls(calls) == {"partition": 2, "global": 1, "read": 4, "write": 3}
    assert database_timing("services", calls) == 'services;desc="partition 2, global 1, read 4, write 3"'


@pytest.mark.parametrize(("idempotent", "sent"), [(False, 1), (True, 3)])
def test_a_call_without_an_answer_is_repeated_only_if_it_may_be(idempotent: bool, sent: int) -> None:
    with serving(lambda connection: connection.read() and None) as server, pytest.raises(Unavailable):
        ServiceClient("orders", server.url, "secret").post("/v1/orders", {}, idempotent=idempotent)
    assert len(server.seen) == sent


@pytest.mark.parametrize(("code", "sent"), [(b"stock_contended", 3), (b"database_unavailable", 1)])
def test_a_service_whose_database_is_away_is_not_asked_again_at_once(code: bytes, sent: int) -> None:
    busy = response(b'{"code": "%s"}' % code, "503 Service Unavailable", "Retry-After: 1")

    def serve(connection: Connection) -> None:
        while connection.read() is not None:
            connection.send(busy)

    with serving(serve) as server, pytest.raises(Unavailable) as refusal:
        ServiceClient("orders", server.url, "secret").get("/v1/orders")
    assert len(server.seen) == sent
    assert refusal.value.retry_after == 1
