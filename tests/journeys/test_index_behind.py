"""A customer's own order is on their pages at once, also while the index of orders is long in catching up."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Event

import pytest

from tests.forwarding import Forward, Response, forwarding
from tests.journeys.counting import fill_basket, new_customer
from tests.journeys.shop import Shop
from tests.people import PASSWORD, Person
from tests.processes import start_minicouch
from tests.services.storefront.visitor import Visitor

pytestmark = [pytest.mark.load, pytest.mark.timeout(1800)]

VIEW = "/_view/orders_of_a_customer"
NOTHING = b'{"total_rows": 0, "offset": 0, "rows": []}'


@contextmanager
def slow_index(target: str) -> Iterator[tuple[str, Event]]:
    """A database server's address, and what makes its index of customers' orders slow from then on.

    Who asks a slow index for what is fresh waits; who takes what is old is told what it held at the beginning: nothing.
    """
    slow, over = Event(), Event()

    def answer(_: str, path: str, body: bytes, forward: Forward) -> Response:
        if not slow.is_set() or VIEW not in path:
            return forward()
        if b'"update"' not in body:
            over.wait(30)
        return 200, {"Content-Type": "application/json"}, NOTHING

    with forwarding(target, answer) as url:
        yield url, slow
        over.set()


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
    shop.wait_for("pictures: 153 stored")
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
    told = ("orderid", "number", "userid", "date", "status", "refunded", "returned", "total")
    assert items[0] == {name: whole[name] for name in told} | {
        "units": sum(line["quantity"] for line in whole["items"]),
        "open_returns": 0,
        "waiting": 0,
    }
    page = customer.get(url, params={"limit": 1}, timeout=30).json()
    assert [item["orderid"] for item in page["items"]] == placed[1:]
    following = customer.get(url, params={"limit": 1, "cursor": page["next"]}, timeout=30)
    assert following.json()["items"][0]["orderid"] == placed[0]
    stranger, _ = new_customer(shop)
    assert stranger.get(url, timeout=30).json()["items"] == []
