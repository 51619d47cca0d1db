"""Traces as a collector receives them: from service to service to database to job, and nothing about people."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from services.orders.documents import DESIGN as ORDERS
from services.products.documents import DESIGN as PRODUCTS
from services.users.documents import DESIGN as USERS
from shared.settings import BadSettings
from shared.tracing import switch_on
from tests.collector import Collector
from tests.people import add_address, register
from tests.processes import free_port


@pytest.fixture(scope="module")
def collector() -> Iterator[Collector]:
    collector = Collector()
    yield collector
    collector.server.shutdown()


@pytest.fixture(scope="module")
def users_url(collector, prepared, service, environment) -> str:
    prepared(USERS, PRODUCTS, ORDERS)
    environment |= {"OTEL_EXPORTER_OTLP_ENDPOINT": collector.url, "OTEL_BSP_SCHEDULE_DELAY": "200"}
    environment["USERS_URL"] = f"http://127.0.0.1:{free_port()}"
    service("products")
    service("orders")
    return service("users")


def test_an_endpoint_that_is_none_is_named_at_start():
    with pytest.raises(BadSettings, match="OTEL_EXPORTER_OTLP_ENDPOINT is 'None'"):
        switch_on("users", "None")


def test_a_trace_runs_through_the_services_and_holds_nothing_personal(users_url, collector, environment):
    ann = register(users_url, Path(environment["MAIL_DIR"]), name="Zoe Quill")
    add_address(ann, users_url)
    assert ann.get(f"{users_url}/v1/users/me/export", timeout=30).status_code == 200
    export = collector.wait_for("users", "GET /v1/users/me/export")
    orders = collector.wait_for("orders", "GET /v1/internal/users/<string:userid>/orders")
    products = collector.wait_for("products", "GET /v1/internal/users/<userid>/reviews")
    assert export.trace_id == orders.trace_id == products.trace_id
    assert orders.parent_span_id == export.span_id
    calls = [
        span for name, span in collector.spans if name == "users" and span.parent_span_id == export.span_id
    ]
    assert sorted(span.name for span in calls) == ["couchdb global", "couchdb partition", "couchdb partition"]
    attributes = {item.key: item.value for item in export.attributes}
    assert attributes["http.response.status_code"].int_value == 200
    for secret in (ann.email, "Zoe Quill", "High Street", ann.token, ann.token[:40], ann.userid):
        assert secret.encode() not in collector.raw
