"""What staff add while the database goes away after it has taken it: they are told 503, send it again under the same key, and have it once."""

import secrets
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.forwarding import GoesAway, forwarding
from tests.services.products.conftest import ADMIN, Answer, Neighbours, Shop, eventually, product, token


@pytest.fixture(scope="module")
def node() -> GoesAway:
    return GoesAway()


@pytest.fixture(scope="module")
def at_node(
    shop: Shop, node: GoesAway, couch_url: str, service: Callable[..., str], neighbours: Neighbours
) -> Iterator[Shop]:
    urls = {"USERS_URL": neighbours.url, "ORDERS_URL": neighbours.url}
    with forwarding(couch_url, node.answer) as url:
        yield Shop(service("products", COUCH_URL=url, ACCESS_LOG="false", **urls), neighbours)


def added_again(at_node: Shop, node: GoesAway, document: str, path: str, body: dict[str, Any]) -> Answer:
    """The answer to the second request, after the first was told 503."""
    key, node.types = secrets.token_hex(8), (document,)
    lost = at_node.admin("POST", path, body, Idempotency_Key=key)
    node.types, node.is_away = (), False
    assert lost.status == 503, lost.body
    eventually(lambda: at_node.request("GET", "/health/ready").status == 200)
    again = at_node.admin("POST", path, body, Idempotency_Key=key)
    assert again.status == 201, again.body
    return again


def test_a_supplier_delivery_is_there_once(shop: Shop, at_node: Shop, node: GoesAway) -> None:
    shop.load([product("bobbin", stock=1)])
    body = {"supplier": f"Again {secrets.token_hex(4)}", "items": [{"sku": "bobbin", "quantity": 3}]}
    path = "/v1/admin/supplier-deliveries"
    made = added_again(at_node, node, "supplierdelivery", path, body).json
    there = [each for each in shop.ok(path, token(*ADMIN))["items"] if each["supplier"] == body["supplier"]]
    assert [(each["deliveryid"], each["date"]) for each in there] == [(made["deliveryid"], made["date"])]


def test_a_product_type_is_there_already_for_another_request_only(
    shop: Shop, at_node: Shop, node: GoesAway
) -> None:
    path, body = (
        "/v1/admin/product-types",
        {"code": f"again-{secrets.token_hex(4)}", "name": "Again", "attributes": []},
    )
    assert added_again(at_node, node, "producttype", path, body).json["code"] == body["code"]
    other = shop.admin("POST", path, body | {"name": "Other"}, Idempotency_Key=secrets.token_hex(8))
    assert (other.status, other.json["code"]) == (409, "product_type_exists")
    plain = shop.admin("POST", path, body)
    assert (plain.status, plain.json["code"]) == (409, "product_type_exists")
