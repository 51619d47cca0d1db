"""Facets beside a list: alternatives stay countable, several values at once, prices in one currency, and what it costs."""

from typing import Any

import pytest

from tests.services.products.conftest import Shop, product

LAMPS, BULBS = ["Home", "Lighting", "Lamps"], ["Home", "Lighting", "Bulbs"]


def lamp(
    number: int, brand: str, colours: list[str], amount: int, currency: str = "GBP", **more: Any
) -> dict[str, Any]:
    price = {"amount": amount, "currency": currency}
    return product(
        f"lamp{number}",
        name=f"Desk lamp {number}",
        brand=brand,
        colours=colours,
        price=price,
        **{"taxonomy": LAMPS, **more},
    )


GOODS = [
    lamp(1, "Acme", ["red"], 1500),
    lamp(2, "Acme", ["red", "blue"], 2500),
    lamp(3, "Nordic", ["red"], 2600),
    lamp(4, "Nordic", ["white"], 7000),
    lamp(5, "Volt", ["white"], 12000),
    lamp(6, "Volt", ["blue"], 900, taxonomy=BULBS),
    product(
        "rupee",
        name="Brass diya",
        brand="Deepak",
        taxonomy=["Bazaar"],
        price={"amount": 90000, "currency": "INR"},
        delivery=None,
    ),
    product(
        "pound",
        name="Clay diya",
        brand="Deepak",
        taxonomy=["Bazaar"],
        price={"amount": 1200, "currency": "GBP"},
    ),
]

SEARCHED = {"q": "lamp"}
IN_CATEGORY = {"category": "#".join(LAMPS)}
BELOW = {"category": "Home", "subcategories": "true"}


@pytest.fixture(scope="module", autouse=True)
def goods(shop: Shop) -> None:
    assert shop.load(GOODS)["created"] == len(GOODS)


def facets(shop: Shop, **query: Any) -> dict[str, dict[str, int]]:
    found = shop.ok("/v1/products", facets="brand,colour,price", **query)["facets"]
    return {name: {each["value"]: each["count"] for each in values} for name, values in found.items()}


@pytest.mark.parametrize("scope", [SEARCHED, IN_CATEGORY, BELOW], ids=["search", "category", "department"])
def test_a_chosen_value_keeps_its_alternatives_countable(shop: Shop, scope: dict[str, str]) -> None:
    everything = facets(shop, **scope)
    one = facets(shop, **scope, brand="Acme")
    assert one["brand"] == everything["brand"]
    assert one["colour"] == {"red": 2, "blue": 1}
    assert one["price"] == {"1000-1999": 1, "2000-4999": 1}
    both = facets(shop, **scope, brand="Nordic", colour="white")
    whites = {"Nordic": 1, "Volt": 1}
    assert both["brand"] == whites
    assert both["colour"] == {"red": 1, "white": 1}
    assert both["price"] == {"5000-9999": 1}


@pytest.mark.parametrize("scope", [SEARCHED, IN_CATEGORY, BELOW], ids=["search", "category", "department"])
def test_several_values_of_a_facet_are_any_of_them(shop: Shop, scope: dict[str, str]) -> None:
    answer = shop.ok(
        "/v1/products", **scope, brand=["Acme", "Volt"], colour=["red", "white"], facets="brand,colour"
    )
    assert {each["productid"] for each in answer["items"]} == {"lamp1", "lamp2", "lamp5"}
    assert answer["total"] == 3
    found = facets(shop, **scope, brand=["Acme", "Volt"], colour=["red", "white"])
    assert found["brand"] == {"Acme": 2, "Nordic": 2, "Volt": 1}
    assert {name: found["colour"][name] for name in ("red", "white")} == {"red": 2, "white": 1}


@pytest.mark.parametrize("scope", [SEARCHED, IN_CATEGORY], ids=["search", "category"])
def test_a_price_band_keeps_the_other_bands_countable(shop: Shop, scope: dict[str, str]) -> None:
    everything = facets(shop, **scope)
    band = facets(shop, **scope, min_price=2000, max_price=4999)
    assert band["price"] == everything["price"]
    assert band["brand"] == {"Acme": 1, "Nordic": 1}


@pytest.mark.parametrize("scope", [{"q": "diya"}, {"category": "Bazaar"}], ids=["search", "category"])
def test_price_bands_are_of_one_currency(shop: Shop, scope: dict[str, str]) -> None:
    assert facets(shop, **scope)["price"] == {}
    assert facets(shop, **scope, currency="GBP")["price"] == {"1000-1999": 1}
    assert facets(shop, **scope, currency="INR")["price"] == {"50000-99999": 1}
    found = shop.ok("/v1/products", **scope, currency="GBP", facets="currency")["facets"]["currency"]
    assert found == [{"value": "GBP", "count": 1}, {"value": "INR", "count": 1}]


def test_what_nothing_has_is_not_counted(shop: Shop) -> None:
    for scope in (SEARCHED, IN_CATEGORY):
        found = shop.ok("/v1/products", **scope, brand="nobody", colour="red", facets="brand,colour,price")
        assert (found["items"], found["total"]) == ([], 0)
        counted = [each for values in found["facets"].values() for each in values]
        assert counted, "the way out"
        assert all(each["count"] for each in counted)
    empty = shop.ok("/v1/products", q="xyzzy ", facets="brand,colour,price")["facets"]
    assert empty == {"brand": [], "colour": [], "price": []}


def test_a_filter_costs_nothing_when_the_page_it_was_chosen_on_was_seen(shop: Shop) -> None:
    """Alternatives nobody has seen in the last minute are asked for: one query more for each facet that filters."""
    for name in ("Desk", "desk lamp"):
        page = {"q": name, "facets": "brand,colour,price"}
        first = shop.get("/v1/products", **page)
        assert first.calls == {"global": 1}
        assert shop.get("/v1/products", **page, brand="Acme").calls == {"global": 1}
        assert shop.get("/v1/products", **page, brand=["Acme", "Volt"]).calls == {"global": 1}
        assert shop.get("/v1/products", **page, brand="Acme", colour="red").calls["global"] <= 2
    cold = {"q": "lamp desk", "facets": "brand,colour", "brand": "Volt"}
    assert [shop.get("/v1/products", **cold).calls["global"] for _ in range(2)] == [2, 1]
    assert shop.get(
        "/v1/products", **IN_CATEGORY, facets="brand", brand="Acme", stale_facets="true"
    ).calls == {"partition": 1}


def test_counts_follow_the_catalogue_at_once(shop: Shop) -> None:
    page = {"q": "lamp", "facets": "brand", "brand": "Acme"}
    before = facets(shop, q="lamp", brand="Acme")["brand"]
    assert shop.load([lamp(7, "Fresh", [], 1000)])["created"] == 1
    after = facets(shop, q="lamp", brand="Acme")["brand"]
    assert after == before | {"Fresh": 1}
    assert shop.admin("DELETE", "/v1/products/lamp7").status == 204
    assert shop.ok("/v1/products", **page)["facets"]["brand"] == [
        {"value": name, "count": count}
        for name, count in sorted(before.items(), key=lambda each: (-each[1], each[0]))
    ]


BOOTS = ["Footwear", "Boots"]
SOLD = [("S", "red", 3), ("M", "red", 0), ("M", "black", 2), ("L", "black", 1)]


def boot(number: int, sold: list[tuple[str, str, int]]) -> dict[str, Any]:
    values = {
        "Size": list(dict.fromkeys(each[0] for each in sold)),
        "Colour": list(dict.fromkeys(each[1] for each in sold)),
    }
    variants = [
        {"sku": f"boot{number}-{size}-{colour}", "options": {"Size": size, "Colour": colour}, "stock": stock}
        for size, colour, stock in sold
    ]
    options = [{"name": name, "values": its} for name, its in values.items()]
    return product(
        f"boot{number}", name=f"Rain boot {number}", taxonomy=BOOTS, options=options, variants=variants
    )


@pytest.fixture(scope="module")
def boots(shop: Shop) -> None:
    assert (
        shop.load([boot(1, SOLD), boot(2, [("M", "red", 5)]), boot(3, [("XL", "green", 0)])])["created"] == 3
    )


@pytest.mark.parametrize("scope", [{"q": "boot"}, {"category": "#".join(BOOTS)}], ids=["search", "category"])
def test_options_are_facets_as_variants_in_stock_have_them(
    shop: Shop, boots: None, scope: dict[str, str]
) -> None:
    def ask(**filters: Any) -> tuple[set[str], dict[str, dict[str, int]]]:
        answer = shop.ok("/v1/products", **scope, facets="options", **filters)
        counted = {
            name: {each["value"]: each["count"] for each in values}
            for name, values in answer["facets"].items()
        }
        assert answer["total"] == len(answer["items"])
        return {each["productid"] for each in answer["items"]}, counted

    ids, counted = ask()
    assert ids == {"boot1", "boot2", "boot3"}
    assert counted == {"options.Size": {"M": 2, "L": 1, "S": 1}, "options.Colour": {"red": 2, "black": 1}}
    assert ask(**{"options.Size": ["S", "XL"]}) == (
        {"boot1"},
        {"options.Size": {"M": 2, "L": 1, "S": 1}, "options.Colour": {"red": 1, "black": 1}},
    )
    ids, _ = ask(**{"options.Size": "M", "options.Colour": "red"})
    assert ids == {"boot2"}, "boot1 has M in black only"
    ids, _ = ask(**{"options.Size": ["M", "L"], "options.Colour": ["black", "green"]})
    assert ids == {"boot1"}
    one = shop.ok("/v1/products", **scope, facets="options.Colour", limit=1)["facets"]
    assert one == {"options.Colour": [{"value": "red", "count": 2}, {"value": "black", "count": 1}]}


def test_an_option_in_stock_is_a_word(shop: Shop, boots: None) -> None:
    def found(q: str, limit: int = 20) -> list[str]:
        return [each["productid"] for each in shop.ok("/v1/products", q=q, limit=limit)["items"]]

    assert found("black boot ") == ["boot1"]
    assert set(found("green boot ")) == {"boot1", "boot2", "boot3"}, "sold out in green: all that are boots"
    assert set(found("green rain cable boot ", limit=3)) == {"boot1", "boot2", "boot3"}
