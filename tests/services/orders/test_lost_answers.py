"""What staff add while the database goes away after it has taken it: they are told 503, send it again under the same key, and have it once."""

import secrets
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest
import requests

from shared.couch import Database
from tests.forwarding import GoesAway, forwarding
from tests.services.orders.conftest import Shop, until
from tests.services.orders.draft_orders import content
from tests.services.orders.test_promotions import TEN_PERCENT, code, quoted


@pytest.fixture(scope="module")
def node() -> GoesAway:
    return GoesAway()


@pytest.fixture(scope="module")
def at_node(shop: Shop, node: GoesAway, couch_url: str, service: Callable[..., str]) -> Iterator[Shop]:
    with forwarding(couch_url, node.answer) as url:
        yield replace(shop, orders=service("orders", COUCH_URL=url))


def post(shop: Shop, path: str, body: dict[str, Any], key: str) -> requests.Response:
    headers = {"Idempotency-Key": key} if key else {}
    return shop.admin.post(f"{shop.orders}{path}", json=body, headers=headers, timeout=60)


def added_again(
    shop: Shop, at_node: Shop, node: GoesAway, document: str, path: str, body: dict[str, Any]
) -> requests.Response:
    """The answer to the second request, after the first was told 503; the third says the same."""
    key, node.types = secrets.token_hex(8), (document,)
    lost = post(at_node, path, body, key)
    node.types, node.is_away = (), False
    assert lost.status_code == 503, lost.text
    until(lambda: requests.get(f"{at_node.orders}/health/ready", timeout=30).ok)
    again = post(at_node, path, body, key)
    assert again.status_code == 201, again.text
    assert post(shop, path, body, key).json() == again.json()
    return again


def test_a_promotion_is_there_once_and_its_code_is_its_own(
    shop: Shop, at_node: Shop, node: GoesAway, database: Database
) -> None:
    ten, kettle = code(), shop.product(price=1000)
    body = {"name": f"Again {ten}", "codes": [ten], "actions": TEN_PERCENT, "limit": 3}
    made = added_again(shop, at_node, node, "promotion", "/v1/admin/promotions", body).json()
    there = [doc for doc in database.partition("settings").all("promotion.") if doc["name"] == body["name"]]
    assert [(doc["id"], doc["version"]) for doc in there] == [(made["id"], 1)]
    until(lambda: len(quoted(shop.orders, {kettle: 1}, ten).json().get("discounts", ())) == 1)
    assert shop.get(shop.admin, f"/v1/admin/promotions/{made['id']}/uses").json() == {"used": 0, "limit": 3}
    refused = post(shop, "/v1/admin/promotions", body, secrets.token_hex(8))
    assert (refused.status_code, refused.json()["code"]) == (409, "code_taken")


@pytest.mark.parametrize("has_key", [True, False])
def test_what_has_an_id_of_its_own_is_there_already_for_another_request_only(
    shop: Shop, at_node: Shop, node: GoesAway, has_key: bool
) -> None:
    path = "/v1/admin/shipping-methods"
    body = {"id": f"again-{secrets.token_hex(4)}", "name": "Again", "rate": "flat", "prices": {"GBP": 1}}
    assert added_again(shop, at_node, node, "shippingmethod", path, body).json()["version"] == 1
    other = body if not has_key else body | {"name": "Other"}
    refused = post(shop, path, other, secrets.token_hex(8) if has_key else "")
    assert (refused.status_code, refused.json()["code"]) == (409, "setting_exists")


def test_a_draft_is_there_once(shop: Shop, at_node: Shop, node: GoesAway, database: Database) -> None:
    body = content(shop)
    answer = added_again(shop, at_node, node, "draftorder", "/v1/admin/drafts", body)
    there = [doc for doc in database.partition("drafts").all() if doc.get("email") == body["email"]]
    assert [doc["id"] for doc in there] == [answer.json()["id"]]
    assert answer.headers["Location"] == f"/v1/admin/drafts/{there[0]['id']}"
    assert answer.json()["quote"]["total"] is not None


def test_what_was_changed_after_a_503_is_another_one(
    shop: Shop, at_node: Shop, node: GoesAway, database: Database
) -> None:
    """Nobody was told that the first is there; who looks for it finds it."""
    key, body, node.types = secrets.token_hex(8), content(shop), ("draftorder",)
    assert post(at_node, "/v1/admin/drafts", body, key).status_code == 503
    node.types, node.is_away = (), False
    until(lambda: requests.get(f"{at_node.orders}/health/ready", timeout=30).ok)
    changed = post(at_node, "/v1/admin/drafts", body | {"name": "Grace H."}, key)
    assert (changed.status_code, changed.json()["name"]) == (201, "Grace H.")
    there = [doc for doc in database.partition("drafts").all() if doc.get("email") == body["email"]]
    assert {doc["name"] for doc in there} == {"Grace", "Grace H."}
