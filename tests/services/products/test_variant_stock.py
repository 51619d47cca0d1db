"""Each variant has a stock of its own: reserved, sold, returned, moved, and counted for as many calls as a product's."""

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

from services.products.actions import maintenance
from services.products.dependencies import Dependencies
from shared.clock import iso, now
from tests.services.products.conftest import Shop, eventually, product
from tests.services.products.variants import SIZES, edit, level, line, reserve, shirt, variants_by_sku


def test_two_hundred_buyers_for_the_last_ten_of_one_sku_while_its_siblings_sell_freely(shop: Shop):
    body = shirt("scarce")
    for variant in body["variants"]:
        variant["stock"] = 10 if variant["sku"] == "scarce-M-red" else 1000
    shop.load([body])

    def buy(number: int) -> tuple[int, int]:
        sibling = reserve(shop, f"sibling{number}", line("scarce", "scarce-M-blue", 2)).status
        return reserve(
            shop, f"race{number}", line("scarce", "scarce-M-red"), line("scarce", "scarce-S-red")
        ).status, sibling

    with ThreadPoolExecutor(32) as buyers:
        statuses = list(buyers.map(buy, range(200)))
    assert [status for status, _ in statuses].count(201) == 10
    assert {status for status, _ in statuses} == {201, 409}
    assert {sibling for _, sibling in statuses} == {201}
    assert level(shop, "scarce", "scarce-M-red") == 0
    assert level(shop, "scarce", "scarce-M-blue") == 1000 - 2 * 200
    assert level(shop, "scarce", "scarce-S-red") == 1000 - 10
    refused = reserve(shop, "late", line("scarce", "scarce-M-red", 3)).json
    assert refused["items"] == [{"productid": "scarce", "sku": "scarce-M-red", "available": 0}]


def test_stock_of_a_variant_is_moved_by_staff_and_shown(shop: Shop):
    shop.load([shirt("counted")])
    answer = shop.admin(
        "POST", "/v1/products/counted/stock", {"delta": -4, "reason": "broken", "sku": "counted-S-red"}
    )
    assert (answer.status, answer.json["sku"], answer.json["stock"]) == (201, "counted-S-red", 6)
    assert (
        shop.admin("POST", "/v1/products/counted-S-red/stock", {"delta": 1, "reason": "found"}).json["stock"]
        == 7
    )
    found = shop.ok("/v1/products/counted")
    assert (found["stock"], variants_by_sku(found)["counted-S-red"]["stock"]) == (57, 7)
    movements = shop.admin("GET", "/v1/products/counted/stock?sku=counted-S-red").json["movements"]
    assert [each["delta"] for each in movements] == [1, -4, 10]
    for sku in ("", "&sku=nothing"):
        assert shop.admin("GET", f"/v1/products/counted/stock?x{sku}").status == 422
    edit(
        shop,
        "counted",
        variants=[{**each, "active": each["sku"] != "counted-S-red"} for each in found["variants"]],
    )
    assert shop.ok("/v1/products/counted")["stock"] == 50, "what is inactive is not for sale"


def test_stock_follows_sales_and_returns_of_each_variant(shop: Shop, deps: Dependencies):
    shop.load([shirt("sold")])
    lines = [line("sold", "sold-S-red", 3), line("sold", "sold-M-red", 2)]
    assert reserve(shop, "sale", *lines).status == 201
    assert reserve(shop, "sale", *lines).status == 201, "a repetition takes nothing twice"
    assert shop.service("/v1/internal/reservations/sale/confirmation", {"items": lines}).status == 200
    back = {"items": [line("sold", "sold-S-red", 1)], "reference": "return1"}
    assert shop.service("/v1/internal/reservations/sale/release", back).status == 200
    eventually(lambda: maintenance.sum_up(deps) == 0)
    left = {sku: each["stock"] for sku, each in variants_by_sku(shop.ok("/v1/products/sold")).items()}
    assert (left["sold-S-red"], left["sold-M-red"], left["sold-L-red"]) == (8, 8, 10)


def test_a_reservation_of_a_variant_ends_when_its_time_is_up(shop: Shop, deps: Dependencies):
    shop.load([shirt("idle")])
    body = {
        "orderid": "idle1",
        "items": [line("idle", "idle-S-red", 4)],
        "expires": iso(now() - timedelta(minutes=1)),
    }
    assert shop.service("/v1/internal/reservations", body).status == 201
    for minutes in (0, 2):
        maintenance.sweep(deps, now() + timedelta(minutes=minutes))
    assert level(shop, "idle", "idle-S-red") == 10


def test_variants_move_to_another_category_with_their_stock(shop: Shop):
    shop.load([shirt("moving")])
    assert reserve(shop, "moving1", line("moving", "moving-S-red", 4)).status == 201
    assert edit(shop, "moving", taxonomy=["Garden"]).status == 200
    found = shop.ok("/v1/products/moving-S-red")
    assert (found["taxonomy"], found["stock"]) == (["Garden"], 60)
    assert level(shop, "moving", "moving-S-red") == 6
    released = shop.service(
        "/v1/internal/reservations/moving1/release", {"items": [line("moving", "moving-S-red", 4)]}
    )
    assert (released.status, level(shop, "moving", "moving-S-red")) == (200, 10)


def test_a_new_variant_has_the_stock_that_is_given_and_an_old_one_keeps_its_own(shop: Shop):
    shop.load([shirt("grows")])
    found = shop.ok("/v1/products/grows")
    options = [{"name": "Size", "values": [*SIZES, "XL"]}, found["options"][1]]
    fresh = {"sku": "grows-XL-red", "options": {"Size": "XL", "Colour": "red"}, "stock": 4}
    kept = [{**variant, "stock": 99} for variant in found["variants"]]
    answer = edit(shop, "grows", options=options, variants=[*kept, fresh])
    assert (answer.status, answer.json["stock"]) == (200, 64)
    assert variants_by_sku(answer.json)["grows-XL-red"]["stock"] == 4
    assert level(shop, "grows", "grows-XL-red") == 4


def test_a_plain_product_gets_variants_and_loses_them_again(shop: Shop):
    shop.load([product("both", stock=7)])
    plain = shop.ok("/v1/products/both")
    body = plain | {
        "options": [{"name": "Size", "values": ["S", "M"]}],
        "variants": [
            {"sku": "both", "options": {"Size": "S"}},
            {"sku": "both-M", "options": {"Size": "M"}, "stock": 2},
        ],
    }
    answer = shop.admin("PUT", "/v1/products/both", body)
    assert (answer.status, answer.json["stock"]) == (200, 9), answer.body
    assert variants_by_sku(answer.json)["both"]["stock"] == 7, "the SKU that it had goes on as a variant"
    assert reserve(shop, "both1", line("both", "both", 3)).status == 201
    assert level(shop, "both", "both") == 4
    assert edit(shop, "both", options=[], variants=[]).json["stock"] == 4


def big(productid: str, count: int = 250) -> dict[str, Any]:
    options = [
        {"name": "Size", "values": [f"S{n}" for n in range(25)]},
        {"name": "Colour", "values": [f"C{n}" for n in range(10)]},
    ]
    variants = [
        {"sku": f"{productid}-{n}", "options": {"Size": f"S{n % 25}", "Colour": f"C{n // 25}"}, "stock": 5}
        for n in range(count)
    ]
    labels = {text: f"{text} de" for text in ("Size", "Colour", *(f"C{n}" for n in range(10)))}
    translations = {"de": {"name": f"Produkt {productid}", "labels": labels}}
    return product(productid, options=options, variants=variants, translations=translations)


def test_250_variants_cost_as_many_database_calls_as_none(shop: Shop):
    """Reading, pricing, editing, buying; each twice on its own product, the second time with 250 variants."""
    shop.load([product("none", stock=5), product("other", stock=5), big("all")])
    costs: dict[str, list[dict[str, int]]] = {"none": [], "all": []}
    for productid, sku in (("none", "none"), ("all", "all-249")):
        german = shop.get(f"/v1/products/{sku}", language="de")
        read = shop.get(f"/v1/products/{sku}")
        looked_up = shop.request("POST", "/v1/products/lookup", {"productids": [sku, "other"]})
        body = read.json | {"price": {"amount": 1100, "currency": "GBP"}}
        priced = shop.admin("PUT", f"/v1/products/{productid}", body)
        renamed = shop.admin("PUT", f"/v1/products/{productid}", priced.json | {"name": "Another name"})
        reserve(shop, f"warm-{productid}", line(productid, sku))
        reserved = reserve(shop, f"cost-{productid}", line(productid, sku))
        counted = shop.admin(
            "POST", f"/v1/products/{productid}/stock", {"delta": 1, "reason": "found", "sku": sku}
        )
        answers = [read, german, looked_up, priced, renamed, reserved, counted]
        assert [answer.status for answer in answers] == [200, 200, 200, 200, 200, 201, 201]
        costs[productid] = [answer.calls for answer in answers]
    assert costs["all"] == costs["none"]
    assert costs["all"][0] == {"global": 1}
    assert shop.ok("/v1/products/all")["variants"][7]["price"]["amount"] == 1100
