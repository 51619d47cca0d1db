"""What the transport does on bad days, shown on real sockets: refused, silent, slow down, and the answer that got lost."""

import json
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from shared.couch import (
    DatabaseDesign,
    DatabaseUnavailable,
    FindIndex,
    NoSuchDocument,
    QueryRefused,
    Server,
    StaleRows,
    UpdateConflict,
    View,
)
from shared.couch.errors import Forbidden
from shared.couch.http import CircuitOpen
from tests.processes import free_port
from tests.shared.couch.http.servers import Authority, Connection, response, serving

ANYTHING = DatabaseDesign("anything", ())


def reply(status: str, body: dict | list, *headers: str) -> bytes:
    content = json.dumps(body).encode()
    lines = [
        f"HTTP/1.1 {status}",
        "Content-Type: application/json",
        f"Content-Length: {len(content)}",
        "Connection: close",
        *headers,
    ]
    return "\r\n".join([*lines, "", ""]).encode() + content


@contextmanager
def script(*answers: bytes | None) -> Iterator[tuple[str, list[bytes]]]:
    """A server that gives these answers in turn (None: hangs up without one) and keeps the requests it read."""
    requests: list[bytes] = []
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def serve() -> None:
            for answer in answers:
                try:
                    connection, _ = listener.accept()
                except OSError:  # the test is over, and did not need all of them
                    return
                with connection:
                    requests.append(connection.recv(65536))
                    if answer is not None:
                        connection.sendall(answer)

        threading.Thread(target=serve, daemon=True).start()
        yield f"http://127.0.0.1:{listener.getsockname()[1]}", requests


@contextmanager
def catching_up() -> Iterator[tuple[str, list[bytes]]]:
    """A server that keeps back every answer for which an index would have to be brought up to date; and what it was asked."""
    asked: list[bytes] = []
    over = threading.Event()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            asked.append(body)
            if b'"update"' in body or over.wait(30):
                self.wfile.write(reply("200 OK", {"rows": [{"id": "a:b"}], "docs": [{"_id": "a:b"}]}))

        def log_message(self, *_: Any) -> None:
            """Quiet."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}", asked
    over.set()
    server.shutdown()
    server.server_close()


def test_an_index_that_is_long_in_catching_up_says_what_it_held_before():
    view = View("v", "?", "function (doc) {}")
    with catching_up() as (url, asked):
        database = Server(url, timeout=1.0).open(ANYTHING)
        for _ in range(2):
            rows = database.across_partitions.view(view, allow_stale=True)
            assert rows == [{"id": "a:b"}]
            assert isinstance(rows, StaleRows)
        assert ["update" in json.loads(body) for body in asked] == [False, True, True]
        with pytest.raises(DatabaseUnavailable):
            database.across_partitions.view(view)


def test_a_find_index_that_is_long_in_catching_up_says_what_it_held_before():
    index = FindIndex("f", "?", ("name",))
    with catching_up() as (url, asked):
        database = Server(url, timeout=1.0).open(ANYTHING)
        for place in (database.across_partitions, database.partition("a")):
            assert place.find(index, {"name": {"$gt": None}}, allow_stale=True).items == [{"_id": "a:b"}]
        assert [json.loads(body).get("update") for body in asked] == [None, False, False]
        with pytest.raises(DatabaseUnavailable):
            database.across_partitions.find(index, {"name": {"$gt": None}})


def test_a_database_that_is_away_is_told():
    database = Server(f"http://127.0.0.1:{free_port()}", timeout=1.0).open(ANYTHING)
    with pytest.raises(DatabaseUnavailable) as told:
        database.get("a:b")
    assert told.value.retry_after >= 1


def test_a_database_that_says_nothing_is_given_up_on():
    with socket.create_server(("127.0.0.1", 0)) as silent:
        database = Server(f"http://127.0.0.1:{silent.getsockname()[1]}", timeout=0.5).open(ANYTHING)
        with pytest.raises(DatabaseUnavailable):
            database.get("a:b")


def test_too_many_requests_and_server_errors_are_asked_again():
    busy = reply("429 Too Many Requests", {"error": "too_many_requests"})
    broken = reply("503 Service Unavailable", {"error": "boo"})
    with script(busy, broken, reply("200 OK", {"_id": "a:b", "_rev": "1-x"})) as (url, requests):
        assert Server(url, timeout=5).open(ANYTHING).get("a:b")["_rev"] == "1-x"
    assert len(requests) == 3


NODE_DOWN = reply("412 Precondition Failed", {"error": "nodedown", "reason": "progress not possible"})
"""What a cluster says of a list, a view, a search or the changes while one of the nodes that it reads from goes away."""


def test_a_read_of_which_a_node_went_away_is_asked_again():
    with script(NODE_DOWN, reply("200 OK", {"rows": [{"id": "a:b", "doc": {"_id": "a:b"}}]})) as (
        url,
        requests,
    ):
        assert Server(url, timeout=5).open(ANYTHING).partition("a").all() == [{"_id": "a:b"}]
    assert len(requests) == 2


def test_a_cluster_that_stays_without_a_node_is_away_and_no_conflict():
    with script(NODE_DOWN) as (url, _), pytest.raises(DatabaseUnavailable):
        Server(url, timeout=0.3).open(ANYTHING).partition("a").all()


def test_an_error_that_stays_is_passed_on_as_away():
    busy = reply("429 Too Many Requests", {"error": "too_many_requests"}, "Retry-After: 9")
    with script(busy) as (url, _), pytest.raises(DatabaseUnavailable):
        Server(url, timeout=1).open(ANYTHING).get("a:b")


def test_a_write_whose_answer_was_lost_is_recognised_as_ours():
    conflict = reply("409 Conflict", {"error": "conflict", "reason": "Document update conflict."})
    own = reply("200 OK", {"_id": "a:b", "_rev": "1-x", "n": 1})
    with script(None, conflict, own) as (url, _):
        assert Server(url, timeout=5).open(ANYTHING).put({"_id": "a:b", "n": 1}) == "1-x"


GONE = reply("200 OK", {"rows": [{"id": "a:b", "value": {"rev": "2-x", "deleted": True}, "doc": None}]})
REWRITTEN = reply("200 OK", {"rows": [{"id": "a:b", "doc": {"_id": "a:b", "_rev": "2-y"}}]})


@pytest.mark.parametrize(
    "refusal", [("409 Conflict", {"error": "conflict"}), ("404 Not Found", {"error": "not_found"})]
)
def test_a_deletion_whose_answer_was_lost_is_recognised_as_ours(refusal: tuple[str, dict]):
    with script(None, reply(*refusal), GONE) as (url, _):
        Server(url, timeout=5).open(ANYTHING).delete("a:b", "1-x")
    with script(reply(*refusal)) as (url, _), pytest.raises((UpdateConflict, NoSuchDocument)):
        Server(url, timeout=5).open(ANYTHING).delete("a:b", "1-x")


def test_a_deletion_that_lost_to_somebody_else_stays_a_conflict():
    conflict = reply("409 Conflict", {"error": "conflict", "reason": "Document update conflict."})
    with script(None, conflict, REWRITTEN) as (url, _), pytest.raises(UpdateConflict):
        Server(url, timeout=5).open(ANYTHING).delete("a:b", "1-x")


def test_a_write_that_lost_to_somebody_else_stays_a_conflict():
    conflict = reply("409 Conflict", {"error": "conflict", "reason": "Document update conflict."})
    theirs = reply("200 OK", {"_id": "a:b", "_rev": "1-y", "n": 2})
    with script(None, conflict, theirs) as (url, _), pytest.raises(UpdateConflict):
        Server(url, timeout=5).open(ANYTHING).put({"_id": "a:b", "n": 1})
    with script(conflict) as (url, _), pytest.raises(UpdateConflict):
        Server(url, timeout=5).open(ANYTHING).put({"_id": "a:b", "n": 1})


def test_the_sdk_streams_through_our_session(server: Server, prepared: Callable[..., None]) -> None:
    """Lines of a feed and the bytes of an attachment, as they come; by `requests`, which the SDK's users expect."""
    prepared(ANYTHING)
    name, sdk = server.name_of(ANYTHING), server.client.sdk
    database = server.open(ANYTHING)
    rev = database.put({"_id": "a:b"})
    content = bytes(range(256)) * 5000
    database.put_attachment("a:b", rev, "x.bin", content, "application/octet-stream")
    feed = sdk.post_changes_as_stream(db=name).get_result()
    assert json.loads(b"".join(feed.iter_content(1024)))["results"][0]["id"] == "a:b"
    stream = sdk.get_attachment(db=name, doc_id="a:b", attachment_name="x.bin", stream=True).get_result()
    assert b"".join(stream.iter_content(4096)) == content
    assert database.attachment("a:b", "x.bin") == (content, "application/octet-stream")
    assert sdk.head_document(db=name, doc_id="a:b").get_headers()["ETag"]


def test_a_database_behind_tls_with_an_authority_of_the_house(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    authority = Authority(tmp_path)
    monkeypatch.setenv("SSL_CERT_FILE", str(authority.file))
    doc = response(b'{"_id": "a:b", "_rev": "1-x"}', "200 OK", "Content-Type: application/json")
    with serving(lambda c: c.send(doc) if c.read() else None, authority.server("127.0.0.1")) as couch:
        address = couch.url.replace("https://", "https://admin:secret@")
        assert Server(address).open(ANYTHING).get("a:b")["_rev"] == "1-x"
    assert b"Authorization: Basic YWRtaW46c2VjcmV0" in couch.seen[0]


def test_who_has_time_waits_for_a_database_that_is_only_just_started() -> None:
    """`prepare` may begin before the database; the circuit is open by then, and readers are refused at once."""
    port = free_port()
    doc = response(b'{"_id": "a:b", "_rev": "1-x"}', "200 OK", "Content-Type: application/json")

    def serve(connection: Connection) -> None:
        while connection.read():
            connection.send(doc)

    url, found = f"http://127.0.0.1:{port}", []
    reader = Server(url, timeout=4.0).open(ANYTHING)
    is_long = threading.Thread(target=lambda: found.append(Server(url, timeout=30).open(ANYTHING).get("a:b")))
    is_long.start()
    ends = time.monotonic() + 20
    while time.monotonic() < ends:
        with pytest.raises(DatabaseUnavailable) as away:
            reader.get("a:b")
        if isinstance(away.value.__cause__, CircuitOpen):
            break
    assert isinstance(away.value.__cause__, CircuitOpen)
    time.sleep(1.0)
    assert not found
    with serving(serve, port=port):
        is_long.join(20)
    assert found == [{"_id": "a:b", "_rev": "1-x"}]


@pytest.mark.parametrize(
    ("error", "raised"),
    [
        ("internal_server_error", DatabaseUnavailable),
        ("timeout", DatabaseUnavailable),
        ("forbidden", Forbidden),
        ("doc_validation", QueryRefused),
    ],
)
def test_a_row_of_a_bulk_that_was_not_taken_raises_what_a_write_of_it_alone_does(
    error: str, raised: type[Exception]
):
    rows = [
        {"id": "a:1", "rev": "1-a"},
        {"id": "a:2", "error": error, "reason": "No DB shards could be opened."},
    ]
    answer = reply("201 Created", rows)
    with script(answer, answer) as (url, _):
        database = Server(url, timeout=1.0).open(ANYTHING)
        with pytest.raises(raised, match="a:2"):
            database.add_many([{"_id": "a:1", "type": "note"}, {"_id": "a:2", "type": "note"}])
