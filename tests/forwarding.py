"""An HTTP server in front of another one, which answers some requests itself: slow indexes, services that break off."""

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

import requests

Response = tuple[int, Mapping[str, str], bytes]
Forward = Callable[[], Response]
Answer = Callable[[str, str, bytes, Forward], Response]
"""Method, path, body, and what has the other server answer: the response."""

NOT_PASSED_ON = {
    "connection",
    "content-length",
    "content-encoding",
    "transfer-encoding",
    "accept-encoding",
    "host",
    "server",
    "date",
}


def cut_off(method: str, path: str, body: bytes, forward: Forward) -> Response:
    """Of a database server: the one node of a cluster that took what it was sent, while it reaches no other (202, `accepted`)."""
    status, headers, content = forward()
    if not path.endswith("/_bulk_docs"):
        is_document = (method, status) == ("PUT", 201) and path.count("/") == 2
        return 202 if is_document else status, headers, content
    rows = [row | {"accepted": True} if row.get("ok") else row for row in json.loads(content)]
    return 202, headers, json.dumps(rows).encode()


def as_one_of_three(method: str, path: str, content: bytes) -> bytes:
    """What a database server says of a database, as if three nodes had a copy of each document; anything else as it is."""
    if method != "GET" or path.count("/") != 1 or b'"cluster"' not in content:
        return content
    found = json.loads(content)
    return json.dumps({**found, "cluster": {**found["cluster"], "n": 3}}).encode()


def documents_written(method: str, path: str, body: bytes) -> list[dict[str, Any]]:
    """The documents that a request to a database server writes."""
    if path.endswith("/_bulk_docs"):
        found: list[dict[str, Any]] = json.loads(body)["docs"]
        return found
    return [{"_id": path.rpartition("/")[2], **json.loads(body)}] if method == "PUT" and body else []


@dataclass
class GoesAway:
    """Of a database server: it takes a document of one of `types`, and from then on answers nothing, not that either, until it `is_away` no
    more."""

    types: tuple[str, ...] = ()
    is_away: bool = False

    def answer(self, method: str, path: str, body: bytes, forward: Forward) -> Response:
        if not self.is_away and any(
            doc.get("type") in self.types for doc in documents_written(method, path, body)
        ):
            forward()
            self.is_away = True
        return (503, {}, b"{}") if self.is_away else forward()


@contextmanager
def forwarding(target: str, answer: Answer) -> Iterator[str]:
    """The server's address, with the credentials that `target` has."""
    session = requests.Session()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def handle_request(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))

            def forward() -> Response:
                found = session.request(
                    self.command,
                    target + self.path,
                    headers=_passed_on(self.headers),
                    data=body,
                    timeout=60,
                    allow_redirects=False,
                )
                return found.status_code, _passed_on(found.headers), found.content

            try:
                status, headers, content = answer(self.command, self.path, body, forward)
            except requests.RequestException:
                self.close_connection = True
                return
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content if self.command != "HEAD" else b"")

        do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = do_HEAD = handle_request

        def log_message(self, *_: object) -> None:
            """Quiet."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    Thread(target=server.serve_forever, daemon=True).start()
    credentials = target.partition("://")[2].rpartition("@")[0]
    yield f"http://{credentials}{'@' if credentials else ''}127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


def _passed_on(headers: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in headers.items() if name.lower() not in NOT_PASSED_ON}
