"""The HTTP client on real sockets: what it sends, what it reads, and which connection it uses."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from shared.couch.http import Headers, HttpClient, NoResponse, handle
from tests.shared.couch.http.servers import Connection, answering, headers, response, serving
from tests.waiting import eventually

SOON = 10.0


def test_a_request_is_sent_as_it_was_given() -> None:
    with serving(answering) as server:
        sent = {"Accept": "application/json", "X-Empty": "", "Content-Type": "application/json"}
        path = "/db/a%3Ab/../_design/x?key=%22a%22"
        answer = HttpClient().request("PUT", server.url + path, sent, b'{"n": 1}', timeout=SOON)
    assert (answer.status, answer.body) == (200, b'{"n": 1}')
    head, _, body = server.seen[0].partition(b"\r\n\r\n")
    assert head.split(b"\r\n")[0] == f"PUT {path} HTTP/1.1".encode(), "a path is not tidied up"
    assert body == b'{"n": 1}'
    assert dict(headers(head)) == {
        "host": f"127.0.0.1:{server.port}",
        "accept": "application/json",
        "x-empty": "",
        "content-type": "application/json",
        "content-length": "8",
    }


@pytest.mark.parametrize("method", ["POST", "PUT"])
def test_a_write_without_a_body_says_that_it_is_empty(method: str) -> None:
    with serving(answering) as server:
        HttpClient().request(method, server.url + "/x", {}, timeout=SOON)
    found = dict(headers(server.seen[0]))
    assert found["content-length"] == "0"
    assert "content-type" not in found


def test_a_large_body_goes_out_at_once_and_a_large_one_comes_back() -> None:
    body = bytes(range(256)) * 80_000
    with serving(answering) as server:
        assert HttpClient().request("POST", server.url + "/x", {}, body, timeout=60).body == body
    assert b"expect" not in server.seen[0][:500].lower(), "no server is waited for before the body is sent"


def test_methods_follow_each_other_on_one_connection() -> None:
    def serve(connection: Connection) -> None:
        while (request := connection.read()) is not None:
            method = request.split()[0]
            answer = response(b"12345")
            connection.send(answer[: answer.index(b"12345")] if method == b"HEAD" else answer)

    client = HttpClient()
    with serving(serve) as server:
        for method in ("GET", "HEAD", "PUT", "HEAD", "DELETE", "POST", "GET", "OPTIONS"):
            body = b"{}" if method in ("PUT", "POST") else None
            answer = client.request(method, server.url + "/x", {}, body, timeout=SOON)
            assert answer.body == (b"" if method == "HEAD" else b"12345")
            assert answer.headers["Content-Length"] == "5"
    assert [line.split()[0] for line in server.seen] == b"GET HEAD PUT HEAD DELETE POST GET OPTIONS".split()
    assert [request.endswith(b"{}") for request in server.seen] == [0, 0, 1, 0, 0, 1, 0, 0]
    assert server.connections == 1


def test_a_busy_connection_is_made_anew_when_it_is_old(monkeypatch: pytest.MonkeyPatch) -> None:
    """Behind its address there may be another server by then: the one that this leads to may not be ready any more."""
    monkeypatch.setattr(handle, "LIFETIME_SECONDS", 1)
    client = HttpClient()

    def is_made_anew() -> bool:
        assert client.request("GET", server.url + "/x", {}, timeout=SOON).status == 200
        return server.connections > 1

    with serving(answering) as server:
        assert not is_made_anew()
        eventually(is_made_anew, seconds=20)


def test_who_needs_no_headers_gets_the_body_alone_and_the_next_one_gets_them_again() -> None:
    lines = ("Content-Type: application/json", "ETag: x", "Retry-After: 3", "X-Name: y")

    def serve(connection: Connection) -> None:
        while connection.read() is not None:
            connection.send(response(b"{}", "429 Too Many Requests", *lines))

    client = HttpClient()
    with serving(serve) as server:
        for all_headers in (True, False, False, True, False):
            answer = client.request("GET", server.url + "/", {}, timeout=SOON, all_headers=all_headers)
            assert (answer.status, answer.body) == (429, b"{}")
            named = {"Content-Type": "application/json", "Retry-After": "3"}
            assert {name: answer.headers[name] for name in named} == named
            assert ("ETag" in answer.headers, "X-Name" in answer.headers) == (all_headers, all_headers)
    assert server.connections == 1


def test_headers_are_read_whatever_their_case_and_number() -> None:
    early = b"HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n"
    answer = response(b"", "200 OK", 'ETag:  "1-x" ', "Vary: Accept", "vary: Cookie", "X-Name: caf\xe9")
    with serving(lambda connection: connection.send(early, answer) if connection.read() else None) as server:
        found = HttpClient().request("GET", server.url + "/", {}, timeout=SOON).headers
    assert isinstance(found, Headers)
    assert (found["etag"], found.get("VARY"), found["x-name"]) == (
        '"1-x"',
        "Accept, Cookie",
        "caf\u00c3\u00a9",
    )
    assert "link" not in found, "what came before the answer is not of the answer"
    assert found.get("Server-Timing", "") == ""


@pytest.mark.parametrize(
    "ending",
    [
        b"Connection: close\r\n\r\nall of it",
        b"Transfer-Encoding: chunked\r\n\r\n4\r\nall \r\n5\r\nof it\r\n0\r\n\r\n",
    ],
)
def test_a_body_may_come_in_chunks_or_last_until_the_connection_ends(ending: bytes) -> None:
    with serving(lambda c: c.send(b"HTTP/1.1 200 OK\r\n" + ending) if c.read() else None) as server:
        assert HttpClient().request("GET", server.url + "/", {}, timeout=SOON).body == b"all of it"


def test_a_redirect_is_an_answer_like_another() -> None:
    with serving(answering) as other:
        moved = response(b"", "302 Found", f"Location: {other.url}/secret")
        with serving(lambda connection: connection.send(moved) if connection.read() else None) as server:
            answer = HttpClient().request("GET", server.url + "/", {"Authorization": "Basic x"}, timeout=SOON)
    assert (answer.status, answer.headers["Location"]) == (302, f"{other.url}/secret")
    assert other.connections == 0


@pytest.mark.parametrize("value", ["a\r\nX-Role: admin", "a\nb"])
def test_a_header_cannot_bring_another_one_along(value: str) -> None:
    with serving(answering) as server:
        with pytest.raises(ValueError, match="line break"):
            HttpClient().request("GET", server.url + "/", {"X-Name": value}, timeout=SOON)
        assert server.connections == 0


def test_an_answer_beyond_the_limit_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(handle, "MAX_BODY", 1000)

    def endless(connection: Connection) -> None:
        connection.read()
        connection.send(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
        while True:
            connection.send(b"400\r\n", b"x" * 1024, b"\r\n")

    def long_headers(connection: Connection) -> None:
        connection.read()
        connection.send(b"HTTP/1.1 200 OK\r\n")
        while True:
            connection.send(b"X-More: ", b"x" * 1000, b"\r\n")

    for serve in (answering, endless, long_headers):
        with serving(serve) as server, pytest.raises(NoResponse):
            HttpClient().request("POST", server.url + "/", {}, b"x" * 1001, timeout=SOON)


def test_threads_share_the_connections_and_never_an_answer() -> None:
    client, start = HttpClient(max_idle=8), threading.Barrier(24)
    with serving(answering) as server:

        def ask(thread: int) -> list[bytes]:
            start.wait(SOON)
            paths = [f"{server.url}/{thread}/{number}" for number in range(40)]
            return [client.request("GET", path, {}, timeout=SOON).body for path in paths]

        with ThreadPoolExecutor(24) as pool:
            found = list(pool.map(ask, range(24)))
        used = server.connections
        client.request("GET", server.url + "/after", {}, timeout=SOON)
        assert server.connections == used, "idle connections are used again"
    assert found == [[f"/{thread}/{number}".encode() for number in range(40)] for thread in range(24)]
    assert len(client._idle) <= 8


def test_one_after_the_other_needs_one_connection() -> None:
    client = HttpClient()
    with serving(answering) as server:
        for number in range(20):
            client.request("GET", f"{server.url}/{number}", {}, timeout=SOON)
        assert server.connections == 1
        client.close()
        client.request("GET", f"{server.url}/again", {}, timeout=SOON)
        assert server.connections == 2
