"""Product types and the attributes of products that they declare."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.services.products.conftest import ADMIN, Shop, eventually, product, token

BAG = {
    "code": "bag",
    "name": "Bag",
    "attributes": [
        {"code": "material", "name": "Material", "kind": "one_of", "values": ["Leather", "Canvas"]},
        {"code": "weight", "name": "Weight", "kind": "number", "unit": "g"},
        {"code": "waterproof", "name": "Waterproof", "kind": "boolean"},
        {"code": "fits", "name": "Fits", "kind": "several_of", "values": ["Laptop", "Tablet", "A4"]},
        {"code": "care", "name": "Care", "kind": "text"},
    ],
}
GOOD = {
    "material": "Canvas",
    "weight": 450.5,
    "waterproof": False,
    "fits": ["A4", "Laptop"],
    "care": " Wipe ",
}
STORED = {
    "material": "Canvas",
    "weight": 450.5,
    "waterproof": False,
    "fits": ["Laptop", "A4"],
    "care": "Wipe",
}
TYPES = "/v1/admin/product-types"


@pytest.fixture(scope="module", autouse=True)
def bag(shop: Shop) -> None:
    assert shop.admin("POST", TYPES, BAG).status == 201


def bag_product(productid: str, **attributes: Any) -> dict[str, Any]:
    return product(productid, product_type="bag", attributes=attributes)


def test_a_type_is_added_read_replaced_and_listed(shop: Shop) -> None:
    cup = {
        "code": "cup",
        "name": "Cup",
        "attributes": [{"code": "volume", "name": "Volume", "kind": "number", "unit": "ml"}],
    }
    added = shop.admin("POST", TYPES, cup)
    assert (added.status, added.headers["Location"]) == (201, f"{TYPES}/cup")
    assert added.json["attributes"][0] == cup["attributes"][0] | {"values": []}
    assert shop.admin("POST", TYPES, cup).json["code"] == "product_type_exists"
    read = shop.admin("GET", f"{TYPES}/cup")
    assert read.json == added.json
    changed = shop.admin("PUT", f"{TYPES}/cup", cup | {"name": "Mug"}, If_Match=read.headers["ETag"])
    assert (changed.status, changed.json["name"]) == (200, "Mug")
    assert shop.admin("PUT", f"{TYPES}/cup", cup, If_Match=read.headers["ETag"]).status == 412
    assert shop.admin("PUT", f"{TYPES}/cup", BAG).status == 422
    assert shop.admin("PUT", f"{TYPES}/none", cup | {"code": "none"}).status == 404
    assert {each["code"] for each in shop.admin("GET", TYPES).json["items"]} >= {"bag", "cup"}
    assert shop.request("GET", TYPES, None, token("u1", "customer")).status == 403
    assert shop.request("POST", TYPES, cup, token("s1", "staff")).status == 403


@pytest.mark.parametrize(
    ("attributes", "words"),
    [
        ([{"code": "a", "name": "A", "kind": "one_of"}], "name the values"),
        ([{"code": "a", "name": "A", "kind": "text", "values": ["x"]}], "only one_of and several_of"),
        ([{"code": "a", "name": "A", "kind": "text", "unit": "g"}], "only a number has a unit"),
        ([{"code": "a", "name": "A", "kind": "text"}] * 2, "comes twice"),
        ([{"code": "a", "name": "A", "kind": "one_of", "values": ["x", "x"]}], "comes twice"),
        ([{"code": "A b", "name": "A", "kind": "text"}], "Only small letters"),
        ([{"code": "a", "name": "A", "kind": "colour"}], "Must be one of: text"),
    ],
)
def test_a_type_that_contradicts_itself_is_refused(shop: Shop, attributes: Any, words: str) -> None:
    answer = shop.admin("POST", TYPES, {"code": "wrong", "name": "Wrong", "attributes": attributes})
    assert answer.status == 422
    assert words in " ".join(answer.json["errors"]["attributes"])


def test_attributes_are_typed_and_named_for_the_page(shop: Shop) -> None:
    created = shop.admin("POST", "/v1/products", bag_product("bag1", **GOOD))
    assert (created.status, created.json["attributes"]) == (201, STORED)
    shown = shop.ok("/v1/products/bag1", reviews=1)
    assert [(each["name"], each["unit"], each["value"]) for each in shown["specifications"]] == [
        ("Material", "", "Canvas"),
        ("Weight", "g", 450.5),
        ("Waterproof", "", False),
        ("Fits", "", ["Laptop", "A4"]),
        ("Care", "", "Wipe"),
    ]
    assert shop.load([bag_product("bag1", **GOOD)])["unchanged"] == 1
    assert shop.ok("/v1/products/bag1")["attributes"] == STORED
    fewer = shop.admin("PUT", "/v1/products/bag1", bag_product("bag1", weight=1, care=""))
    assert fewer.json["attributes"] == {"weight": 1}


@pytest.mark.parametrize(
    ("content", "field", "words"),
    [
        (
            {"product_type": "bag", "attributes": {"material": "Wool"}},
            "attributes.material",
            "Must be one of: Leather, Canvas",
        ),
        ({"product_type": "bag", "attributes": {"weight": "heavy"}}, "attributes.weight", "Must be a number"),
        ({"product_type": "bag", "attributes": {"weight": 1e16}}, "attributes.weight", "too large"),
        (
            {"product_type": "bag", "attributes": {"waterproof": "yes"}},
            "attributes.waterproof",
            "true or false",
        ),
        ({"product_type": "bag", "attributes": {"fits": ["Cat"]}}, "attributes.fits", "Must be one of"),
        ({"product_type": "bag", "attributes": {"care": "x" * 501}}, "attributes.care", "1 to 500"),
        ({"product_type": "bag", "attributes": {"smell": "good"}}, "attributes.smell", "no such attribute"),
        ({"product_type": "boat", "attributes": {}}, "product_type", "no product type boat"),
        ({"attributes": {"material": "Canvas"}}, "product_type", "Name the type"),
        ({"product_type": "bag", "attributes": ["material"]}, "attributes", "Not an object"),
    ],
)
def test_wrong_attributes_are_refused_by_field_and_line(
    shop: Shop, content: dict[str, Any], field: str, words: str
) -> None:
    answer = shop.admin("POST", "/v1/products", product("wrong", **content))
    assert answer.status == 422
    assert words in " ".join(answer.json["errors"][field])
    imported = shop.load([bag_product("right", weight=2), product("wrong", **content)])
    [failed] = imported["failed"]
    assert (failed["line"], failed["code"]) == (2, "invalid_product")
    assert f"{field}: " in failed["detail"]
    assert words in failed["detail"]


def test_attributes_are_exported_and_imported(shop: Shop) -> None:
    shop.load([bag_product("exported", **GOOD)])
    for kind in ("application/x-ndjson", "text/csv"):
        export = shop.request("GET", "/v1/products/export", None, token(*ADMIN) | {"Accept": kind})
        shop.admin("DELETE", "/v1/products/exported")
        headers = token(*ADMIN) | {"Content-Type": kind}
        answer = shop.request("POST", "/v1/products/import", export.body, headers).json
        assert (answer["created"], answer["updated"], answer["failed"]) == (1, 0, [])
        assert shop.ok("/v1/products/exported")["attributes"] == STORED


def test_types_cost_no_database_call_in_a_request(shop: Shop) -> None:
    shop.load([bag_product("cheap", **GOOD), product("plain")])
    for productid in ("cheap", "plain"):
        shop.ok(f"/v1/products/{productid}", reviews=1)
    costs = [shop.get(f"/v1/products/{productid}", reviews=1).calls for productid in ("cheap", "plain")]
    assert costs[0] == costs[1]


def test_a_type_that_changed_is_followed_and_older_products_stay(shop: Shop) -> None:
    """At once, whichever process is asked: a page is never older than a second, a write never judged by an old type."""
    vase = {
        "code": "vase",
        "name": "Vase",
        "attributes": [{"code": "glaze", "name": "Glaze", "kind": "text"}],
    }
    shop.admin("POST", TYPES, vase)
    shop.load([product("vase1", product_type="vase", attributes={"glaze": "Blue"})])
    height = {"code": "height", "name": "Height", "kind": "number", "unit": "cm"}
    assert shop.admin("PUT", f"{TYPES}/vase", vase | {"attributes": [height]}).status == 200
    fresh = product("vase2", product_type="vase", attributes={"height": 30})
    assert shop.admin("POST", "/v1/products", fresh).status == 201
    kept = shop.ok("/v1/products/vase1")
    assert kept["attributes"] == {"glaze": "Blue"}
    renamed = shop.admin("PUT", "/v1/products/vase1", kept | {"name": "Renamed"})
    assert (renamed.status, renamed.json["attributes"]) == (200, {"glaze": "Blue"}), (
        "what is not touched stays"
    )
    changed = shop.admin("PUT", "/v1/products/vase1", kept | {"attributes": {"glaze": "Red"}})
    assert "attributes.glaze" in changed.json["errors"]
    assert shop.ok("/v1/products/vase1", reviews=1)["specifications"] == []


def test_attributes_filter_and_are_counted(shop: Shop, catch_up: Callable[[], None]) -> None:
    """Values of one attribute are alternatives; what is chosen of one still counts its other values."""
    category = {"taxonomy": ["Shelf", "Bags"]}
    made = {
        "canvas": {"material": "Canvas", "fits": ["Laptop", "A4"]},
        "leather": {"material": "Leather", "waterproof": True},
        "both": {"material": "Leather", "fits": ["A4"], "weight": 300},
    }
    lines = [bag_product(f"shelf-{name}", **attributes) | category for name, attributes in made.items()]
    assert shop.load(lines)["failed"] == []

    def found(**query: Any) -> set[str]:
        items = shop.ok("/v1/products", category="Shelf#Bags", **query)["items"]
        return {each["productid"].removeprefix("shelf-") for each in items}

    def holds() -> bool:
        return found(**{"attributes.material": "Leather"}) == {"leather", "both"}

    eventually(holds)
    catch_up()
    assert found(**{"attributes.material": ["Leather", "Canvas"]}) == {"canvas", "leather", "both"}
    assert found(**{"attributes.fits": "A4", "attributes.material": "Leather"}) == {"both"}
    assert found(**{"attributes.waterproof": "true"}) == {"leather"}
    assert found(**{"attributes.weight": "300"}) == {"both"}
    facets = "attributes.material,attributes.fits"
    query = {"category": "Shelf#Bags", "facets": facets, "attributes.material": "Canvas"}
    counted = shop.ok("/v1/products", **query)["facets"]
    as_counts = {name: {each["value"]: each["count"] for each in values} for name, values in counted.items()}
    assert as_counts["attributes.material"] == {"Leather": 2, "Canvas": 1}
    assert as_counts["attributes.fits"] == {"A4": 1, "Laptop": 1}


def test_the_texts_of_attributes_are_words_of_a_search(shop: Shop) -> None:
    worded = bag_product("worded", material="Canvas", fits=["Tablet"], weight=77, care="Dampened sponge")
    assert shop.load([worded | {"name": "Gusset"}])["failed"] == []

    def found(text: str) -> set[str]:
        return {each["productid"] for each in shop.ok("/v1/products", q=text)["items"]}

    eventually(lambda: found("gusset tablets") == {"worded"})
    assert found("canvas gusset sponges") == {"worded"}
    assert "worded" in found("canvas tablet")


@pytest.mark.parametrize(
    "scope", [{"q": "satchel"}, {"category": "Bags#Satchels"}], ids=["search", "category"]
)
def test_many_numbers_are_counted_and_filtered_by_bands_and_few_one_by_one(
    shop: Shop, scope: dict[str, str], catch_up: Callable[[], None]
) -> None:
    def counted(**filters: str) -> list[tuple[str, int]]:
        answer = shop.ok("/v1/products", **scope, facets="attributes.weight", **filters)
        return [(each["value"], each["count"]) for each in answer["facets"]["attributes.weight"]]

    weights = [0.5, 1, 15, 20, 49.9, 50, 90, 150, 1000, 450]
    lines = [
        bag_product(f"satchel{n}", weight=weight) | {"name": f"Satchel {n}", "taxonomy": ["Bags", "Satchels"]}
        for n, weight in enumerate(weights)
    ]
    assert not shop.load(lines)["failed"]
    bands = [
        ("0.5..1", 1),
        ("1..2", 1),
        ("10..20", 1),
        ("20..50", 2),
        ("50..100", 2),
        ("100..200", 1),
        ("200..500", 1),
        ("1000..2000", 1),
    ]
    eventually(lambda: counted() == bands)
    catch_up()
    found = shop.ok("/v1/products", **scope, **{"attributes.weight": ["20..50", "1000..2000"]})["items"]
    assert {each["productid"] for each in found} == {"satchel3", "satchel4", "satchel8"}
    assert counted(**{"attributes.weight": "20..50"}) == bands, "values of one facet are alternatives"
    few = shop.ok("/v1/products", **scope, facets="attributes.weight", **{"max_price": "0"})
    assert few["facets"]["attributes.weight"] == []
