"""What a client sees on one connection, byte by byte: answers in turn, whole, and the connection closed when that is asked for."""

import json
import socket
from base64 import b64encode
from collections.abc import Callable, Iterator
from urllib.parse import urlsplit

import pytest

from .conftest import Couch

pytestmark = pytest.mark.conformance

SECONDS = 60
MANY = 50
Ask = Callable[..., bytes]


@pytest.fixture
def wire(couch: Couch) -> Iterator[socket.socket]:
    at = urlsplit(couch.url)
    with socket.create_connection((at.hostname, at.port or 80), timeout=SECONDS) as connection:
        yield connection


@pytest.fixture
def ask(couch: Couch) -> Ask:
    """A request's bytes."""
    name, password = couch.auth or ("", "")
    credentials = b64encode(f"{name}:{password}".encode()).decode()

    def written(path: str, method: str = "GET", *headers: str) -> bytes:
        common = (f"Host: {urlsplit(couch.url).netloc}", f"Authorization: Basic {credentials}")
        return "\r\n".join((f"{method} {path} HTTP/1.1", *common, *headers, "", "")).encode()

    return written


def read_to_the_end(wire: socket.socket) -> bytes:
    pieces = []
    while piece := wire.recv(1 << 20):
        pieces.append(piece)
    return b"".join(pieces)


def bodies(answers: bytes) -> list[bytes]:
    """Of answers that follow each other, all with Content-Length."""
    found = []
    while answers:
        head, _, rest = answers.partition(b"\r\n\r\n")
        lengths = [
            int(line[15:]) for line in head.split(b"\r\n") if line.lower().startswith(b"content-length:")
        ]
        found.append(rest[: lengths[0]])
        answers = rest[lengths[0] :]
    return found


def test_an_answer_arrives_with_its_head(couch: Couch, db: str, wire: socket.socket, ask: Ask):
    if not couch.is_minicouch:
        pytest.skip("how CouchDB itself divides its writes is its own affair")
    couch.put(f"{db}/one", {"n": 1})
    for _ in range(MANY):
        wire.sendall(ask(f"{db}/one"))
        assert [json.loads(body)["n"] for body in bodies(wire.recv(1 << 20))] == [1]


def test_a_small_partition_of_many_documents_arrives_in_one_go(
    couch: Couch, pdb: str, wire: socket.socket, ask: Ask
):
    if not couch.is_minicouch:
        pytest.skip("how CouchDB itself divides its writes is its own affair")
    docs = [{"_id": f"many:{n:04d}"} for n in range(1201)] + [{"_id": f"few:{n}"} for n in range(3)]
    couch.post(f"{pdb}/_bulk_docs", {"docs": docs})
    for _ in range(MANY):
        wire.sendall(ask(f"{pdb}/_partition/few/_all_docs"))
        [answer] = bodies(wire.recv(1 << 20))
        assert [row["id"] for row in json.loads(answer)["rows"]] == [f"few:{n}" for n in range(3)]
    rows = couch.get(f"{pdb}/_partition/many/_all_docs").json()["rows"]
    assert [row["id"] for row in rows] == [f"many:{n:04d}" for n in range(1201)]


def test_requests_sent_at_once_are_answered_in_turn(couch: Couch, db: str, wire: socket.socket, ask: Ask):
    long = "x" * 300_000
    couch.put(f"{db}/long", {"text": long})
    couch.put(f"{db}/short", {"text": "s"})
    paths = (f"{db}/long", f"{db}/short", f"{db}/long")
    wire.sendall(b"".join(map(ask, paths)) + ask(f"{db}/short", "GET", "Connection: close"))
    assert [json.loads(body)["text"] for body in bodies(read_to_the_end(wire))] == [long, "s", long, "s"]


def test_a_connection_is_closed_after_a_whole_answer(couch: Couch, db: str, wire: socket.socket, ask: Ask):
    text = "x" * 1_000_000
    couch.put(f"{db}/long", {"text": text})
    wire.sendall(ask(f"{db}/long", "GET", "Connection: close"))
    assert [json.loads(body)["text"] for body in bodies(read_to_the_end(wire))] == [text]


def test_head_has_the_length_and_no_body(couch: Couch, db: str, wire: socket.socket, ask: Ask):
    couch.put(f"{db}/one", {"n": 1})
    wire.sendall(ask(f"{db}/one", "HEAD", "Connection: close"))
    head, _, rest = read_to_the_end(wire).partition(b"\r\n\r\n")
    length = len(couch.get(f"{db}/one").content)
    assert (rest, f"content-length: {length}".encode() in head.lower()) == (b"", True)
