"""An OpenTelemetry collector for tests."""

import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest


class Collector:
    """An OTLP endpoint that keeps what it is sent."""

    def __init__(self) -> None:
        self.raw = b""
        self.spans: list[tuple[str, object]] = []
        keeper = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                keeper.keep(body)
                self.send_response(200)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_: object) -> None:
                """Says nothing."""

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def keep(self, body: bytes) -> None:
        request = ExportTraceServiceRequest.FromString(body)
        self.raw += body
        for resource in request.resource_spans:
            name = next(
                item.value.string_value for item in resource.resource.attributes if item.key == "service.name"
            )
            self.spans += [(name, span) for scope in resource.scope_spans for span in scope.spans]

    def wait_for(self, service: str, name: str):
        for _ in range(150):
            for seen, span in self.spans:
                if (seen, span.name) == (service, name):
                    return span
            time.sleep(0.1)
        raise AssertionError(f"no span {name!r} of {service}: {sorted({(s, x.name) for s, x in self.spans})}")

    def ancestors(self, span) -> list[tuple[str, str]]:
        """(service, name) of the spans above one, the nearest first."""
        by_id = {each.span_id: (service, each) for service, each in self.spans}
        found = []
        while span.parent_span_id in by_id:
            service, span = by_id[span.parent_span_id]
            found.append((service, span.name))
        return found
