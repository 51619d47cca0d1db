"""Lists and products that are asked for again: what the service has made of the database's answer before is never older than that answer, and
never somebody else's."""

import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pytest

from services.products.actions import maintenance
from shared.clock import iso
from shared.couch.repeats import MAX_AGE_SECONDS
from tests import waiting
from tests.services.products.conftest import SERVICE, Shop, eventually, open_as_worker, product, token

SHELF = ["Repeated", "Lists"]
ADDRESS = "Repeated#Lists"
GOODS = [
    product("again-1", taxonomy=SHELF, name="Quillfeather lamp", prices={"GBP": 1000, "EUR": 1300}),
    product(
        "again-2",
        taxonomy=SHELF,
        name="Quillfeather table",
        price={"amount": 2000, "currency": "GBP"},
        prices={"GBP": 2000, "EUR": 2600},
    ),
    product("again-3", taxonomy=SHELF, name="Quillfeather vase"),
]
RULES = "/v1/admin/search"
SEARCH, CATEGORY = {"q": "quillfeather"}, {"category": ADDRESS, "sort": "name"}
COUNTED = {"facets": "brand,price", "stale_facets": "true"}
COUNTED_LISTS = [SEARCH | COUNTED, CATEGORY | COUNTED]
LISTS = pytest.mark.parametrize(
    "asked",
    [SEARCH, CATEGORY, *COUNTED_LISTS],
    ids=["search", "category", "counted search", "counted category"],
)


@pytest.fixture(autouse=True)
def goods(shop: Shop) -> Shop:
    assert shop.load(GOODS)["failed"] == []
    for asked in (SEARCH, CATEGORY):
        eventually(lambda asked=asked: len(ids(shop, **asked)) == 3)
    return shop


def soon(holds: Callable[[], bool]) -> None:
    """Before what was made would be too old to be sent again."""
    waiting.eventually(holds, MAX_AGE_SECONDS / 2)


def ids(shop: Shop, **asked: str) -> list[str]:
    return [each["productid"] for each in items(shop, **asked)]


def items(shop: Shop, headers: dict[str, str] | None = None, **asked: str) -> list[dict]:
    """The list as it is answered the second time, when it may have been made before."""
    shop.ok("/v1/products", headers, **asked)
    return shop.ok("/v1/products", headers, **asked)["items"]


def prices(shop: Shop, headers: dict[str, str] | None = None, **asked: str) -> dict[str, int]:
    return {each["productid"]: each["price"]["amount"] for each in items(shop, headers, **asked)}


def change(shop: Shop, productid: str, **fields) -> None:
    line = next(each for each in GOODS if each["productid"] == productid)
    assert shop.load([line | fields])["failed"] == []


@LISTS
def test_a_list_costs_one_query_each_time(goods: Shop, asked: dict[str, str]):
    kind = "global" if "q" in asked else "partition"
    eventually(lambda: goods.get("/v1/products", **asked).calls == {kind: 1})
    answers = [goods.get("/v1/products", **asked) for _ in range(4)]
    assert {answer.body for answer in answers} == {answers[0].body}
    assert [answer.calls for answer in answers] == [{kind: 1}] * 4


@LISTS
def test_a_change_is_in_the_next_list(goods: Shop, asked: dict[str, str]):
    for name in ("Quillfeather lantern", "Quillfeather lighthouse"):
        change(goods, "again-1", name=name)
        eventually(lambda name=name: name in [each["name"] for each in items(goods, **asked)])
    change(goods, "again-2", status="draft")
    eventually(lambda: "again-2" not in ids(goods, **asked))
    change(goods, "again-2", status="active")
    eventually(lambda: "again-2" in ids(goods, **asked))


@pytest.mark.parametrize("asked", COUNTED_LISTS, ids=["search", "category"])
def test_what_is_counted_beside_a_list_follows_its_products(goods: Shop, asked: dict[str, str]):
    """Where the products of the page themselves stay the same, too: here the first of them alone is shown."""

    def brands() -> dict[str, int]:
        answer = goods.ok("/v1/products", limit="1", **asked)
        return {each["value"]: each["count"] for each in answer["facets"]["brand"]}

    first = items(goods, limit="1", **asked)[0]["productid"]
    other = next(each["productid"] for each in GOODS if each["productid"] != first)
    for brand in ("Quillhouse", "Plumeworks"):
        change(goods, other, brand=brand)
        soon(lambda brand=brand: brands().get(brand) == 1)
    change(goods, other)
    soon(lambda: "Plumeworks" not in brands())


@LISTS
def test_stock_that_has_changed_is_in_the_next_list(
    goods: Shop, environment: dict[str, str], asked: dict[str, str]
):
    worker = open_as_worker(environment)

    def shown() -> int:
        maintenance.sum_up(worker)
        return next(each["stock"] for each in items(goods, **asked) if each["productid"] == "again-3")

    before = shown()
    delivery = {"delta": 5, "reason": "delivery"}
    assert goods.admin("POST", "/v1/products/again-3/stock", delivery).status == 201
    eventually(lambda: shown() == before + 5)


@LISTS
def test_each_currency_has_its_own_list(goods: Shop, asked: dict[str, str]):
    for currency, lamp in (("GBP", 1000), ("EUR", 1300), ("GBP", 1000)):
        assert prices(goods, currency=currency, **asked)["again-1"] == lamp
    assert "again-3" not in ids(goods, currency="EUR", **asked)


@LISTS
def test_prices_of_a_group_are_shown_to_nobody_else(goods: Shop, asked: dict[str, str]):
    change(goods, "again-1", group_prices={"trade": {"GBP": 700}})
    trade, other = token("u7", group="trade"), token("u8", group="other")
    eventually(lambda: prices(goods, trade, **asked)["again-1"] == 700)
    for headers, group, amount in (
        (None, "", 1000),
        (trade, "", 700),
        (other, "", 1000),
        (SERVICE, "trade", 700),
        (SERVICE, "", 1000),
        (None, "trade", 1000),
        (None, "", 1000),
    ):
        named = {"group": group} if group else {}
        assert prices(goods, headers, **named, **asked)["again-1"] == amount, (headers, group)
    change(goods, "again-1", group_prices={})
    eventually(lambda: prices(goods, trade, **asked)["again-1"] == 1000)


@LISTS
def test_a_sale_begins_and_ends_without_a_change_of_the_product(goods: Shop, asked: dict[str, str]):
    begins = datetime.now(UTC).replace(microsecond=0) + timedelta(seconds=4)
    ends = begins + timedelta(seconds=5)
    sale = {"from": iso(begins), "until": iso(ends), "prices": {"GBP": 500}}
    change(goods, "again-1", name="Quillfeather bargain", sales=[sale])
    eventually(lambda: any("bargain" in each["name"] for each in items(goods, **asked)))
    began = ended = datetime.now(UTC)
    while began < ends:
        began = datetime.now(UTC)
        listed = goods.ok("/v1/products", **asked)["items"]
        ended = datetime.now(UTC)
        lamp = next(each["price"]["amount"] for each in listed if each["productid"] == "again-1")
        if begins <= began and ended < ends:
            assert lamp == 500
        elif ended < begins or ends <= began:
            assert lamp == 1000
        time.sleep(0.1)
    change(goods, "again-1", sales=[])


def test_rules_of_search_are_in_force_in_the_next_list(goods: Shop):
    def listed() -> dict:
        return goods.ok("/v1/products", **SEARCH)

    plain = listed()
    assert listed() == plain
    path = f"{RULES}/redirects/quillfeather"
    assert goods.admin("PUT", path, {"address": "/pages/quills", "category": ""}).status == 201
    soon(lambda: listed().get("redirect") == {"address": "/pages/quills"})
    assert goods.admin("DELETE", path).status == 204
    soon(lambda: listed() == plain)
    path = f"{RULES}/pins/quillfeather"
    assert goods.admin("PUT", path, {"productids": ["again-3"]}).status == 201
    eventually(lambda: ids(goods, **SEARCH)[0] == "again-3")
    assert goods.admin("DELETE", path).status == 204
    path = f"{RULES}/synonyms/quillfeather"
    assert goods.get("/v1/products", q="plumewing").json["items"] == []
    assert goods.admin("PUT", path, {"synonyms": ["plumewing"]}).status == 201
    eventually(lambda: len(ids(goods, q="plumewing")) == 3)
    assert goods.admin("DELETE", path).status == 204
    eventually(lambda: ids(goods, q="plumewing") == [])


@LISTS
def test_each_page_is_its_own(goods: Shop, asked: dict[str, str]):
    """And together they are the whole list. Equally relevant products are ranked within a page: what is in stock leads its own one."""
    whole = ids(goods, **asked)
    for _ in range(2):
        first = goods.ok("/v1/products", limit="2", **asked)
        second = goods.ok("/v1/products", limit="2", cursor=first["next"], **asked)
        pages = [each["productid"] for each in first["items"] + second["items"]]
        assert pages == whole if "sort" in asked else sorted(pages) == sorted(whole)


def lamp(shop: Shop, headers: dict[str, str] | None = None, **asked: str) -> dict:
    """The product as it is answered the second time, by one global query."""
    shop.ok("/v1/products/again-1", headers, **asked)
    return shop.ok("/v1/products/again-1", headers, **asked)


def test_a_change_is_in_the_next_answer_of_a_product(goods: Shop):
    answers = [goods.get("/v1/products/again-1") for _ in range(4)]
    assert {answer.body for answer in answers} == {answers[0].body}
    assert [answer.calls for answer in answers] == [{"global": 1}] * 4
    for name in ("Quillfeather lantern", "Quillfeather lighthouse"):
        change(goods, "again-1", name=name)
        soon(lambda name=name: lamp(goods)["name"] == name)


def test_what_is_not_shown_any_more_is_for_staff_alone(goods: Shop):
    staff = token("u9", "staff")
    assert lamp(goods)["status"] == lamp(goods, staff)["status"] == "active"
    change(goods, "again-1", status="draft")
    soon(lambda: goods.get("/v1/products/again-1").status == 404)
    assert lamp(goods, staff)["status"] == "draft"
    assert goods.get("/v1/products/again-1").status == 404
    change(goods, "again-1", status="active")
    soon(lambda: goods.get("/v1/products/again-1").status == 200)


def test_a_product_has_another_answer_for_each_who_asks(goods: Shop):
    change(goods, "again-1", group_prices={"trade": {"GBP": 700}})
    trade = token("u7", group="trade")
    soon(lambda: lamp(goods, trade)["price"]["amount"] == 700)
    for headers, asked, amount in (
        (None, {}, 1000),
        (trade, {}, 700),
        (SERVICE, {"group": "trade"}, 700),
        (None, {"group": "trade"}, 1000),
        (SERVICE, {}, 1000),
        (None, {"currency": "EUR"}, 1300),
    ):
        assert lamp(goods, headers, **asked)["price"]["amount"] == amount, (headers, asked)
    change(goods, "again-1", group_prices={})
    soon(lambda: lamp(goods, trade)["price"]["amount"] == 1000)
    answers = {goods.get("/v1/products/again-1", headers).body for headers in (None, trade, SERVICE)}
    assert len(answers) == 1


def test_a_sale_of_a_product_begins_without_a_change(goods: Shop):
    begins = datetime.now(UTC).replace(microsecond=0) + timedelta(seconds=4)
    change(goods, "again-1", sales=[{"from": iso(begins), "prices": {"GBP": 500}}])
    soon(lambda: lamp(goods)["price"]["amount"] == 500)
    change(goods, "again-1", sales=[])
    soon(lambda: lamp(goods)["price"]["amount"] == 1000)
