"""One limit for all that a request asks: several calls, retries, other services; and longer ones for those who name them."""

import time
from functools import partial

import pytest

from shared.client import ServiceClient
from shared.couch import DatabaseDesign, DatabaseUnavailable, Server, deadline
from shared.couch.deadline import NO_LIMIT, parse_limit, request_deadline, time_for, time_limit
from shared.errors import Unavailable
from tests.shared.couch.http.servers import Connection, headers, response, serving

ANYTHING = DatabaseDesign("anything", ())


def slow(seconds: float, connection: Connection) -> None:
    """Every answer takes its time, and none takes too long for a single call."""
    while connection.read() is not None:
        time.sleep(seconds)
        connection.send(
            response(b'{"_id": "a:b", "_rev": "1-x"}', "200 OK", "Content-Type: application/json")
        )


def test_several_calls_share_the_time_of_their_request() -> None:
    """Each within the limit of a call, together they took as long as there are calls."""
    with serving(partial(slow, 0.4)) as database:
        opened = Server(database.url, timeout=1.0).open(ANYTHING)
        began = time.monotonic()
        with request_deadline(1.0), pytest.raises(DatabaseUnavailable) as over:
            [opened.get("a:b") for _ in range(20)]
        assert time.monotonic() - began < 4.0
        assert len(database.seen) <= 3
        assert over.value.retry_after == 1
        assert opened.get("a:b")["_rev"] == "1-x", "who is no request has the time of a call"


def test_a_request_whose_time_is_over_asks_nobody() -> None:
    with serving(partial(slow, 0)) as other:
        opened, client = (
            Server(other.url, timeout=0.05).open(ANYTHING),
            ServiceClient("products", other.url, "s", deadline=0.05),
        )
        with request_deadline(0.05):
            time.sleep(0.1)
            with pytest.raises(DatabaseUnavailable):
                opened.get("a:b")
            with pytest.raises(Unavailable):
                client.get("/x")
        assert other.seen == []


def test_another_service_is_told_how_long_it_has() -> None:
    with serving(partial(slow, 0)) as other:
        client = ServiceClient("products", other.url, "secret")
        with request_deadline(1.0):
            client.get("/x")
        client.get("/x", deadline=30)
        client.fetch("GET", "/x")
    told = [float(dict(headers(request))[deadline.HEADER.lower()]) for request in server_heads(other.seen)]
    assert 0 < told[0] < 2.5
    assert 25 < told[1] < 30
    assert 0 < told[2] < 2.5


def server_heads(seen: list[bytes]) -> list[bytes]:
    return [request.partition(b"\r\n\r\n")[0] for request in seen]


def test_who_names_a_longer_time_has_it_and_no_more_than_its_caller_waits() -> None:
    @time_limit(60)
    def export() -> float:
        return time_for(60)

    with request_deadline(2.5):
        assert time_for(1) == 1
        assert time_for(2.5) <= 2.5
        assert export() > 50
        assert 2.5 < time_for(30) <= 30, "what was allowed stays allowed"
    with request_deadline(2.5, limit=1.0):
        assert export() <= 1.0
    assert export() == 60


def test_an_import_takes_as_long_as_it_takes_and_each_of_its_calls_its_own_time() -> None:
    """A call that named a minute once ended every import after a minute."""

    @time_limit(NO_LIMIT)
    def import_lines() -> list[float]:
        found = []
        for _ in range(3):
            found.append(time_for(0.1))
            time.sleep(0.1)
        return found

    with request_deadline(0.05):
        assert import_lines() == [0.1, 0.1, 0.1]


@pytest.mark.parametrize(
    ("sent", "limit"),
    [
        ("1.5", 1.5),
        (None, float("inf")),
        ("", float("inf")),
        ("-1", float("inf")),
        ("nan", float("inf")),
        ("soon", float("inf")),
    ],
)
def test_what_a_caller_tells_is_taken_if_it_is_a_time(sent: str | None, limit: float) -> None:
    assert parse_limit(sent) == limit
