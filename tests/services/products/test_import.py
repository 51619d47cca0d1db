"""Real goods go in, once, and are found."""

import pytest

from tests.services.products import flipkart
from tests.services.products.conftest import Shop, eventually, product

pytestmark = pytest.mark.skipif(not flipkart.FILE.exists(), reason="the real data is not here (AISLE_DATA)")


@pytest.fixture(scope="module")
def goods() -> list[dict]:
    return list(flipkart.lines())


@pytest.fixture(scope="module")
def first(shop: Shop, goods: list[dict]) -> dict:
    return shop.load(goods)


def test_all_but_the_unpriced_are_created(first: dict, goods: list[dict]):
    assert (first["created"], first["updated"], first["unchanged"]) == (995, 0, 0)
    unpriced = [n for n, line in enumerate(goods, 1) if "price" not in line]
    assert [each["line"] for each in first["failed"]] == unpriced
    assert {each["code"] for each in first["failed"]} == {"invalid_product"}
    assert all("price" in each["detail"] for each in first["failed"])


def test_a_second_time_changes_nothing(shop: Shop, first: dict, goods: list[dict]):
    again = shop.load(goods)
    assert (again["created"], again["updated"], again["unchanged"]) == (0, 0, 995)
    assert again["failed"] == first["failed"]


def test_the_menu_counts_every_category(shop: Shop, first: dict, goods: list[dict]):
    menu = shop.ok("/v1/categories")
    assert menu["count"] == 995
    expected = {}
    for line in goods:
        if "price" in line:
            expected[line["taxonomy"][0]] = expected.get(line["taxonomy"][0], 0) + 1
    assert {child["path"]: child["count"] for child in menu["children"]} == expected


def test_categories_with_signs_in_their_names_are_found(shop: Shop, first: dict, goods: list[dict]):
    by_path: dict[str, set[str]] = {}
    for line in goods:
        if "price" in line:
            by_path.setdefault("#".join(line["taxonomy"]), set()).add(line["productid"])
    odd = [path for path in by_path if any(sign in path for sign in "&',/\"%")]
    assert {sign for sign in "&',/" if any(sign in path for path in odd)} == set("&',/")
    for path in odd[:40]:
        assert {each["productid"] for each in shop.walk(category=path, limit=50)} == by_path[path], path


def test_search_finds_every_product_by_its_name(shop: Shop, first: dict, goods: list[dict]):
    def found(productid: str, words: str) -> bool:
        page = shop.ok("/v1/products", q=words, limit=50)
        return productid in {each["productid"] for each in page["items"]}

    for line in goods[::50]:
        if "price" in line:
            eventually(lambda line=line: found(line["productid"], line["name"][:200]))


def test_a_product_reads_back_as_it_was_sent(shop: Shop, first: dict, goods: list[dict]):
    for line in goods[1:400:40]:
        answer = shop.ok(f"/v1/products/{line['productid']}")
        assert {name: answer[name] for name in line} == line
        assert answer["rating"] == {"average": None, "count": 0}


def test_lines_that_are_wrong_are_named_and_the_others_go_in(shop: Shop):
    answer = shop.load(
        [
            product("good-1", stock=3),
            b"{not json",
            b"",
            product("bad-1", price=None),
            product("bad-2", colour="red"),
            product("good-1", name="The same again, renamed"),
            product("bad-3", taxonomy=["A#B"]),
            b"[]",
            b'"' + b"x" * 600_000 + b'"',
            product(
                "good-2",
                taxonomy=["_Odd: one", "100% wool"],
                brand=None,
                delivery=None,
                colours=None,
                image=None,
            ),
        ]
    )
    assert (answer["created"], answer["updated"]) == (2, 1)
    assert [(each["line"], each["code"]) for each in answer["failed"]] == [
        (2, "malformed_json"),
        (4, "invalid_product"),
        (5, "invalid_product"),
        (7, "invalid_product"),
        (8, "invalid_product"),
        (9, "line_too_long"),
    ]
    assert [each["productid"] for each in shop.walk(category="_Odd: one#100% wool")] == ["good-2"]
    assert shop.ok("/v1/products/good-1")["stock"] == 3
