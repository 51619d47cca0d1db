"""Codes at a node of a cluster that has not got them yet: its lists and indexes lack the promotion, its slots, what was given back. The
claim of a code, its promotion and the slots are documents, which are read as a quorum of nodes has them."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import orjson
import pytest

from shared.couch import Database
from tests.forwarding import Forward, Response, as_one_of_three, forwarding
from tests.people import Person
from tests.services.orders.conftest import Shop, calls
from tests.services.orders.test_promotions import code, promotion, quoted


def of_a_lagging_node(method: str, path: str, body: bytes, forward: Forward) -> Response:
    """It lists no promotion with a code, and finds no free slot."""
    status, headers, content = forward()
    content = as_one_of_three(method, path, content)
    if "/_partition/settings" in path and path.partition("?")[0].endswith("/_all_docs"):
        found = orjson.loads(content)
        rows = [row for row in found["rows"] if not (row.get("doc") or {}).get("codes")]
        content = orjson.dumps({**found, "rows": rows})
    if "/_partition/promotion" in path and path.endswith("/_find"):
        content = orjson.dumps({**orjson.loads(content), "docs": []})
    return status, headers, content


@pytest.fixture(scope="module")
def behind(couch_url: str, shop: Shop, service: Callable[..., str]) -> Iterator[Shop]:
    with forwarding(couch_url, of_a_lagging_node) as url:
        yield replace(shop, orders=service("orders", COUCH_URL=url))


@pytest.fixture(scope="module")
def product(shop: Shop) -> str:
    return shop.product(price=1000, delivery=0, stock=50)


def change(shop: Shop, made: dict[str, Any], **changes: Any) -> None:
    content = {name: made[name] for name in ("name", "codes", "actions")} | changes
    path = f"{shop.orders}/v1/admin/promotions/{made['id']}"
    changed = shop.admin.put(path, json=content, timeout=30)
    assert changed.status_code == 200, changed.text


def test_a_code_that_was_just_made_holds(shop: Shop, behind: Shop, customer: Person, product: str) -> None:
    ten = code()
    promotion(behind, codes=[ten])
    quote = quoted(behind.orders, {product: 1}, ten.lower())
    assert quote.status_code == 200, quote.text
    assert [each["amount"]["amount"] for each in quote.json()["discounts"]] == [100]
    placed = behind.placed(customer, {product: 1}, codes=[ten], expected_total=quote.json()["total"])
    assert placed["discounts"] == quote.json()["discounts"]


def test_a_code_with_a_limit_is_used_as_often_as_that_and_again_once_a_use_is_given_back(
    behind: Shop, customer: Person, product: str
) -> None:
    ten = code()
    promotion(behind, codes=[ten], limit=2)
    first, _ = (behind.placed(customer, {product: 1}, codes=[ten]) for _ in range(2))
    assert behind.order(customer, {product: 1}, codes=[ten]).json()["code"] == "code_used_up"
    assert quoted(behind.orders, {product: 1}, ten).json()["code"] == "code_used_up"
    cancelled = behind.post(customer, f"/v1/orders/{first['orderid']}/cancellation", {"reason": ""})
    assert cancelled.status_code == 201, cancelled.text
    assert quoted(behind.orders, {product: 1}, ten).status_code == 200
    behind.placed(customer, {product: 1}, codes=[ten])


def test_what_was_given_a_code_acts_once_and_what_ended_says_so(behind: Shop, product: str) -> None:
    """Of what the node lists by itself the version that has the code takes the place."""
    ten, only_this = code(), [{"kind": "products", "products": [product]}]
    made = promotion(behind, name="For all", conditions=only_this, combines=True)
    change(behind, made, codes=[ten], conditions=only_this, combines=True)
    assert [each.get("code") for each in quoted(behind.orders, {product: 1}, ten).json()["discounts"]] == [
        ten
    ]
    change(behind, made, codes=[ten], conditions=only_this, active=False)
    assert quoted(behind.orders, {product: 1}, ten).json()["reason"] == "expired"
    change(behind, made, codes=[code()], conditions=only_this)
    assert quoted(behind.orders, {product: 1}, ten).json()["reason"] == "unknown"


def test_a_code_that_nobody_made_costs_one_read_however_often_it_is_typed(
    shop: Shop, behind: Shop, product: str
) -> None:
    plain = calls(quoted(behind.orders, {product: 1}))
    for typed in (["NONSENSE"], ["NONSENSE", "nonsense", "MORE-OF-IT", "no code:at all"]):
        refused = quoted(behind.orders, {product: 1}, *typed)
        assert refused.json()["reason"] == "unknown"
        assert calls(refused) == plain | {"read": plain["read"] + 1}
    for none in ("no code:at all", "_"):
        assert calls(quoted(behind.orders, {product: 1}, none)) == plain
    assert quoted(shop.orders, {product: 1}, "NONSENSE").json()["reason"] == "unknown"


def test_where_each_document_has_one_copy_no_code_is_read(
    shop: Shop, product: str, database: Database
) -> None:
    if not database.has_one_copy:
        pytest.skip("of a server that is no cluster")
    assert sum(calls(quoted(shop.orders, {product: 1}, "NONSENSE")).values()) == 0
