"""Slow and hostile clients straight at a service hold nobody else up, and everybody gets the answer meant for them."""

import contextlib
from collections.abc import Callable, Iterator

import orjson
import pytest

from tests.raw_http import RawConnection, raw_connection
from tests.services.products.conftest import ADMIN, Shop, product, token

SLOW = 200
MIB = 1024 * 1024
AS_ADMIN = token(*ADMIN)["Authorization"]


@pytest.fixture(scope="module")
def loaded(shop: Shop) -> Shop:
    shop.load([product("p1", stock=5, description="A long story. " * 1000)])
    return shop


def silent(connection: RawConnection) -> None:
    """Connects and says nothing."""


def half_a_head(connection: RawConnection) -> None:
    connection.send(b"GET /v1/products/p1 HTTP/1.1\r\nHost: shop\r\nX-Slow: ")


def half_a_small_body(connection: RawConnection) -> None:
    connection.send_head("POST", "/v1/products/lookup", Content_Type="application/json", Content_Length="200")
    connection.send(b'{"productids": ["')


def half_a_large_body(connection: RawConnection) -> None:
    connection.send_head(
        "POST", "/v1/products/lookup", Content_Type="application/json", Content_Length=f"{MIB}"
    )
    connection.send(b" " * 200_000)


def half_a_chunked_body(connection: RawConnection) -> None:
    connection.send_head(
        "POST", "/v1/products/lookup", Content_Type="application/json", Transfer_Encoding="chunked"
    )
    connection.send(b'10\r\n{"productids": [\r\nff')


def body_that_waits_to_be_asked_for(connection: RawConnection) -> None:
    connection.send_head(
        "POST",
        "/v1/products/lookup",
        Content_Type="application/json",
        Content_Length="200",
        Expect="100-continue",
    )


def unread_answers(connection: RawConnection) -> None:
    """Asks again and again and reads nothing."""
    connection.socket.settimeout(0.2)
    with contextlib.suppress(TimeoutError):
        for _ in range(50):
            connection.send_head("GET", "/openapi.json")


def unauthenticated_import(connection: RawConnection) -> None:
    connection.send_head(
        "POST", "/v1/products/import", Content_Type="application/x-ndjson", Transfer_Encoding="chunked"
    )
    connection.send(b"1\r\n{\r\n")


def slow_import(connection: RawConnection) -> None:
    """By an admin, of more than is buffered."""
    connection.send_head(
        "POST",
        "/v1/products/import",
        Content_Type="application/x-ndjson",
        Content_Length=f"{50 * MIB}",
        Authorization=AS_ADMIN,
    )
    connection.send(b"{")


KINDS = [
    silent,
    half_a_head,
    half_a_small_body,
    half_a_large_body,
    half_a_chunked_body,
    body_that_waits_to_be_asked_for,
    unread_answers,
    unauthenticated_import,
    slow_import,
]

ANSWERED_AT_ONCE = (body_that_waits_to_be_asked_for, unread_answers, unauthenticated_import, slow_import)


@pytest.fixture
def crowd(loaded: Shop) -> Iterator[Callable[..., list[RawConnection]]]:
    with contextlib.ExitStack() as stack:

        def gather(kind: Callable[[RawConnection], None], count: int) -> list[RawConnection]:
            small = 4096 if kind is unread_answers else None
            found = [
                stack.enter_context(raw_connection(loaded.url, receive_buffer=small)) for _ in range(count)
            ]
            for connection in found:
                kind(connection)
            return found

        yield gather


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_slow_sockets_hold_nobody_up(loaded: Shop, crowd: Callable, kind: Callable) -> None:
    slow = crowd(kind, SLOW)
    for _ in range(20):
        assert loaded.get("/v1/products/p1").status == 200
        assert loaded.get("/health/live").status == 200
    answer = loaded.request("POST", "/v1/products/lookup", {"productids": ["p1"]})
    assert (answer.status, len(answer.json["found"])) == (200, 1), answer.body
    if kind not in ANSWERED_AT_ONCE:
        assert not any(connection.has_answer() for connection in slow), "they were slow no longer"


def test_an_import_goes_through_beside_slow_bodies(loaded: Shop, crowd: Callable) -> None:
    for kind in (half_a_small_body, half_a_large_body, half_a_chunked_body, unauthenticated_import):
        crowd(kind, 50)
    lines = [product(f"big-{number}", description="x" * 2000) for number in range(700)]
    assert sum(map(len, map(orjson.dumps, lines))) > MIB
    assert loaded.load(lines)["created"] == 700


@pytest.mark.faults  # half a minute of waiting for the longest of the times
def test_whoever_is_too_slow_is_told(loaded: Shop) -> None:
    """Head, buffered body and streamed body have a time each; all three run out side by side."""
    with contextlib.ExitStack() as stack:
        connections = []
        for kind in (half_a_head, half_a_small_body, slow_import):
            connections.append(stack.enter_context(raw_connection(loaded.url)))
            kind(connections[-1])
        for connection in connections:
            answer = connection.response()
            assert answer.status == 408
            assert answer.headers["connection"] == "close"
            assert answer.headers["content-type"] == "application/problem+json"
            found = orjson.loads(answer.body)
            assert (found["code"], found["status"]) == ("request_timeout", 408)
            assert found["instance"] == f"urn:aisle:request:{answer.headers['x-request-id']}"
            assert connection.rest() == b""


@pytest.mark.parametrize("framing", ["length", "chunked"])
def test_who_sends_too_much_reads_a_413(loaded: Shop, framing: str) -> None:
    """The whole body is sent before the answer is read: it is not lost, and the connection says that it ends."""
    length = {"Content_Length": str(8 * MIB)} if framing == "length" else {"Transfer_Encoding": "chunked"}
    with raw_connection(loaded.url) as connection:
        connection.send_head("POST", "/v1/products/lookup", Content_Type="application/json", **length)
        piece = b" " * MIB if framing == "length" else b"%x\r\n%s\r\n" % (MIB, b" " * MIB)
        for _ in range(8):
            connection.send(piece)
        answer = connection.response()
        assert (answer.status, answer.headers["connection"]) == (413, "close")
        assert orjson.loads(answer.body)["code"] == "too_large"
        connection.send(b"GET /health/live HTTP/1.1\r\nHost: shop\r\n\r\n")
        assert connection.rest() == b""


def test_a_refused_body_that_was_here_already_ends_no_connection(loaded: Shop) -> None:
    with raw_connection(loaded.url) as connection:
        connection.send_head(
            "POST", "/v1/products/import", Content_Type="text/plain", Content_Length="100000"
        )
        connection.send(b"x" * 100_000)
        assert connection.response().status == 401
        connection.send_head("GET", "/health/live")
        assert connection.response().status == 200


def test_requests_in_a_row_are_answered_in_a_row(loaded: Shop) -> None:
    body = b'{"productids": ["p1"]}'
    chunked = (
        b"5;a=b\r\n" + body[:5] + b"\r\n%x\r\n" % len(body[5:]) + body[5:] + b"\r\n0\r\nX-After: 1\r\n\r\n"
    )
    with raw_connection(loaded.url) as connection:
        connection.send_head(
            "POST", "/v1/products/lookup", Content_Type="application/json", Content_Length=f"{len(body)}"
        )
        connection.send(body)
        connection.send_head(
            "POST", "/v1/products/lookup", Content_Type="application/json", Transfer_Encoding="chunked"
        )
        connection.send(chunked)
        connection.send_head("GET", "/nowhere")
        stream = connection.socket.makefile("rb")
        statuses = []
        for _ in range(3):
            statuses.append(int(stream.readline().split()[1]))
            headers = {}
            while (line := stream.readline().strip()) != b"":
                name, _, value = line.partition(b": ")
                headers[name.lower()] = value
            stream.read(int(headers[b"content-length"]))
        assert statuses == [200, 200, 404]


def test_who_waits_to_be_asked_is_asked_and_who_is_refused_is_not(loaded: Shop) -> None:
    body = b'{"productids": ["p1"]}'
    with raw_connection(loaded.url) as connection:
        connection.send_head(
            "POST",
            "/v1/products/lookup",
            Content_Type="application/json",
            Content_Length=f"{len(body)}",
            Expect="100-continue",
        )
        assert connection.socket.recv(1000) == b"HTTP/1.1 100 Continue\r\n\r\n"
        connection.send(body)
        assert connection.response().status == 200
    with raw_connection(loaded.url) as connection:
        connection.send_head(
            "POST",
            "/v1/products/import",
            Content_Type="application/x-ndjson",
            Content_Length=f"{9 * MIB}",
            Expect="100-continue",
        )
        assert connection.response().status == 401


REFUSED = [
    (b"GET /" + b"x" * 9000 + b" HTTP/1.1\r\nHost: shop\r\n\r\n", 414, "uri_too_long"),
    (b"GET /" + b"x" * 70_000, 414, "uri_too_long"),
    (b"GET / HTTP/1.1\r\nX: " + b"x" * 9000 + b"\r\n\r\n", 431, "headers_too_large"),
    (b"GET / HTTP/1.1\r\n" + b"X: x\r\n" * 20_000, 431, "headers_too_large"),
    (b"POST / HTTP/1.1\r\nHost: shop\r\nExpect: money\r\nContent-Length: 5\r\n\r\n", 417, "bad_request"),
    (b"POST / HTTP/1.1\r\nHost: shop\r\nTransfer-Encoding: brown\r\n\r\n", 501, "bad_request"),
    (b"POST / HTTP/1.1\r\nHost: shop\r\nContent-Length: +5\r\n\r\n", 400, "bad_request"),
    (b"POST / HTTP/1.1\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n", 400, "bad_request"),
    (b"POST / HTTP/1.1\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\n", 400, "bad_request"),
    (b"GET / HTTP/1.1\nHost: shop\n\n", 400, "bad_request"),
    (b"\r\n\r\n\r\n", 400, "bad_request"),
    (b"what is this\r\n\r\n", 400, "bad_request"),
]


@pytest.mark.parametrize(("sent", "status", "code"), REFUSED)
def test_what_is_no_request_is_answered_with_a_problem(
    loaded: Shop, sent: bytes, status: int, code: str
) -> None:
    with raw_connection(loaded.url) as connection:
        connection.send(sent)
        answer = connection.response()
    found = orjson.loads(answer.body)
    assert (answer.status, found["status"], found["code"]) == (status, status, code)
    assert answer.headers["content-type"] == "application/problem+json"
    assert found["instance"] == f"urn:aisle:request:{answer.headers['x-request-id']}"


def test_a_refusal_keeps_the_request_id_that_was_sent(loaded: Shop) -> None:
    with raw_connection(loaded.url) as connection:
        connection.send(b"GET /" + b"x" * 9000 + b" HTTP/1.1\r\nX-Request-ID: abc-1\r\n\r\n")
        assert orjson.loads(connection.response().body)["instance"] == "urn:aisle:request:abc-1"
