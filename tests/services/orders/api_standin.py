"""A local server that stands in for somebody else's API: it answers, slowly or with an error, loses answers, or is away."""

import json
import threading
from collections.abc import Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Json = dict[str, Any]
Answer = tuple[int, Json | bytes]
"""A text of bytes is sent as it is."""


class ApiStandIn:
    """`accepted` counts the POSTs that came in, `requests` are those that were worked on. Subclasses say what the answers are."""

    def __init__(self) -> None:
        self.requests: list[tuple[str, str]] = []
        self.accepted = 0
        self.fault: str | Answer = ""
        """"hang": nobody is answered; "lose": the connection breaks when all is done; "garbage": no JSON; or what everybody is answered."""
        self._answering = threading.Event()
        self._answering.set()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def close(self) -> None:
        self.heal()
        self._server.shutdown()
        self._server.server_close()

    def break_(self, fault: str | Answer) -> None:
        self.fault = fault
        if fault == "hang":
            self._answering.clear()

    def heal(self) -> None:
        self.fault = ""
        self._answering.set()

    def answer(self, method: str, path: str, headers: Mapping[str, str], body: bytes) -> Answer:
        raise NotImplementedError

    def _served(
        self, method: str, path: str, headers: Mapping[str, str], body: bytes
    ) -> tuple[int, bytes] | None:
        """None: the connection breaks."""
        self.accepted += method == "POST"
        self._answering.wait(60)
        status, found = self.answer(method, path, headers, body)
        if method == "POST":
            self.requests.append((method, path))
        if self.fault == "lose":
            return None
        if self.fault == "garbage":
            return 200, b"<html>"
        if isinstance(self.fault, tuple):
            status, found = self.fault
        return status, json.dumps(found).encode() if isinstance(found, dict) else found

    def _handler(standin) -> type[BaseHTTPRequestHandler]:
        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                self._serve()

            def do_POST(self) -> None:
                self._serve()

            def _serve(self) -> None:
                sent = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                served = standin._served(self.command, self.path, self.headers, sent)
                if served is None:
                    self.close_connection = True
                    return
                status, body = served
                try:
                    self.send_response(status)
                    self.send_header("Content-Type", "application/json")
                    self.send_header("Content-Length", str(len(body)))
                    self.end_headers()
                    self.wfile.write(body)
                except OSError:
                    self.close_connection = True

            def log_message(self, *_: Any) -> None:
                """Quiet."""

        return Handler
