"""OpenTelemetry traces, off by default: nothing is imported and a span costs one comparison until `switch_on`.

A trace runs from the page through the services to the database and into the worker's jobs. A span says what kind of
thing was done, for how long and with what outcome; never to whom: no path, query, body, header or document id.
"""

import time
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from typing import Any

from shared.couch.tally import observe_calls
from shared.settings import BadSettings

_tracing: Any = None


class Tracing:
    """The OpenTelemetry SDK, set up to send spans to an OTLP endpoint over HTTP."""

    def __init__(self, service: str, endpoint: str) -> None:
        from opentelemetry import context, propagate, trace
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
        from opentelemetry.sdk.resources import Resource
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor

        self.context, self.propagate, self.trace = context, propagate, trace
        provider = TracerProvider(
            resource=Resource.create({"service.name": service, "service.namespace": "aisle"})
        )
        provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter(f"{endpoint.rstrip('/')}/v1/traces")))
        self.tracer = provider.get_tracer("aisle")
        self.kinds = {kind.name.lower(): kind for kind in trace.SpanKind}


def switch_on(service: str, endpoint: str) -> None:
    """Sends this process's spans to the collector at `endpoint` (`http://collector:4318`); "" leaves tracing off.

    Raises BadSettings for what is no such address.
    """
    global _tracing
    if endpoint:
        if not endpoint.startswith(("http://", "https://")):
            raise BadSettings(
                f"OTEL_EXPORTER_OTLP_ENDPOINT is {endpoint!r}: use an address like http://collector:4318, or leave it empty."
            )
        if _tracing is None:
            observe_calls(_record_database_call)
        _tracing = Tracing(service, endpoint)


class _NoSpan:
    """What a span is while tracing is off."""

    def __enter__(self) -> dict[str, Any]:
        return {}

    def __exit__(self, *_: object) -> None:
        """Nothing was begun."""


_NO_SPAN = _NoSpan()


def span(
    name: str, kind: str = "internal", headers: Mapping[str, str] | None = None
) -> AbstractContextManager[dict[str, Any]]:
    """Times the block; attributes put into the dictionary it yields are sent with the span.

    `kind`: internal, server, client, producer, consumer. `headers` may carry the caller's trace (`traceparent`).
    """
    return _NO_SPAN if _tracing is None else _recorded(name, kind, headers)


@contextmanager
def _recorded(name: str, kind: str, headers: Mapping[str, str] | None) -> Iterator[dict[str, Any]]:
    attributes: dict[str, Any] = {}
    parent = _tracing.propagate.extract(headers) if headers else None
    with _tracing.tracer.start_as_current_span(
        name, parent, kind=_tracing.kinds[kind], record_exception=False, set_status_on_exception=False
    ) as current:
        try:
            yield attributes
        except BaseException as error:
            attributes["error.type"] = type(error).__name__
            raise
        finally:
            current.update_name(attributes.pop("name", name))
            current.set_attributes(attributes)


def record_span(name: str, milliseconds: float, **attributes: Any) -> None:
    """A span of something that has just ended, below the present one."""
    if _tracing is not None:
        end = time.time_ns()
        done = _tracing.tracer.start_span(
            name,
            kind=_tracing.kinds["client"],
            start_time=end - int(milliseconds * 1e6),
            attributes=attributes,
        )
        done.end(end)


def _record_database_call(kind: str, milliseconds: float) -> None:
    record_span(f"couchdb {kind}", milliseconds, **{"db.system": "couchdb", "db.operation": kind})


def outgoing() -> dict[str, str]:
    """The headers that carry the present trace to another process."""
    headers: dict[str, str] = {}
    if _tracing is not None:
        _tracing.propagate.inject(headers)
    return headers
