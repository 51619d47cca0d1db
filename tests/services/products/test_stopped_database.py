"""A database that is stopped (SIGSTOP) or drips: everybody is answered in time, later ones at once, and it mends itself."""

import os
import signal
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from http.client import HTTPConnection
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from services.products.documents import DESIGN
from shared.couch import Server
from tests.processes import Process, start_minicouch, start_service
from tests.services.products.conftest import Neighbours, Shop, eventually, product
from tests.services.products.reserving import reservation
from tests.shared.couch.http.servers import Connection, response, serving

IN_TIME, SLACK = 3.0, 2.0
"""What is promised, and what a machine with other work may add. Waiting one after the other takes 24 readers 7.5 s, 200 more than 60."""
PAGES = ("/v1/products/p1", "/v1/products?category=Home", "/v1/products?q=product", "/v1/products/p1/reviews")


@dataclass(frozen=True)
class Own:
    """A products service with a database of its own to stop."""

    shop: Shop
    couch: Process
    couch_address: str
    log: Path


@pytest.fixture(scope="module")
def own(
    tmp_path_factory: pytest.TempPathFactory, environment: dict[str, str], neighbours: Neighbours
) -> Iterator[Own]:
    folder = tmp_path_factory.mktemp("stopped")
    couch, couch_url = start_minicouch(folder / "data")
    Server(couch_url, prefix="own-").prepare([DESIGN], progress=lambda line: None)
    log = folder / "products.log"
    settings = {
        "COUCH_URL": couch_url,
        "DATABASE_PREFIX": "own-",
        "USERS_URL": neighbours.url,
        "ORDERS_URL": neighbours.url,
        "WEB_WORKERS": "1",
        "WEB_THREADS": "8",
    }
    service, url = start_service("products", log, {**environment, **settings})
    shop = Shop(url, neighbours)
    shop.load([product("p1", stock=5)])
    yield Own(shop, couch, urlsplit(couch_url).netloc.rpartition("@")[2], log)
    service.kill()
    couch.kill()


@contextmanager
def stopped(own: Own) -> Iterator[None]:
    """Every process of the database stands still: it accepts connections and answers none."""
    os.killpg(own.couch.popen.pid, signal.SIGSTOP)
    try:
        yield
    finally:
        os.killpg(own.couch.popen.pid, signal.SIGCONT)


def read(url: str, path: str) -> tuple[float, int, str, str]:
    """Seconds, status, media type, Retry-After of one reader with a connection of its own."""
    address, began = urlsplit(url), time.monotonic()
    connection = HTTPConnection(address.hostname or "", address.port, timeout=120)
    try:
        connection.request("GET", path)
        answer = connection.getresponse()
        answer.read()
        found = answer.status, answer.getheader("Content-Type", ""), answer.getheader("Retry-After", "")
    finally:
        connection.close()
    return time.monotonic() - began, *found


def read_at_once(url: str, readers: int) -> list[tuple[float, int, str, str]]:
    with ThreadPoolExecutor(readers) as pool:
        return list(pool.map(lambda number: read(url, PAGES[number % len(PAGES)]), range(readers)))


def is_well(own: Own) -> Callable[[], bool]:
    return lambda: all(own.shop.get(path).status == 200 for path in PAGES)


def metric(own: Own) -> str:
    lines = own.shop.get("/metrics").body.decode().splitlines()
    return next(
        (line for line in lines if line.startswith("aisle_circuit_open{") and own.couch_address in line), ""
    )


@pytest.mark.parametrize("readers", [24, 200])
def test_readers_of_a_stopped_database_are_all_answered_in_time(own: Own, readers: int) -> None:
    eventually(is_well(own))
    with stopped(own):
        found = read_at_once(own.shop.url, readers)
        assert {answer[1:] for answer in found} == {(503, "application/problem+json", "1")}
        assert max(seconds for seconds, *_ in found) < IN_TIME + SLACK
        later = read_at_once(own.shop.url, 24)
        assert {status for _, status, *_ in later} == {503}
        assert max(seconds for seconds, *_ in later) < 1.0, "the circuit is open: nobody waits any more"
        assert metric(own).endswith(" 1.0")
        assert f"circuit open: {own.couch_address} does not answer" in own.log.read_text()
        ready = own.shop.get("/health/ready")
        assert (ready.status, ready.json["checks"]["redis"]) == (503, "ok")
    back = time.monotonic()
    eventually(is_well(own))
    assert time.monotonic() - back < IN_TIME + SLACK, "it mends itself"
    assert metric(own).endswith(" 0.0")


def test_a_write_to_a_stopped_database_is_refused_in_time_and_can_be_done_again(own: Own) -> None:
    eventually(is_well(own))
    body = reservation("o-stopped", ("p1", 1))
    with stopped(own):
        began = time.monotonic()
        refused = own.shop.service("/v1/internal/reservations", body)
        assert (refused.status, refused.headers["Retry-After"]) == (503, "1"), refused.body
        assert time.monotonic() - began < IN_TIME + SLACK
    eventually(is_well(own))
    assert own.shop.service("/v1/internal/reservations", body).status == 201
    stock = own.shop.admin("GET", "/v1/products/p1/stock").json["stock"]
    assert stock == 4, "reserved once, whatever became of the first try"


def test_a_database_that_drips_holds_nobody_longer_than_the_limit(
    environment: dict[str, str], neighbours: Neighbours, tmp_path: Path
) -> None:
    """A byte now and then keeps a connection alive; each call took as long as its answer is."""
    answer = response(b'{"docs": [], "rows": [], "total_rows": 0, "offset": 0' + b" " * 400 + b"}")

    def drip(connection: Connection) -> None:
        while connection.read() is not None:
            for number in range(len(answer)):
                connection.send(answer[number : number + 1])
                time.sleep(0.1)

    with serving(drip) as database:
        settings = {"COUCH_URL": database.url, "USERS_URL": neighbours.url, "ORDERS_URL": neighbours.url}
        service, url = start_service("products", tmp_path / "products.log", {**environment, **settings})
        try:
            found = read_at_once(url, 24)
        finally:
            service.kill()
    assert {status for _, status, *_ in found} == {503}
    assert max(seconds for seconds, *_ in found) < IN_TIME + SLACK
