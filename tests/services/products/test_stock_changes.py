"""The stock of many products and variants changed by one request."""

from typing import Any

import pytest

from tests.services.products.conftest import ADMIN, Answer, Shop, eventually, product, token

PATH = "/v1/admin/products/stock"
SIZES = {
    "options": [{"name": "Size", "values": ["S", "M", "L"]}],
    "variants": [
        {"sku": f"gaiter-{size}", "options": {"Size": size}, "stock": 10} for size in ("S", "M", "L")
    ],
}


@pytest.fixture(autouse=True)
def goods(shop: Shop) -> None:
    shop.load([product("gaiter", **SIZES), product("whistle", stock=4)])


def change(shop: Shop, *changes: dict[str, Any], **headers: str) -> Answer:
    return shop.admin("POST", PATH, {"changes": list(changes), "reason": "delivery"}, **headers)


def level(shop: Shop, sku: str) -> int:
    stock: int = shop.ok(f"/v1/products/{sku}/stock", token(*ADMIN))["stock"]
    return stock


def shown(shop: Shop) -> dict[str, int]:
    """What the product's page says of its variants."""
    return {each["sku"]: each["stock"] for each in shop.ok("/v1/products/gaiter")["variants"]}


def test_variants_and_products_change_together_and_the_others_stay(shop: Shop) -> None:
    before = {sku: level(shop, sku) for sku in ("gaiter-S", "gaiter-M", "gaiter-L", "whistle")}
    report = change(
        shop,
        {"sku": "gaiter-S", "delta": 5},
        {"sku": "gaiter-M", "delta": -2},
        {"sku": "whistle", "level": before["whistle"] + 7},
    )
    assert report.status == 200, report.body
    assert report.json == {"changed": 3, "unchanged": 0, "failed": []}
    assert level(shop, "gaiter-S") == before["gaiter-S"] + 5
    assert level(shop, "gaiter-M") == before["gaiter-M"] - 2
    assert level(shop, "gaiter-L") == before["gaiter-L"]
    assert level(shop, "whistle") == before["whistle"] + 7
    movements = shop.ok("/v1/products/gaiter-S/stock", token(*ADMIN))["movements"]
    assert (movements[0]["delta"], movements[0]["note"]) == (5, "delivery")
    eventually(lambda: shown(shop)["gaiter-S"] == before["gaiter-S"] + 5)
    assert shop.ok("/v1/products/gaiter")["stock"] == sum(shown(shop).values())


def test_what_cannot_change_says_why_and_the_rest_changes(shop: Shop) -> None:
    before = level(shop, "gaiter-L")
    report = change(
        shop,
        {"sku": "gaiter-L", "delta": 1},
        {"sku": "gaiter-XL", "delta": 1},
        {"sku": "gaiter", "delta": 1},
        {"sku": "whistle", "delta": -1000},
        {"sku": "gaiter-S", "delta": 0},
    ).json
    assert (report["changed"], report["unchanged"]) == (1, 1)
    codes = {each["sku"]: each["code"] for each in report["failed"]}
    assert codes == {"gaiter-XL": "no_such_product", "gaiter": "invalid", "whistle": "out_of_stock"}
    assert level(shop, "gaiter-L") == before + 1


def test_sent_again_with_its_key_nothing_changes_twice(shop: Shop) -> None:
    before = level(shop, "gaiter-L")
    for _ in range(2):
        answer = change(shop, {"sku": "gaiter-L", "delta": 3}, Idempotency_Key="delivery-of-monday")
        assert answer.json["changed"] == 1
    assert level(shop, "gaiter-L") == before + 3


@pytest.mark.parametrize(
    "changes",
    [
        [],
        [{"sku": "gaiter-S"}],
        [{"sku": "gaiter-S", "delta": 1, "level": 1}],
        [{"sku": "gaiter-S", "delta": 1}, {"sku": "gaiter-S", "delta": 2}],
        [{"sku": "gaiter-S", "level": -1}],
        [{"sku": f"s{number}", "delta": 1} for number in range(201)],
    ],
)
def test_what_says_too_little_or_too_much_is_refused(shop: Shop, changes: list[dict[str, Any]]) -> None:
    assert change(shop, *changes).status == 422


def test_staff_change_stock_and_customers_do_not(shop: Shop) -> None:
    shop.neighbours.roles["storeman"] = ("staff",)
    body = {"changes": [{"sku": "whistle", "delta": 1}], "reason": "found one"}
    assert shop.request("POST", PATH, body, token("u1")).status == 403
    assert shop.request("POST", PATH, body, token("storeman", "staff")).json["changed"] == 1


def test_a_variant_that_comes_back_is_found_by_its_size(shop: Shop) -> None:
    left = level(shop, "gaiter-S")
    assert change(shop, {"sku": "gaiter-S", "delta": -left}).json["changed"] == 1
    query = {"q": "gaiter", "options.Size": "S"}
    eventually(lambda: shop.walk(**query) == [])
    assert change(shop, {"sku": "gaiter-S", "level": 6}).json["changed"] == 1
    eventually(lambda: len(shop.walk(**query)) == 1)
