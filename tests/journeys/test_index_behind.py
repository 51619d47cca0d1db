"""A customer's own order is on their pages at once, also while the index of orders is long in catching up."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Event, Thread

import pytest
import requests

from tests.journeys.counting import fill_basket, new_customer
from tests.journeys.shop import Shop
from tests.people import PASSWORD, Person
from tests.processes import start_minicouch
from tests.services.storefront.visitor import Visitor

VIEW = "/_view/orders_of_a_customer"
NOTHING = b'{"total_rows": 0, "offset": 0, "rows": []}'
NOT_PASSED_ON = {"connection", "content-length", "content-encoding", "transfer-encoding", "accept-encoding", "host", "server", "date"}  # fmt: skip


@contextmanager
def slow_index(target: str) -> Iterator[tuple[str, Event]]:
    """A database server's address, and what makes its index of customers' orders slow from then on.

    Who asks a slow index for what is fresh waits; who takes what is old is told what it held at the beginning: nothing.
    """
    slow, over, session = Event(), Event(), requests.Session()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def forward(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            if slow.is_set() and VIEW in self.path:
                if b'"update"' in body or over.wait(30):
                    self.answer(200, {"Content-Type": "application/json"}, NOTHING)
                return
            try:
                found = session.request(
                    self.command, target + self.path, headers=passed_on(self.headers), data=body, timeout=60
                )
            except requests.RequestException:
                self.close_connection = True
                return
            self.answer(found.status_code, passed_on(found.headers), found.content)

        do_GET = do_POST = do_PUT = do_DELETE = do_HEAD = forward  # as the library wants it

        def answer(self, status: int, headers: dict[str, str], body: bytes) -> None:
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body if self.command != "HEAD" else b"")

        def log_message(self, *_: object) -> None:
            """Quiet."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    Thread(target=server.serve_forever, daemon=True).start()
    yield f"{target.rpartition('@')[0]}@127.0.0.1:{server.server_port}", slow
    over.set()
    server.shutdown()
    server.server_close()


def passed_on(headers: object) -> dict[str, str]:
    return {name: value for name, value in headers.items() if name.lower() not in NOT_PASSED_ON}  # type: ignore[attr-defined]


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Event]]:
    process, url = start_minicouch(tmp_path_factory.mktemp("database") / "data")
    with slow_index(url) as found:
        yield found
    process.stop()


@pytest.fixture(scope="module")
def shop(database: tuple[str, Event], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shop]:
    folder: Path = tmp_path_factory.mktemp("behind")
    shop = Shop(folder / "state", COUCH_URL=database[0], COURIER="manual").start()
    shop.wait_for("past orders: 300 created")
    database[1].set()
    yield shop
    shop.stop()


@pytest.fixture(scope="module")
def customer(shop: Shop) -> Person:
    return new_customer(shop)[0]


@pytest.fixture(scope="module")
def visitor(shop: Shop, customer: Person) -> Visitor:
    visitor = Visitor(shop.url("storefront"))
    visitor.get("/login")
    visitor.submit("/login", email=customer.email, password=PASSWORD)
    return visitor


def buy(visitor: Visitor) -> str:
    """The page of the order just placed."""
    fill_basket(visitor)
    visitor.get("/checkout")
    path = visitor.submit("/checkout", card="tok_ok").path
    assert path.startswith("/orders/")
    return path


def orders_on(visitor: Visitor, page: str) -> list[str]:
    found = [href for href, _ in visitor.get(page).links if re.fullmatch(r"/orders/[a-z0-9]+", href)]
    return list(dict.fromkeys(found))


def test_the_orders_just_placed_are_on_the_customers_pages(visitor: Visitor) -> None:
    first = buy(visitor)
    assert orders_on(visitor, "/orders") == [first]
    assert "Paid" in visitor.page.text
    second = buy(visitor)
    assert orders_on(visitor, "/orders") == [second, first], "newest first"


def test_they_are_in_the_history_of_the_api_and_nobody_elses_are(
    shop: Shop, customer: Person, visitor: Visitor
) -> None:
    placed = [path.rsplit("/", 1)[1] for path in (buy(visitor), buy(visitor))]
    url = f"{shop.url('orders')}/v1/orders"
    items = customer.get(url, timeout=30).json()["items"]
    assert [item["orderid"] for item in items[:2]] == placed[::-1]
    whole = customer.get(f"{url}/{placed[1]}", timeout=30).json()
    assert items[0] == {
        name: whole[name] for name in ("orderid", "userid", "date", "status", "refunded", "total")
    } | {"units": sum(line["quantity"] for line in whole["items"])}
    page = customer.get(url, params={"limit": 1}, timeout=30).json()
    assert [item["orderid"] for item in page["items"]] == placed[1:]
    following = customer.get(url, params={"limit": 1, "cursor": page["next"]}, timeout=30)
    assert following.json()["items"][0]["orderid"] == placed[0]
    stranger, _ = new_customer(shop)
    assert stranger.get(url, timeout=30).json()["items"] == []
