"""The promises "503 within 3 s" and "gone within 10 s", as sums of the time-outs that the code runs with: no test's clock decides.

That each part gives up at all is shown elsewhere, against parts that are really away.
"""

import runpy
from collections.abc import Callable

import pytest

from deploy.local import launcher
from services.orders.settings import Settings as OrdersSettings
from services.orders.store import open_stores
from shared import client
from shared.client import ServiceClient
from shared.couch import DatabaseUnavailable, Server
from shared.couch import transport as couch
from shared.couch.http import NoResponse, NotSent, TransportError
from shared.database import open_server
from shared.errors import Unavailable
from shared.redis import open_redis
from shared.settings import DatabaseSettings, load
from tests.processes import ROOT

ANSWERED_WITHIN, GONE_WITHIN = 3.0, 10.0
OWN_WORK = 0.3
"""Seconds of an answer that are left for everything but waiting."""


class Clock:
    """Time that passes only by waiting for it."""

    now = 0.0

    def monotonic(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(couch, "time", clock)
    monkeypatch.setattr(client, "time", clock)
    return clock


def open_orders(settings: DatabaseSettings) -> Server:
    return open_stores(settings).server


@pytest.mark.parametrize("opened", [open_server, open_orders])
@pytest.mark.parametrize("failure", [NotSent("refused"), NoResponse("silent")])
def test_a_service_gives_up_on_its_database_in_time(
    opened: Callable, failure: TransportError, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = opened(load(OrdersSettings, {"AISLE_ENV": "local", "MAIL_DIR": "mail"}))
    asked = []

    def request(
        method: str, url: str, headers: object, body: object, *, timeout: float, all_headers: bool
    ) -> None:
        """Refused at once, or silent for all the time it is given."""
        asked.append(url)
        clock.sleep(timeout if isinstance(failure, NoResponse) else 0)
        raise failure

    monkeypatch.setattr(server.client.sdk.get_http_client().http, "request", request)
    with pytest.raises(DatabaseUnavailable):
        server.ready()
    assert clock.now <= ANSWERED_WITHIN - OWN_WORK
    if isinstance(failure, NotSent):
        assert len(asked) > 3, "it tried again"


def test_a_service_gives_up_on_another_in_time(clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    other = ServiceClient("products", "http://127.0.0.1:9", "secret")

    def silent(*_: object, timeout: float) -> None:
        clock.sleep(timeout)
        raise NoResponse("silent")

    monkeypatch.setattr(other._http, "request", silent)
    with pytest.raises(Unavailable):
        other.get("/anything")
    assert 0 < clock.now <= ANSWERED_WITHIN - OWN_WORK


def test_a_service_gives_up_on_redis_in_time() -> None:
    options = open_redis("redis://127.0.0.1:9").connection_pool.connection_kwargs
    retry = options["retry"]
    pauses = sum(retry._backoff.compute(failures) for failures in range(1, retry._retries + 1))
    tries = (retry._retries + 1) * max(options["socket_timeout"], options["socket_connect_timeout"])
    assert tries + pauses <= ANSWERED_WITHIN - OWN_WORK


def test_what_is_in_flight_has_less_time_than_a_stop_may_take() -> None:
    assert runpy.run_path(str(ROOT / "deploy/gunicorn.conf.py"))["graceful_timeout"] < GONE_WITHIN
    assert launcher.STOP_TIMEOUT < GONE_WITHIN
