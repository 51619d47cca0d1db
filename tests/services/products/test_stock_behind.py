"""Stock is read and written at once while the indexes are far behind, as they are after a large import."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from threading import Event
from typing import Any

import pytest

from services.products.actions import importing
from services.products.dependencies import Dependencies
from services.products.documents import DESIGN
from shared.couch import IndexCatchUp
from tests.forwarding import Forward, Response, forwarding
from tests.services.products.conftest import ADMIN, Neighbours, Shop, open_as_worker, product, token
from tests.services.products.variants import shirt


@pytest.fixture(scope="module")
def behind(couch_url: str) -> Iterator[tuple[str, Event]]:
    """A database server's address, and what puts its indexes behind: who asks one for what is fresh waits for longer than anybody does."""
    slow, over = Event(), Event()

    def answer(_: str, path: str, body: bytes, forward: Forward) -> Response:
        if slow.is_set() and "/_view/" in path and b'"update"' not in body:
            over.wait(60)
        return forward()

    with forwarding(couch_url, answer) as url:
        yield url, slow
        over.set()


@pytest.fixture(scope="module")
def shop(
    behind: tuple[str, Event], prepared: Callable, service: Callable, neighbours: Neighbours, server: Any
) -> Shop:
    prepared(DESIGN)
    urls = {"USERS_URL": neighbours.url, "ORDERS_URL": neighbours.url, "COUCH_URL": behind[0]}
    found = Shop(service("products", **urls, ACCESS_LOG="false"), neighbours)
    assert found.load([shirt("lag"), product("slowpoke", stock=4)])["failed"] == []
    server.wait_for_indexes(DESIGN)
    behind[1].set()
    return found


def stock(shop: Shop, path: str, **query: Any) -> int:
    return int(shop.ok(f"/v1/products/{path}/stock", token(*ADMIN), **query)["stock"])


def test_goods_come_in_and_are_counted(shop: Shop) -> None:
    change = {"delta": 3, "reason": "delivery"}
    answer = shop.admin("POST", "/v1/products/slowpoke/stock", change)
    assert (answer.status, answer.json["stock"]) == (201, 7), answer.body
    assert stock(shop, "slowpoke") == 7
    assert shop.ok("/v1/products/slowpoke")["stock"] == 7


def test_a_variant_is_counted_and_the_others_stay(shop: Shop) -> None:
    answer = shop.admin(
        "POST", "/v1/products/lag/stock", {"delta": -4, "reason": "broken", "sku": "lag-M-red"}
    )
    assert (answer.status, answer.json["stock"]) == (201, 6), answer.body
    assert stock(shop, "lag-M-red") == stock(shop, "lag", sku="lag-M-red") == 6
    found = shop.ok("/v1/products/lag")
    assert {each["sku"]: each["stock"] for each in found["variants"]} == dict.fromkeys(
        (each["sku"] for each in found["variants"]), 10
    ) | {"lag-M-red": 6}
    assert found["stock"] == 56


def test_many_are_counted_in_one_request(shop: Shop) -> None:
    changes = [
        {"sku": "lag-S-red", "level": 2},
        {"sku": "lag-S-blue", "delta": 5},
        {"sku": "slowpoke", "level": 1},
    ]
    answer = shop.admin("POST", "/v1/admin/products/stock", {"changes": changes, "reason": "counted"})
    assert (answer.status, answer.json["changed"]) == (200, 3), answer.body
    assert (stock(shop, "lag-S-red"), stock(shop, "lag-S-blue"), stock(shop, "slowpoke")) == (2, 15, 1)
    found = {each["sku"]: each["stock"] for each in shop.ok("/v1/products/lag")["variants"]}
    assert (found["lag-S-red"], found["lag-S-blue"], found["lag-L-red"]) == (2, 15, 10)
    assert shop.ok("/v1/products/slowpoke")["stock"] == 1


def test_an_import_of_variants_has_the_indexes_follow_by_documents(
    prepared: Callable, environment: dict[str, str]
) -> None:
    """Of twenty products with six variants each, 260 documents."""
    prepared(DESIGN)
    deps: Dependencies = open_as_worker(environment)
    followed = Event()
    lines = (importing.Line(n, shirt(f"follow-{n}")) for n in range(1, 21))
    counting = replace(deps, index_catch_up=IndexCatchUp(followed.set, 200))
    outcome = importing.run(counting, lines, lambda state: None, importing.write)
    assert outcome.created == 20
    assert followed.wait(60)
