"""Suggestions over real departments: never silent, no name twice, kept for a minute, as the rules of search are now."""

from collections.abc import Callable

import pytest

from services.products.search_indexes import SEARCH
from shared.couch import Server, View
from tests.services.products.conftest import Shop, eventually, product

GOODS = [
    product("wiper", taxonomy=["Automotive", "Car Mats & Covers"], name="Rubber wiper", brand="Carnaby"),
    product("mat", taxonomy=["Automotive", "Car Mats & Covers"], name="Car mat set"),
    product("train", taxonomy=["Toys & School Supplies", "Trains"], name="Wooden train"),
    product("lamp", taxonomy=["Home Decor", "Lights"], name="Night lamp"),
    *(product(f"vase-{n}", taxonomy=["Home Decor", "Vases"], name="Glass vase") for n in range(4)),
    product("vase-5", taxonomy=["Home Decor", "Vases"], name="Glass vase, tall"),
]


@pytest.fixture(scope="module")
def goods(shop: Shop, catch_up: Callable[[], None]) -> Shop:
    assert shop.load(GOODS)["created"] == len(GOODS)
    catch_up()
    return shop


def suggested(shop: Shop, q: str, **query) -> list[tuple[str, str]]:
    return [(each["kind"], each["text"]) for each in shop.ok("/v1/products/suggest", q=q, **query)["items"]]


@pytest.mark.parametrize(
    ("typed", "department"),
    [
        ("home", "Home Decor"),
        ("toys", "Toys & School Supplies"),
        ("car m", "Car Mats & Covers"),
        ("tosy", "Toys & School Supplies"),
        ("school sup", "Toys & School Supplies"),
    ],
)
def test_departments_come_first(goods: Shop, typed: str, department: str):
    assert suggested(goods, typed)[0] == ("category", department)


def test_a_name_is_suggested_once(goods: Shop):
    assert suggested(goods, "glass v", limit=3)[1:] == [
        ("product", "Glass vase"),
        ("product", "Glass vase, tall"),
    ]


def test_what_was_typed_is_kept_until_the_rules_change(goods: Shop):
    assert suggested(goods, "tapestry l") == []
    assert goods.get("/v1/products/suggest", q="tapestry L").calls == {}
    rule = "/v1/admin/search/synonyms/tapestry"
    assert goods.admin("PUT", rule, {"synonyms": ["night"]}).status == 201
    answer = goods.get("/v1/products/suggest", q="tapestry l")
    assert answer.calls == {"global": 1}
    assert answer.json["items"][-1]["text"] == "Night lamp"
    assert goods.admin("DELETE", rule).status == 204


def test_a_department_is_suggested_by_a_synonym(goods: Shop):
    rule = "/v1/admin/search/synonyms/playthings"
    assert goods.admin("PUT", rule, {"synonyms": ["toys"]}).status == 201
    assert suggested(goods, "playthings")[0] == ("category", "Toys & School Supplies")
    assert goods.admin("DELETE", rule).status == 204


def test_two_words_may_be_the_beginning_of_one(goods: Shop, server: Server, catch_up: Callable[[], None]):
    if isinstance(SEARCH.on(server.client.features()), View):
        pytest.skip("A keyword view takes two words as one only where that one is whole.")
    line = product("percale", taxonomy=["Home Furnishing", "Bedsheets"], name="Percale bedsheet")
    assert goods.load([line])["created"] == 1
    catch_up()
    assert suggested(goods, "bed sh") == [("category", "Bedsheets"), ("product", "Percale bedsheet")]


def test_a_single_letter_is_no_brand(goods: Shop):
    assert ("brand", "Carnaby") in suggested(goods, "rubber ca")
    assert ("brand", "Carnaby") not in suggested(goods, "rubber c")


def test_a_single_letter_is_no_department_of_hardly_any_hit(goods: Shop):
    rings = [product(f"goldring-{n}", taxonomy=["Jewels", "Rings"], name="Rosegold thing") for n in range(12)]
    idol = product("idol", taxonomy=["Festive", "Religious Idols"], name="Rosegold thing of brass")
    assert goods.load([*rings, idol])["created"] == len(rings) + 1
    eventually(lambda: len(goods.walk(q="rosegold thing")) == len(rings) + 1)
    eventually(lambda: ("category", "Rings") in suggested(goods, "rosegold r"))
    assert ("category", "Religious Idols") not in suggested(goods, "rosegold r")
    assert ("category", "Religious Idols") in suggested(goods, "rosegold re")


def test_a_word_that_says_nothing_takes_no_department_away(goods: Shop):
    for typed in ("wooden trains", "wooden trains for", "wooden trains for the"):
        assert ("category", "Trains") in suggested(goods, typed), typed


@pytest.mark.parametrize("typed", ["glass vases q", "vases q", "vase q"])
def test_a_letter_that_nothing_goes_on_from_takes_no_department_away(goods: Shop, typed: str):
    assert suggested(goods, typed)[0] == ("category", "Vases")


def test_a_letter_behind_words_that_name_nothing_names_no_department(
    goods: Shop, catch_up: Callable[[], None]
):
    lines = [
        product("ladle-5", taxonomy=["Kitchen", "Crockery"], name="Soup ladle", description="In 5 parts."),
        product("ladle-6", taxonomy=["Kitchen", "Crockery"], name="Ladle rest 5"),
    ]
    assert goods.load(lines)["failed"] == []
    catch_up()
    assert ("category", "Crockery") in suggested(goods, "ladle c")
    assert [kind for kind, _ in suggested(goods, "zuxphone 5 c") if kind == "category"] == []
