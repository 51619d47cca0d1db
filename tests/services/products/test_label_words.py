"""What categories and attributes are called in a language finds their products, as their own words do in the shop's own language."""

from collections.abc import Callable
from typing import Any

import pytest

from services.products.documents import design_in
from tests.services.products.conftest import Neighbours, Shop, eventually, product

HALL, PANTRY, ATTIC = ["House", "Scullery"], ["House", "Scullery", "Larder"], ["Loft"]
GOODS = [
    product("ladle", taxonomy=HALL, name="Ladle", translations={"de": {"name": "Kelle"}}),
    product("jar", taxonomy=PANTRY, name="Jar", translations={"de": {"name": "Krug"}}),
    product("trunk", taxonomy=ATTIC, name="Trunk", translations={"de": {"name": "Truhe"}}),
    product(
        "towel", taxonomy=ATTIC, name="Towel", product_type="cloth", attributes={"fibre": "Organic flax"}
    ),
    product("rug", taxonomy=ATTIC, name="Rug", product_type="cloth", attributes={"fibre": "Jute"}),
]
CLOTH = {
    "code": "cloth",
    "name": "Cloth",
    "attributes": [{"code": "fibre", "name": "Fibre", "kind": "one_of", "values": ["Organic flax", "Jute"]}],
    "translations": {"de": {"names": {"fibre": "Faserart"}, "labels": {"Organic flax": "Bio-Leinen"}}},
}


@pytest.fixture(scope="module")
def shop(prepared: Callable, service: Callable, neighbours: Neighbours) -> Shop:
    prepared(design_in("en", "de"))
    urls = {"USERS_URL": neighbours.url, "ORDERS_URL": neighbours.url}
    found = Shop(service("products", **urls, ACCESS_LOG="false", LANGUAGES="en,de"), neighbours)
    assert found.admin("POST", "/v1/admin/product-types", CLOTH).status == 201
    label(found, "House#Scullery", "Spülküche", own="Wash room")
    assert found.load(GOODS)["failed"] == []
    eventually(lambda: len(ids(found, q="kelle krug truhe towel rug jute")) > 0)
    eventually(lambda: ids(found, q="spülküche") == ["jar", "ladle"])
    return found


def label(shop: Shop, path: str, text: str, own: str = "") -> None:
    content = {"path": path, "label": own, "translations": {"de": {"label": text}}}
    answer = shop.admin("PUT", f"/v1/admin/categories/{path.replace('#', '%23')}", content)
    assert answer.status in (200, 201), answer.body


def ids(shop: Shop, **query: Any) -> list[str]:
    found = shop.ok("/v1/products", **{"language": "de", **query})
    return sorted(each["productid"] for each in found["items"])


@pytest.mark.parametrize("q", ["Spülküche", "spuelkueche", "SPÜLKÜCHEN", "spülk"])
def test_a_category_is_found_by_its_label(shop: Shop, q: str):
    assert ids(shop, q=q) == ["jar", "ladle"]
    assert ids(shop, q=f"{q} krug") == ids(shop, q=f"krug {q}") == ["jar"]
    assert shop.ok("/v1/products", language="de", q=q)["total"] == 2


def test_it_costs_one_query(shop: Shop):
    """A process that has not counted labels of facets lately does so once, and an index that is behind is asked twice."""

    def calls(**query: str) -> dict[str, int]:
        return shop.get("/v1/products", language="de", **query).calls

    for q in ("spülküche", "spülküche krug", "bio-leinen"):
        eventually(lambda q=q: calls(q=q) == {"global": 1})
        eventually(lambda q=q: calls(q=q, facets="brand,category") == {"global": 1})
    eventually(lambda: calls(q="spülküche krug", category="House#Scullery#Larder") == {"partition": 1})


def test_within_the_category_its_label_leaves_nothing_out(shop: Shop):
    assert ids(shop, q="spülküche", category="House#Scullery") == ["ladle"]
    assert ids(shop, q="spülküche krug", category="House#Scullery#Larder") == ["jar"]
    assert ids(shop, q="spülküche truhe", category="Loft") in ([], ["trunk"])
    assert ids(shop, q="spülküche", category="House", subcategories="true") == ["jar", "ladle"]


def test_labels_are_of_their_language(shop: Shop):
    assert ids(shop, q="spülküche", language="en") == []
    assert ids(shop, q="scullery", language="en") == ["jar", "ladle"]
    assert ids(shop, q="wash room", language="en") == ["jar", "ladle"]


def test_the_department_is_suggested_by_its_label(shop: Shop):
    for q in ("spülk", "spuelküche", "krug spülk"):
        found = shop.ok("/v1/products/suggest", q=q, language="de")["items"]
        named = [(each["text"], each["path"]) for each in found if each["kind"] == "category"]
        assert named[:1] == [("Spülküche", "House#Scullery")], q
    english = shop.ok("/v1/products/suggest", q="scull")["items"]
    assert english[0]["path"] == "House#Scullery"


def test_filters_by_category_have_its_label(shop: Shop):
    counted = shop.ok("/v1/products", q="krug", language="de", facets="category")["facets"]["category"]
    assert {"value": "House#Scullery", "count": 1, "label": "Spülküche"} in counted
    english = shop.ok("/v1/products", q="jar", facets="category")["facets"]["category"]
    assert {"value": "House#Scullery", "count": 1} in english


@pytest.mark.parametrize("q", ["Bio-Leinen", "leinen", "leinen towel"])
def test_values_of_attributes_are_found_by_their_labels(shop: Shop, q: str):
    assert ids(shop, q=q) == ["towel"]


def test_attributes_are_found_by_what_they_are_called(shop: Shop):
    assert ids(shop, q="faserart") == ["rug", "towel"]


def test_a_changed_label_is_searched_for_at_once(shop: Shop):
    label(shop, "Loft", "Dachboden")
    eventually(lambda: ids(shop, q="dachboden") == ["rug", "towel", "trunk"])
    label(shop, "Loft", "Speicher")
    eventually(lambda: ids(shop, q="speicher") == ["rug", "towel", "trunk"])
    assert ids(shop, q="dachboden") == []
