"""Counts beside a category's filters: kept for all replicas, counted again behind the requests, right soon after every change."""

import itertools
from collections.abc import Callable
from typing import Any

import pytest
from redis import Redis

from tests.services.products.conftest import Neighbours, Shop, eventually, open_as_worker, product

MUGS = ["Home", "Kitchen", "Mugs & Cups"]
CATEGORY = "#".join(MUGS)
PAGE = {"category": CATEGORY, "facets": "brand,colour,price", "stale_facets": "true", "limit": 24}
GOODS = [
    product(
        f"mug{n:02d}",
        taxonomy=MUGS,
        brand=("Acme", "Nordic", "Öko", "")[n % 4],
        colours=colours,
        price={"amount": 500 * n, "currency": "GBP"},
    )
    for n, colours in enumerate(
        itertools.islice(itertools.cycle((["red"], ["red", "blue"], [], ["white"])), 41)
    )
]


@pytest.fixture(scope="module")
def shops(shop: Shop, service: Callable, neighbours: Neighbours) -> list[Shop]:
    """Two replicas; what is kept too long is counted again after an hour."""
    settings = {"USERS_URL": neighbours.url, "ORDERS_URL": neighbours.url, "MENU_SECONDS": "3600"}
    replicas = [Shop(service("products", **settings), neighbours) for _ in range(2)]
    assert shop.load(GOODS)["created"] == len(GOODS)
    return replicas


def counts(answer: dict[str, Any]) -> dict[str, Any]:
    facets = answer["facets"].items()
    return {
        name: {each["value"]: each["count"] for each in values if each["value"]} for name, values in facets
    }


def brands(shop: Shop) -> dict[str, int]:
    return counts(shop.ok("/v1/products", **PAGE))["brand"]


def shows(shops: list[Shop], expected: dict[str, int]) -> Callable[[], bool]:
    return lambda: all(brands(shop) == expected for shop in shops)


def test_a_category_with_its_counts_is_one_partition_query(
    shops: list[Shop], catch_up: Callable[[], None]
) -> None:
    catch_up()
    for shop in shops:
        shop.get("/v1/products", **PAGE)
        for more in (
            {},
            {"brand": "Acme"},
            {"colour": ["red", "blue"], "min_price": 700},
            {"sort": "-price"},
        ):
            assert shop.get("/v1/products", **PAGE, **more).calls == {"partition": 1}, more


@pytest.mark.parametrize(
    "filters",
    [
        {},
        {"brand": "Acme"},
        {"brand": ["Acme", "Öko"], "colour": "red"},
        {"colour": ["white", "blue"]},
        {"min_price": 1000, "max_price": 4999},
        {"min_price": 20001},
        {"brand": "nobody"},
    ],
    ids=str,
)
def test_the_counts_are_those_of_a_search(shops: list[Shop], filters: dict[str, Any]) -> None:
    asked = {"category": CATEGORY, "facets": "brand,colour,price", "limit": 100, **filters}
    kept = shops[0].ok("/v1/products", **asked, stale_facets="true")
    searched = shops[0].ok("/v1/products", **asked, subcategories="true")
    assert counts(kept) == counts(searched)
    assert kept["total"] == searched["total"] == len(kept["items"])
    assert {each["productid"] for each in kept["items"]} == {each["productid"] for each in searched["items"]}


def test_pages_follow_each_other_beside_counts(shops: list[Shop]) -> None:
    found = shops[0].walk(**{**PAGE, "limit": 7})
    assert sorted(each["productid"] for each in found) == [each["productid"] for each in GOODS]


def test_every_replica_counts_anew_soon_after_a_change(shops: list[Shop]) -> None:
    first, second = shops
    before = brands(first)
    assert brands(second) == before
    changed = {**GOODS[0], "brand": "Fresh"}
    assert first.admin("PUT", "/v1/products/mug00", changed).status == 200
    after = {**before, "Fresh": 1, "Acme": before["Acme"] - 1}
    eventually(shows(shops, after))
    assert second.load([product("mug99", taxonomy=MUGS, brand="Fresh")])["created"] == 1
    eventually(shows(shops, after | {"Fresh": 2}))
    assert first.admin("DELETE", "/v1/products/mug99").status == 204
    eventually(shows(shops, after))
    assert second.admin("PUT", "/v1/products/mug00", {**changed, "taxonomy": ["Attic"]}).status == 200
    eventually(shows(shops, {brand: count for brand, count in after.items() if brand != "Fresh"}))
    attic = {**PAGE, "category": "Attic"}
    eventually(lambda: counts(first.ok("/v1/products", **attic))["brand"] == {"Fresh": 1})
    assert first.admin("PUT", "/v1/products/mug00", GOODS[0]).status == 200
    eventually(shows(shops, before))
    eventually(lambda: counts(second.ok("/v1/products", **attic))["brand"] == {})


def test_who_does_not_allow_old_counts_gets_new_ones(shops: list[Shop]) -> None:
    first, second = shops
    asked = {name: value for name, value in PAGE.items() if name != "stale_facets"}
    before = counts(second.ok("/v1/products", **asked))["brand"]
    assert first.admin("POST", "/v1/products", product("mug77", taxonomy=MUGS, brand="Seven")).status == 201
    assert counts(second.ok("/v1/products", **asked))["brand"] == before | {"Seven": 1}
    assert first.admin("DELETE", "/v1/products/mug77").status == 204
    assert counts(second.ok("/v1/products", **asked))["brand"] == before


def test_a_department_is_read_by_ids_that_are_kept(shops: list[Shop]) -> None:
    """Which products come first is kept; the products are read as they are now."""
    first, second = shops
    asked = {**PAGE, "category": "Home#Kitchen", "subcategories": "true", "limit": 50}
    names = [product["productid"] for product in GOODS]

    def shown(shop: Shop) -> dict[str, int]:
        return {
            each["productid"]: each["price"]["amount"] for each in shop.ok("/v1/products", **asked)["items"]
        }

    eventually(lambda: all(sorted(shown(shop)) == names for shop in shops))
    for shop in shops:
        assert shop.get("/v1/products", **asked).calls == {"read": 1}
        assert shop.get("/v1/products", **asked, brand="Acme").calls == {"global": 1}
    dearer = {**GOODS[3], "price": {"amount": 77, "currency": "GBP"}}
    assert first.admin("PUT", "/v1/products/mug03", dearer).status == 200
    assert shown(second)["mug03"] == 77
    assert first.admin("POST", "/v1/products", product("mug55", taxonomy=MUGS)).status == 201
    eventually(lambda: all("mug55" in shown(shop) for shop in shops))
    assert first.admin("DELETE", "/v1/products/mug55").status == 204
    assert "mug55" not in shown(second)
    assert first.admin("PUT", "/v1/products/mug03", GOODS[3]).status == 200
    pages = [second.ok("/v1/products", **{**asked, "limit": 30})]
    pages.append(second.ok("/v1/products", **{**asked, "limit": 30}, cursor=pages[0]["next"]))
    assert sorted(each["productid"] for page in pages for each in page["items"]) == names


def test_nothing_is_kept_of_categories_that_are_not_there(
    shops: list[Shop], environment: dict[str, str]
) -> None:
    redis = Redis.from_url(environment["REDIS_URL"])
    for category in ("Nowhere", "Home#Nowhere"):
        for more in ({}, {"subcategories": "true"}):
            assert shops[0].ok("/v1/products", **{**PAGE, "category": category}, **more)["items"] == []
    assert not [key for key in redis.keys("kept:*") if b"Nowhere" in key]


def test_a_change_past_the_api_is_counted_when_the_counts_are_old(
    shop: Shop, service: Callable, neighbours: Neighbours, environment: dict[str, str]
) -> None:
    replica = Shop(
        service("products", USERS_URL=neighbours.url, ORDERS_URL=neighbours.url, MENU_SECONDS="2"), neighbours
    )
    shop.load([product("cup", taxonomy=["Cups"], brand="Old")])
    asked = {**PAGE, "category": "Cups"}
    assert counts(replica.ok("/v1/products", **asked))["brand"] == {"Old": 1}
    deps = open_as_worker(environment)
    deps.catalogue.put({**deps.catalogue.by_productid("cup"), "brand": "New"})
    eventually(lambda: counts(replica.ok("/v1/products", **asked))["brand"] == {"New": 1})


def test_without_redis_the_counts_are_there_and_right_soon(
    shops: list[Shop], service: Callable, neighbours: Neighbours
) -> None:
    alone = Shop(
        service(
            "products", USERS_URL=neighbours.url, ORDERS_URL=neighbours.url, REDIS_URL="redis://127.0.0.1:1/0"
        ),
        neighbours,
    )
    before = brands(alone)
    assert before == brands(shops[0])
    assert alone.get("/v1/products", **PAGE).calls == {"partition": 1}
    assert (
        shops[0].admin("POST", "/v1/products", product("mug88", taxonomy=MUGS, brand="Eight")).status == 201
    )
    eventually(shows([alone], before | {"Eight": 1}))
    assert shops[0].admin("DELETE", "/v1/products/mug88").status == 204
    eventually(shows([alone], before))


def test_kept_counts_that_are_lost_are_counted_again(shops: list[Shop], environment: dict[str, str]) -> None:
    before = brands(shops[0])
    Redis.from_url(environment["REDIS_URL"]).flushdb()
    eventually(shows(shops, before))
