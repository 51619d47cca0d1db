"""Many products changed by one request."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from services.products.actions.bulk_edit import bulk_edit
from services.products.rules.bulk_edit import BulkEdit
from shared.clock import timestamp
from tests.services.products.conftest import ADMIN, Answer, Shop, open_as_worker, product, token
from tests.waiting import Holds

STAFF = token(*ADMIN)
SIZES = {
    "options": [{"name": "Size", "values": ["S", "L"]}],
    "variants": [
        {"sku": "shirt-s", "options": {"Size": "S"}, "stock": 3},
        {"sku": "shirt-l", "options": {"Size": "L"}, "prices": {"GBP": 1500}, "stock": 4},
    ],
}


@pytest.fixture(autouse=True)
def cups(shop: Shop) -> None:
    for each in ("cup1", "cup2", "cup3", "shirt"):
        shop.admin("DELETE", f"/v1/products/{each}")
    shop.load([product(f"cup{n}", stock=5) for n in (1, 2, 3)])
    shop.load([product("shirt", **SIZES)])


def edit(shop: Shop, productids: list[str], key: str = "", **change: Any) -> Answer:
    headers = {"Idempotency_Key": key} if key else {}
    return shop.admin("POST", "/v1/admin/products/bulk-edit", {"productids": productids, **change}, **headers)


def test_statuses_change_and_what_failed_is_reported(shop: Shop, holds: Holds) -> None:
    answer = edit(shop, ["cup1", "cup2", "nothing"], status="archived").json
    assert (answer["changed"], answer["unchanged"]) == (2, 0)
    assert [(each["productid"], each["code"]) for each in answer["failed"]] == [
        ("nothing", "no_such_product")
    ]
    holds(lambda: shop.get("/v1/products/cup1").status == 404)
    assert shop.get("/v1/products/cup3").status == 200
    again = edit(shop, ["cup1", "cup3"], status="active").json
    assert (again["changed"], again["unchanged"]) == (1, 1)
    holds(lambda: shop.get("/v1/products/cup1").status == 200)


def test_prices_change_by_percent_with_their_history(shop: Shop) -> None:
    answer = edit(shop, ["cup1", "shirt"], price_percent=-12.5)
    assert answer.json == {"changed": 2, "unchanged": 0, "failed": []}
    assert shop.ok("/v1/products/cup1")["price"]["amount"] == 875
    shirt = shop.ok("/v1/products/shirt")
    assert [each["price"]["amount"] for each in shirt["variants"]] == [875, 1313]
    history = shop.ok("/v1/products/cup1/prices", STAFF)["items"]
    assert (history[0]["before"]["amount"], history[0]["after"]["amount"]) == (1000, 875)


def test_products_move_with_their_stock(shop: Shop) -> None:
    answer = edit(shop, ["cup1", "shirt"], taxonomy=["Home", "Moved"])
    assert answer.json["changed"] == 2, answer.json
    assert shop.ok("/v1/products/shirt")["taxonomy"] == ["Home", "Moved"]
    assert shop.ok("/v1/products/shirt-l/stock", STAFF)["stock"] == 4
    assert shop.ok("/v1/products/cup1/stock", STAFF)["stock"] == 5


def test_stock_changes_and_what_is_sold_by_variant_is_named(shop: Shop) -> None:
    answer = edit(shop, ["cup1", "cup2", "shirt"], stock_delta=-5, reason="counted").json
    assert answer["changed"] == 2
    assert [(each["productid"], each["code"]) for each in answer["failed"]] == [("shirt", "variant_needed")]
    assert shop.ok("/v1/products/cup1/stock", STAFF)["stock"] == 0
    short = edit(shop, ["cup1", "cup3"], stock_delta=-2, reason="counted").json
    assert short["changed"] == 1
    assert [each["code"] for each in short["failed"]] == ["out_of_stock"]


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"status": "gone"},
        {"price_percent": -100},
        {"price_percent": 1.234},
        {"status": "active", "stock_delta": 1},
        {"taxonomy": []},
        {"publish_from": "soon"},
    ],
)
def test_what_cannot_be_done_is_refused_before_anything_changes(shop: Shop, body: dict[str, Any]) -> None:
    assert edit(shop, ["cup1"], **body).status == 422
    assert shop.get("/v1/products/cup1").status == 200


def test_staff_without_the_right_change_nothing(shop: Shop) -> None:
    body = {"productids": ["cup1"], "status": "archived"}
    assert shop.request("POST", "/v1/admin/products/bulk-edit", body, token("u1", "customer")).status == 403


def test_sent_again_with_its_key_it_changes_nothing_twice(shop: Shop) -> None:
    first = edit(shop, ["cup1", "cup2"], key="tenth-off", price_percent=-10)
    assert edit(shop, ["cup1", "cup2"], key="tenth-off", price_percent=-10).json == first.json
    assert shop.ok("/v1/products/cup1")["price"]["amount"] == 900


def test_after_a_break_it_goes_on_where_it_was(shop: Shop, environment: dict[str, str]) -> None:
    """The process dies when half is done; the other replica, which knows nothing of it, is asked with the same key."""
    worker = open_as_worker(environment)
    tenth_off = BulkEdit(key="broken off", price_change=-1000)
    bulk_edit(worker, ["cup1", "cup2"], tenth_off, timestamp())
    bulk_edit(worker, ["cup2"], BulkEdit(key="another", price_change=10_000), timestamp())
    report = bulk_edit(worker, ["cup1", "cup2", "cup3"], tenth_off, timestamp())
    assert sorted(report.changed) == ["cup1", "cup2", "cup3"]
    prices = [shop.ok(f"/v1/products/cup{n}")["price"]["amount"] for n in (1, 2, 3)]
    assert prices == [900, 1800, 900]
    for _ in range(2):
        bulk_edit(worker, ["cup3"], BulkEdit(key="stock", stock_delta=2, reason="found"), timestamp())
    assert shop.ok("/v1/products/cup3/stock", STAFF)["stock"] == 7


def test_edits_at_the_same_time_are_all_kept(shop: Shop, holds: Holds) -> None:
    """Each of the four is told as made and doubles the price once."""
    cups = ["cup1", "cup2"]
    with ThreadPoolExecutor(4) as together:
        answers = list(together.map(lambda _: edit(shop, cups, price_percent=100), range(4)))
    assert [each.json for each in answers] == [{"changed": 2, "unchanged": 0, "failed": []}] * 4
    for cup in cups:
        holds(lambda cup=cup: shop.ok(f"/v1/products/{cup}")["price"]["amount"] == 16_000)
