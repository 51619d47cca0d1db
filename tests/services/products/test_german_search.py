"""A shop whose texts are German: SEARCH_LANGUAGE chooses which forms of a word are one word."""

from collections.abc import Callable

import pytest

from services.products.documents import DESIGN, design_in
from tests.services.products.conftest import Neighbours, Shop, product

LAMPS, CLOTHES = ["Wohnen", "Lampen"], ["Mode", "Kleider & Röcke"]


@pytest.fixture(scope="module")
def german(prepared: Callable, service: Callable, neighbours: Neighbours) -> Shop:
    prepared(design_in("de"))
    urls = {"USERS_URL": neighbours.url, "ORDERS_URL": neighbours.url}
    shop = Shop(service("products", **urls, ACCESS_LOG="false", SEARCH_LANGUAGE="de"), neighbours)
    goods = [
        product("stehlampe", taxonomy=LAMPS, name="Große Stehlampe für das Büro"),
        product("kleid", taxonomy=CLOTHES, name="Grünes Kleid", colours=["grün"]),
        product("schuerze", taxonomy=CLOTHES, name="Schürze mit Blumen"),
    ]
    assert shop.load(goods)["created"] == len(goods)
    return shop


@pytest.mark.parametrize(
    ("q", "found"),
    [
        ("Lampe", {"stehlampe"}),
        ("stehlampen", {"stehlampe"}),
        ("steh lampe", {"stehlampe"}),
        ("kleider grün", {"kleid"}),
        ("gruen kleid", {"kleid"}),
        ("Schuerzen", {"schuerze"}),
        ("schurze mit der blume", {"schuerze"}),
        ("Lampe für ein Buero", {"stehlampe"}),
        ("grosse lampen", {"stehlampe"}),
    ],
)
def test_german_forms_are_found(german: Shop, q: str, found: set[str]):
    assert {each["productid"] for each in german.ok("/v1/products", q=q)["items"]} == found


def test_a_compound_that_nothing_is_called_finds_what_it_is_one_of_and_says_so(german: Shop):
    answer = german.ok("/v1/products", q="Damenkleider ")
    assert answer["items"][0]["productid"] == "kleid"
    assert answer["showing_results_for"] == "kleider"
    assert german.ok("/v1/products", q="Damenhosen ")["items"] == []


def test_another_language_is_another_index_beside_the_others():
    ours, theirs = ({each.design_id for each in design.patterns} for design in (DESIGN, design_in("de")))
    assert len(ours - theirs) == len(theirs - ours) == 2
    assert {each.design_id for each in design_in("en").patterns} == ours
