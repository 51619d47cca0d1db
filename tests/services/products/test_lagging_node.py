"""A node of a cluster whose lists and views are behind for a moment: what a process makes of them is not kept."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import orjson
import pytest

from services.products.documents import DESIGN
from tests.forwarding import Forward, Response, as_one_of_three, forwarding
from tests.services.products.conftest import Neighbours, Shop, eventually, product


@dataclass
class Node:
    """In front of the database, one of three. While it `lags`, it lists no category's description, and answers views as it did; and
    of its next lists of a partition so many lack what ends with `lacks`."""

    lags: bool = False
    lacks: str = ""
    lists: int = 0
    listed: dict[tuple[str, bytes], Response] = field(default_factory=dict)

    def answer(self, method: str, path: str, body: bytes, forward: Forward) -> Response:
        is_view = "/_view/categories" in path or "/_view/by_productid" in path
        if self.lags and (path, body) in self.listed:
            return self.listed[path, body]
        status, headers, content = forward()
        if is_view:
            self.listed[path, body] = status, headers, content
        content = as_one_of_three(method, path, content)
        if self.lags and "categories/_all_docs" in path:
            content = orjson.dumps({**orjson.loads(content), "rows": []})
        if self.lists and "/_partition/" in path and "/_all_docs" in path:
            self.lists -= 1
            found = orjson.loads(content)
            rows = [row for row in found["rows"] if not row["id"].endswith(self.lacks)]
            content = orjson.dumps({**found, "rows": rows})
        return status, headers, content


@pytest.fixture(scope="module")
def node() -> Node:
    return Node()


@pytest.fixture(scope="module")
def shop(
    couch_url: str,
    node: Node,
    prepared: Callable[..., None],
    service: Callable[..., str],
    neighbours: Neighbours,
) -> Iterator[Shop]:
    prepared(DESIGN)
    with forwarding(couch_url, node.answer) as url:
        urls = {"USERS_URL": neighbours.url, "ORDERS_URL": neighbours.url, "COUCH_URL": url}
        yield Shop(service("products", **urls, ACCESS_LOG="false"), neighbours)


def shown(shop: Shop) -> dict[str, Any]:
    answer = shop.get("/v1/categories", under="Falconry")
    return answer.json if answer.status == 200 else {"count": 0, "children": []}


def test_a_menu_of_a_node_that_is_behind_is_there_for_a_moment_only(shop: Shop, node: Node):
    assert shop.load([product("hood", taxonomy=["Falconry", "Hoods"])])["created"] == 1
    eventually(lambda: shown(shop)["count"] == 1)
    node.lags = True
    assert shop.load([product("glove", taxonomy=["Falconry", "Gloves"])])["created"] == 1
    described = shop.admin(
        "PUT", "/v1/admin/categories/Falconry%23Hoods", {"path": "Falconry#Hoods", "label": "Leather hoods"}
    )
    assert described.status == 201, described.body
    assert [each["name"] for each in shown(shop)["children"]] == ["Hoods"], "as the node knows it"
    node.lags = False
    eventually(
        lambda: (
            [each.get("label", each["name"]) for each in shown(shop)["children"]]
            == ["Gloves", "Leather hoods"]
        )
    )


def test_staff_see_what_they_have_just_saved_at_a_node_that_is_behind(shop: Shop, node: Node):
    jesses, path = product("jesses", taxonomy=["Falconry", "Straps"], name="Jesses"), "/v1/products/jesses"
    assert shop.load([jesses])["created"] == 1
    eventually(lambda: shop.get(path).status == 200)
    read = shop.admin("GET", path)
    node.lags = True
    try:
        saved = shop.admin("PUT", path, jesses | {"name": "Mews jesses"}, If_Match=read.headers["ETag"])
        assert saved.status == 200, saved.body
        assert shop.get(path).json["name"] == "Jesses", "as the node's view has it"
        assert shop.admin("GET", path).json["name"] == "Mews jesses"
        leather = jesses | {"taxonomy": ["Falconry", "Leather"]}
        moved = shop.admin("PUT", path, leather, If_Match=saved.headers["ETag"])
        assert moved.status == 200, moved.body
        assert shop.admin("GET", path).json["taxonomy"] == ["Falconry", "Leather"]
    finally:
        node.lags = False


def test_the_stock_that_is_shown_is_what_was_just_written_at_a_node_that_is_behind(shop: Shop, node: Node):
    """It was what the node's list had, until the worker added it up."""
    assert shop.load([product("perch", taxonomy=["Falconry", "Perches"], stock=10)])["created"] == 1
    node.lacks, node.lists = ":stock:000000002", 100
    changed = shop.admin("POST", "/v1/products/perch/stock", {"reason": "given away", "delta": -7})
    assert changed.status == 201, changed.body
    assert shop.admin("GET", "/v1/products/perch/stock").json["stock"] == 3
    node.lists = 0
    assert shop.ok("/v1/products/perch")["stock"] == 3


def test_stock_that_is_counted_twice_at_a_node_that_is_behind_is_what_was_counted_last(
    shop: Shop, node: Node
):
    """Of ten that were counted as five, and then as six, one was left: the second count took off what the first one had."""
    assert shop.load([product("bell", taxonomy=["Falconry", "Bells"], stock=10)])["created"] == 1
    node.lacks = ":stock:000000002"
    for counted, node.lists in ((5, 0), (6, 1)):
        body = {"changes": [{"sku": "bell", "level": counted}], "reason": "counted"}
        answer = shop.admin("POST", "/v1/admin/products/stock", body)
        assert (answer.status, answer.json["failed"]) == (200, []), answer.body
    assert shop.ok("/v1/products/bell")["stock"] == 6


@pytest.mark.parametrize("make", ["imported", "saved"])
def test_what_was_just_made_is_sold_at_a_node_that_is_behind(shop: Shop, node: Node, make: str):
    lure = product(f"lure-{make}", taxonomy=["Falconry", "Lures"])
    path = f"/v1/products/{lure['productid']}"
    assert shop.get(path).status == 404, "as the node's view has it"
    node.lags = True
    try:
        if make == "imported":
            assert shop.load([lure])["created"] == 1
        else:
            saved = shop.admin("POST", "/v1/products", lure)
            assert saved.status == 201, saved.body
        found = shop.get(path)
        assert found.status == 200, found.body
        assert found.json["name"] == lure["name"]
        leather = lure | {"taxonomy": ["Falconry", "Leather"]}
        moved = shop.admin("PUT", path, leather, If_Match=shop.admin("GET", path).headers["ETag"])
        assert moved.status == 200, moved.body
        assert shop.get(path).json["taxonomy"] == ["Falconry", "Leather"]
        removed = shop.admin("DELETE", path, If_Match=moved.headers["ETag"])
        assert removed.status == 204, removed.body
        assert shop.get(path).status == 404
    finally:
        node.lags = False
