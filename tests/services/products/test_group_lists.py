"""Lists of a customer group that CUSTOMER_GROUPS names are sorted, filtered and counted by what its members pay."""

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from services.products.documents import design_in
from services.products.settings import Settings
from shared.settings import BadSettings, load
from tests.services.products.conftest import SERVICE, Neighbours, Shop, eventually, product, token
from tests.services.products.test_price_separation import (
    CURRENCIES,
    LISTS,
    Catalogue,
    price_of,
    public_price,
    walk,
)
from tests.services.products.variants import shirt

GROUPS = ("friends", "big-buyers", "others")
"""That are settings; the catalogue has prices for `friends` and `trade`, and some things here for `big-buyers`."""
REEDS = {"category": "Reeds#Mats"}
DEPARTMENT = {"category": "Reeds", "subcategories": "true"}


def mat(productid: str, amount: int, **more: Any) -> dict[str, Any]:
    """A product of a small category."""
    price = {"amount": amount, "currency": "GBP"}
    return product(productid, name=f"Reedmat {productid}", taxonomy=["Reeds", "Mats"], price=price, **more)


MATS = [
    mat("mat-a", 1200, group_prices={"big-buyers": {"GBP": 300}, "friends": {"GBP": 1100}}),
    mat("mat-b", 500),
    mat("mat-c", 2500, prices={"GBP": 2500, "EUR": 900}, group_prices={"big-buyers": {"EUR": 800}}),
    mat("mat-d", 700, sales=[{"prices": {"GBP": 200}}], group_prices={"big-buyers": {"GBP": 250}}),
]


@pytest.fixture(scope="module")
def shop(prepared: Callable, service: Callable, neighbours: Neighbours) -> Shop:
    """A shop whose settings name groups."""
    prepared(design_in("en", groups=GROUPS))
    urls = {"USERS_URL": neighbours.url, "ORDERS_URL": neighbours.url}
    url = service("products", **urls, ACCESS_LOG="false", CUSTOMER_GROUPS=",".join(GROUPS))
    found = Shop(url, neighbours)
    assert found.load(MATS)["failed"] == []
    for asked in (REEDS, DEPARTMENT, {"q": "reedmat"}):
        eventually(
            lambda asked=asked: len(ids(found, "big-buyers", currency="GBP", sort="price", **asked)) == 4
        )
    return found


@pytest.fixture(scope="module")
def catalogue(shop: Shop) -> Catalogue:
    found = Catalogue()
    assert shop.load(found.lines)["failed"] == []
    for asked in LISTS:
        for currency in CURRENCIES:
            sold = sum(currency in line["prices"] for line in found.lines)
            eventually(
                lambda asked=asked, currency=currency, sold=sold: (
                    len(shop.walk(limit=50, currency=currency, sort="price", **asked)) == sold
                )
            )
    return found


def ids(shop: Shop, group: str, **query: Any) -> list[str]:
    found = shop.ok("/v1/products", token("member", group=group), **query)
    return [each["productid"] for each in found["items"]]


@pytest.mark.parametrize("asked", [REEDS, DEPARTMENT, {"q": "reedmat"}], ids=lambda asked: "-".join(asked))
def test_a_members_list_is_in_the_order_of_the_members_prices(shop: Shop, asked: dict[str, str]):
    by_price = {"currency": "GBP", "sort": "price", **asked}
    assert ids(shop, "", **by_price) == ["mat-d", "mat-b", "mat-a", "mat-c"]
    assert ids(shop, "big-buyers", **by_price) == ["mat-d", "mat-a", "mat-b", "mat-c"]
    assert ids(shop, "friends", **by_price) == ["mat-d", "mat-b", "mat-a", "mat-c"]
    assert ids(shop, "big-buyers", **by_price | {"sort": "-price"}) == ["mat-c", "mat-b", "mat-a", "mat-d"]
    assert ids(shop, "big-buyers", **by_price, max_price=400) == ["mat-d", "mat-a"]
    assert ids(shop, "", **by_price, max_price=400) == ["mat-d"]
    assert set(ids(shop, "big-buyers", currency="GBP", max_price=400, **asked)) == {"mat-a", "mat-d"}
    assert ids(shop, "big-buyers", currency="EUR", sort="price", max_price=850, **asked) == ["mat-c"]
    assert ids(shop, "friends", currency="EUR", sort="price", max_price=850, **asked) == []


@pytest.mark.parametrize("asked", [REEDS, {"q": "reedmat"}], ids=lambda asked: "-".join(asked))
def test_without_a_currency_each_product_has_the_members_price_in_its_own(shop: Shop, asked: dict[str, str]):
    assert ids(shop, "big-buyers", sort="price", **asked) == ["mat-d", "mat-a", "mat-b", "mat-c"]
    assert ids(shop, "big-buyers", sort="price", max_price=300, **asked) == ["mat-d", "mat-a"]


@pytest.mark.parametrize("asked", [REEDS, DEPARTMENT, {"q": "reedmat"}], ids=lambda asked: "-".join(asked))
def test_bands_count_what_members_pay(shop: Shop, asked: dict[str, str]):
    def bands(group: str, **more: Any) -> dict[str, int]:
        found = shop.ok(
            "/v1/products", token("m", group=group), facets="price", currency="GBP", **asked, **more
        )
        return {each["value"]: each["count"] for each in found["facets"]["price"]}

    everybodys = {"0-999": 2, "1000-1999": 1, "2000-4999": 1}
    for _ in range(2):
        assert bands("") == everybodys
        assert bands("big-buyers") == {"0-999": 3, "2000-4999": 1}
        assert bands("big-buyers", max_price=999) == {"0-999": 3, "2000-4999": 1}
        assert bands("", max_price=999) == everybodys
        assert bands("trade") == everybodys


def test_a_members_list_costs_what_everybodys_does(shop: Shop):
    for asked in (
        REEDS,
        REEDS | {"max_price": "999"},
        REEDS | {"facets": "price", "stale_facets": "1"},
        DEPARTMENT,
        {"q": "reedmat"},
    ):

        def calls(group: str, asked: dict[str, str] = asked) -> dict[str, int]:
            query = {"currency": "GBP", "sort": "price", **asked}
            return shop.get("/v1/products", token("member", group=group), **query).calls

        eventually(lambda calls=calls: calls("") == calls("big-buyers") != {})
        partition = "category" in asked and "subcategories" not in asked
        assert calls("big-buyers") == ({"partition": 1} if partition else {"global": 1}), asked


def test_the_cheapest_variant_counts_also_for_members(shop: Shop):
    """The large ones have a price of their own, and a group's of their own; the others are what the product is."""
    tunic = shirt("tunic", name="Grouptunic", taxonomy=["Reeds", "Tunics"])
    for variant in tunic["variants"]:
        variant["group_prices"] = {"friends": {"GBP": 990}} if variant["options"]["Size"] == "L" else {}
    gone = shirt("gone", name="Grouptunic gone", taxonomy=["Reeds", "Tunics"])
    for variant in gone["variants"]:
        variant |= {"active": False, "group_prices": {"friends": {"GBP": 10}}}
    cape = product(
        "cape",
        name="Grouptunic cape",
        taxonomy=["Reeds", "Tunics"],
        price={"amount": 995, "currency": "GBP"},
    )
    assert shop.load([tunic, gone, cape])["failed"] == []
    for asked in ({"category": "Reeds#Tunics"}, {"q": "grouptunic"}):
        query = {"currency": "GBP", "sort": "price", **asked}
        eventually(lambda query=query: ids(shop, "friends", **query)[:2] == ["tunic", "cape"])
        assert ids(shop, "", **query)[0] == "cape"
        assert ids(shop, "friends", **query, max_price=990) == ["tunic"]


def test_a_cursor_is_of_the_group_that_asked(shop: Shop):
    query = {"currency": "GBP", "sort": "price", "limit": 2, **REEDS}
    first = shop.ok("/v1/products", token("member", group="big-buyers"), **query)
    following = {"cursor": first["next"], **query}
    assert ids(shop, "big-buyers", **following) == ["mat-b", "mat-c"]
    assert shop.get("/v1/products", **following).status == 400


def test_another_service_asks_for_a_member(shop: Shop):
    query = {"currency": "GBP", "sort": "price", "group": "big-buyers", **REEDS}
    found = shop.ok("/v1/products", SERVICE, **query)["items"]
    assert [each["productid"] for each in found] == ["mat-d", "mat-a", "mat-b", "mat-c"]
    assert [each["price"]["amount"] for each in found] == [200, 300, 500, 2500]
    assert shop.ok("/v1/products", token("nobody"), **query)["items"][1]["productid"] == "mat-b"


@settings(max_examples=40, deadline=None, derandomize=True)
@given(
    asked=st.sampled_from(LISTS),
    currency=st.sampled_from(CURRENCIES),
    group=st.sampled_from(("", "friends", "trade", "others")),
    sort=st.sampled_from(("price", "-price", "name", None)),
    low=st.one_of(st.none(), st.integers(100_000, 800_000)),
    high=st.one_of(st.none(), st.integers(100_000, 800_000)),
)
def test_what_is_shown_is_what_sorts_and_filters(
    shop: Shop,
    catalogue: Catalogue,
    asked: dict[str, str],
    currency: str,
    group: str,
    sort: str | None,
    low: int | None,
    high: int | None,
):
    """`trade` is no setting: its members' lists are in everybody's order, as before."""
    bounds = {name: each for name, each in (("min_price", low), ("max_price", high)) if each is not None}
    items, _ = walk(
        shop, group, limit=17, currency=currency, **asked, **bounds, **({"sort": sort} if sort else {})
    )
    sorted_by = group if group in GROUPS else ""
    amounts = {
        line["productid"]: price_of(line, currency, sorted_by)
        for line in catalogue.lines
        if public_price(line, currency) is not None
    }
    inside = {each for each, amount in amounts.items() if (low or 0) <= amount <= (high or 10**12)}
    assert sorted(each["productid"] for each in items) == sorted(inside)
    if sort in ("price", "-price"):
        found = [amounts[each["productid"]] for each in items]
        assert found == sorted(found, reverse=sort == "-price")


@pytest.mark.parametrize(
    ("groups", "problem"),
    [
        (",".join(f"group{n}" for n in range(11)), "names 11 groups"),
        ("trade,Big Buyers", "'Big Buyers'"),
    ],
)
def test_groups_that_cannot_be_sorted_by_are_refused(groups: str, problem: str):
    with pytest.raises(BadSettings, match=problem):
        load(Settings, {"AISLE_ENV": "local", "CUSTOMER_GROUPS": groups})


def test_a_shop_without_such_groups_keeps_its_indexes():
    ours, theirs = (
        {each.design_id for each in each.patterns}
        for each in (design_in("en"), design_in("en", groups=("trade",)))
    )
    assert {each.rpartition("-")[0] for each in theirs - ours} == {
        "category_order",
        "filter_values",
        "search",
        "search_in_category",
    }
