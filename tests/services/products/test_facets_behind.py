"""What a search counted in an index that is behind, as it is after an import, is not kept for the searches after it."""

from collections.abc import Callable, Iterator
from threading import Event
from typing import Any

import orjson
import pytest

from services.products.documents import DESIGN
from tests.forwarding import Forward, Response, forwarding
from tests.services.products.conftest import Neighbours, Shop, eventually, product

SEARCHES = ("/_search/", "/_nouveau/", "/_view/search")
NOT_TO_WAIT = ("stale", "update")
PAGE = {"q": "kettle", "facets": "brand"}


@pytest.fixture(scope="module")
def indexes(couch_url: str) -> Iterator[tuple[str, Event]]:
    """A database server's address, and what holds its search indexes up: who asks for what is fresh waits for longer than anybody does, who takes
    what is old is told what the same search found before."""
    slow, over, found = Event(), Event(), dict[tuple[str, bytes], Response]()

    def answer(_: str, path: str, body: bytes, forward: Forward) -> Response:
        if not any(each in path for each in SEARCHES):
            return forward()
        asked = orjson.loads(body)
        waits = asked.get("update", True) is True and "stale" not in asked
        question = (
            path,
            orjson.dumps({name: value for name, value in asked.items() if name not in NOT_TO_WAIT}),
        )
        if slow.is_set() and waits:
            over.wait(60)
        if slow.is_set():
            return found[question]
        found[question] = forward()
        return found[question]

    with forwarding(couch_url, answer) as url:
        yield url, slow
        over.set()


@pytest.fixture(scope="module")
def shop(
    indexes: tuple[str, Event], prepared: Callable, service: Callable, neighbours: Neighbours, server: Any
) -> Shop:
    prepared(DESIGN)
    urls = {"USERS_URL": neighbours.url, "ORDERS_URL": neighbours.url, "COUCH_URL": indexes[0]}
    found = Shop(service("products", **urls, ACCESS_LOG="false"), neighbours)
    assert found.load([product("old", name="Old kettle", brand="Acme")])["created"] == 1
    server.wait_for_indexes(DESIGN)
    return found


def brands(shop: Shop, **filters: str) -> dict[str, int]:
    found = shop.ok("/v1/products", **PAGE, **filters)["facets"]["brand"]
    return {each["value"]: each["count"] for each in found}


def test_alternatives_are_those_of_the_index_that_has_caught_up(
    shop: Shop, indexes: tuple[str, Event]
) -> None:
    slow = indexes[1]
    assert brands(shop) == brands(shop, brand="Acme") == {"Acme": 1}
    slow.set()
    assert shop.load([product("new", name="New kettle", brand="Fresh")])["created"] == 1
    assert brands(shop) == {"Acme": 1}, "as long as the index is behind"
    slow.clear()
    eventually(lambda: brands(shop) == {"Acme": 1, "Fresh": 1})
    assert brands(shop, brand="Acme") == {"Acme": 1, "Fresh": 1}
