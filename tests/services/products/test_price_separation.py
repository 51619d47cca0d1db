"""Whatever is asked of a list, its prices are of one currency, and of nobody's group but the one that asks.

A list is sorted, filtered and counted by what everybody pays, unless CUSTOMER_GROUPS names the group (test_group_lists); each price that it
shows is that of the group.
"""

import re
from itertools import count
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.services.products.conftest import SERVICE, Shop, eventually, product, token

CURRENCIES, GROUPS = ("EUR", "GBP", "INR"), ("friends", "trade")
PRODUCTS = 60
LISTS = (
    {"category": "Wicker#Baskets"},
    {"category": "Wicker", "subcategories": "true"},
    {"q": "wickerwork"},
)
Prices = dict[str, int]


class Catalogue:
    """Products whose amounts are all different numbers, so that each tells whose it is."""

    def __init__(self) -> None:
        dice, numbers = Random(17), count(100_003, 977)
        shuffled = [next(numbers) for _ in range(PRODUCTS * 12)]
        dice.shuffle(shuffled)
        self._amounts = iter(shuffled)
        self.lines = [self._product(dice, number) for number in range(PRODUCTS)]

    def _table(self, dice: Random, currencies: list[str]) -> Prices:
        return {each: next(self._amounts) for each in currencies if dice.random() < 0.7}

    def _product(self, dice: Random, number: int) -> dict[str, Any]:
        sold_in = dice.sample(CURRENCIES, dice.randint(1, 3))
        prices = {each: next(self._amounts) for each in sold_in}
        name = "basket-" + "".join(dice.choices("abcdefgh", k=4)) + chr(97 + number % 26)
        return product(
            f"{name}{chr(97 + number // 26)}",
            name="Wickerwork basket",
            taxonomy=["Wicker", "Baskets"],
            price={"amount": prices[sold_in[0]], "currency": sold_in[0]},
            delivery=None,
            prices=prices,
            sales=[{"prices": table}] if (table := self._table(dice, sold_in)) and number % 3 == 0 else [],
            group_prices={group: table for group in GROUPS if (table := self._table(dice, sold_in))},
        )


def public_price(line: dict[str, Any], currency: str) -> int | None:
    regular: int | None = line["prices"].get(currency)
    if regular is None:
        return None
    return min([regular, *(sale["prices"].get(currency, regular) for sale in line["sales"])])


def price_of(line: dict[str, Any], currency: str, group: str) -> int:
    everybody = public_price(line, currency)
    assert everybody is not None
    return min(everybody, line["group_prices"].get(group, {}).get(currency, everybody))


@pytest.fixture(scope="module")
def catalogue(shop: Shop) -> Catalogue:
    found = Catalogue()
    assert shop.load(found.lines)["created"] == PRODUCTS
    for asked in LISTS:
        for currency in CURRENCIES:
            sold = sum(currency in line["prices"] for line in found.lines)
            eventually(
                lambda asked=asked, currency=currency, sold=sold: count_of(shop, asked, currency) == sold
            )
    return found


def count_of(shop: Shop, asked: dict[str, str], currency: str) -> int:
    return len(shop.walk(limit=50, currency=currency, sort="price", **asked))


def walk(shop: Shop, group: str, **query: Any) -> tuple[list[Any], str]:
    """Every item of a list as a member of the group reads it, and the text of all its pages."""
    items, text, more = [], "", {}
    while True:
        answer = shop.get("/v1/products", token("member", group=group), **query, **more)
        assert answer.status == 200, answer.body
        items, text = items + answer.json["items"], text + answer.body.decode()
        if answer.json["next"] is None:
            return items, text
        more = {"cursor": answer.json["next"]}


@settings(max_examples=60, deadline=None, derandomize=True)
@given(
    asked=st.sampled_from(LISTS),
    currency=st.sampled_from(CURRENCIES),
    group=st.sampled_from(("", *GROUPS)),
    sort=st.sampled_from(("price", "-price", "name", None)),
    low=st.one_of(st.none(), st.integers(100_000, 800_000)),
    high=st.one_of(st.none(), st.integers(100_000, 800_000)),
)
def test_no_list_mixes_currencies_or_groups(
    shop: Shop,
    catalogue: Catalogue,
    asked: dict[str, str],
    currency: str,
    group: str,
    sort: str | None,
    low: int | None,
    high: int | None,
) -> None:
    bounds = {name: each for name, each in (("min_price", low), ("max_price", high)) if each is not None}
    items, text = walk(
        shop, group, limit=17, currency=currency, **asked, **bounds, **({"sort": sort} if sort else {})
    )
    lines = {line["productid"]: line for line in catalogue.lines}
    public = {
        productid: amount
        for productid, line in lines.items()
        if (amount := public_price(line, currency)) is not None
    }
    inside = {each for each, amount in public.items() if (low or 0) <= amount <= (high or 10**12)}
    assert sorted(each["productid"] for each in items) == sorted(inside)
    for each in items:
        expected = {"amount": price_of(lines[each["productid"]], currency, group), "currency": currency}
        assert each["price"] == expected
        assert each.get("compare_at_price", expected)["currency"] == currency
    if sort in ("price", "-price"):
        amounts = [public[each["productid"]] for each in items]
        assert amounts == sorted(amounts, reverse=sort == "-price")
    shown = {int(number) for number in re.findall(r"\b\d{6}\b", text)}
    others = {
        amount
        for line in catalogue.lines
        for name, prices in line["group_prices"].items()
        if name != group
        for amount in prices.values()
    }
    assert not shown & others, "a price of another group"


@pytest.mark.parametrize("asked", LISTS, ids=lambda asked: "-".join(asked))
@pytest.mark.parametrize("currency", CURRENCIES)
def test_bands_count_one_currency_for_every_group(
    shop: Shop, catalogue: Catalogue, asked: dict[str, str], currency: str
) -> None:
    sold = [amount for line in catalogue.lines if (amount := public_price(line, currency)) is not None]
    for group in ("", *GROUPS):
        answer = shop.ok(
            "/v1/products", token("member", group=group), facets="price", currency=currency, limit=5, **asked
        )
        bands = answer["facets"]["price"]
        assert sum(band["count"] for band in bands) == len(sold)
        for band in bands:
            inside = [
                each for each in sold if band["from"] <= each and (band["to"] is None or each <= band["to"])
            ]
            assert band["count"] == len(inside)


@pytest.mark.parametrize("asked", LISTS, ids=lambda asked: "-".join(asked))
@pytest.mark.parametrize("sort", ["price", "-price", "name"])
def test_bounds_that_exclude_each_other_find_nothing(
    shop: Shop, catalogue: Catalogue, asked: dict[str, str], sort: str
) -> None:
    query = {"currency": "EUR", "min_price": 500_000, "max_price": 400_000, "sort": sort, **asked}
    assert shop.ok("/v1/products", **query)["items"] == []


def test_one_group_is_never_answered_the_copy_of_another(shop: Shop, catalogue: Catalogue) -> None:
    line = next(each for each in catalogue.lines if len(each["group_prices"]) == 2)
    path, currency = f"/v1/products/{line['productid']}", line["price"]["currency"]
    for group in ("trade", "", "friends", "trade", "", "friends"):
        answer = shop.get(path, token("member", group=group), currency=currency)
        assert answer.json["price"]["amount"] == price_of(line, currency, group)
        assert ("private" in answer.headers["Cache-Control"]) == bool(group)
        assert "group_prices" not in answer.json


def test_a_group_in_the_address_counts_for_services_alone(shop: Shop, catalogue: Catalogue) -> None:
    line, currency, group = next(
        (line, currency, group)
        for line in catalogue.lines
        for currency in line["prices"]
        for group in GROUPS
        if price_of(line, currency, group) != public_price(line, currency)
    )
    own, asked = price_of(line, currency, group), {"currency": currency, "group": group}
    for path, more in ((f"/v1/products/{line['productid']}", {}), ("/v1/products", {"q": line["productid"]})):
        shown = shop.get(path, SERVICE, **asked, **more)
        found = shown.json["items"][0] if more else shown.json
        assert (found["productid"], found["price"]["amount"]) == (line["productid"], own)
        assert "private" in shown.headers["Cache-Control"]
        for headers in ({}, token("somebody"), token("member", group="others")):
            assert str(own) not in shop.get(path, headers, **asked, **more).body.decode()
