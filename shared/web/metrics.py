"""Prometheus metrics of a service. Safe with several workers when PROMETHEUS_MULTIPROC_DIR names a directory."""

import os

from flask import Response
from prometheus_client import REGISTRY, CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.exposition import CONTENT_TYPE_LATEST
from prometheus_client.multiprocess import MultiProcessCollector

from shared.couch.http import breaker

_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
"""What has a number of its own: a caller may invent as many methods as he likes."""

_BUCKETS = (0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5)

REQUESTS = Histogram(
    "aisle_request_seconds", "Time to answer", ("service", "method", "route", "status"), buckets=_BUCKETS
)
CIRCUIT_OPEN = Gauge(
    "aisle_circuit_open",
    "1 while calls to a server fail at once because it does not answer",
    ("server",),
    multiprocess_mode="livemax",
)
CIRCUITS_OPENED = Counter("aisle_circuits_opened", "How often a server stopped answering", ("server",))
CALLS = Counter("aisle_database_calls", "Database calls by class", ("service", "route", "kind"))


def count_circuit(server: str, state: breaker.State) -> None:
    """Called whenever a circuit opens or closes."""
    opened = state is breaker.State.OPEN
    CIRCUIT_OPEN.labels(server).set(int(opened))
    if opened:
        CIRCUITS_OPENED.labels(server).inc()


breaker.on_change(count_circuit)


class RequestMetrics:
    """Counts requests; keeps the labelled children at hand because looking one up costs more than counting."""

    def __init__(self, service: str) -> None:
        self._service = service
        self._requests: dict[tuple[str, str, int], Histogram] = {}
        self._calls: dict[tuple[str, str], Counter] = {}

    def observe(self, method: str, route: str, status: int, seconds: float) -> None:
        key = (method if method in _METHODS else "other", route, status)
        child = self._requests.get(key)
        if child is None:
            child = self._requests[key] = REQUESTS.labels(self._service, key[0], route, str(status))
        child.observe(seconds)

    def count_calls(self, route: str, calls: dict[str, int]) -> None:
        for kind, number in calls.items():
            if number:
                child = self._calls.get((route, kind))
                if child is None:
                    child = self._calls[route, kind] = CALLS.labels(self._service, route, kind)
                child.inc(number)


def metrics_answer() -> Response:
    """The exposition of this process, or of all workers in multi-process mode."""
    registry = REGISTRY
    if os.environ.get("PROMETHEUS_MULTIPROC_DIR"):
        registry = CollectorRegistry()
        MultiProcessCollector(registry)  # type: ignore[no-untyped-call]  # the library has no types for it
    return Response(generate_latest(registry), content_type=CONTENT_TYPE_LATEST)
