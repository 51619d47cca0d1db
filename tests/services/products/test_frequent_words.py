"""Descriptions find what has a word there alone, however many products are named by it; but of several such words one must name it."""

from collections.abc import Callable
from typing import Any

import pytest

from services.products.store.word_counts import ENOUGH
from shared.couch import Server
from tests.services.products.conftest import Shop, product

Load = Callable[[list[Any]], None]

GOODS = [
    *(product(f"samovar-{n}", name=f"Copper samovar {n}", description="It shines.") for n in range(ENOUGH)),
    product("tray", name="Copper tray", description="It holds a samovar and six glasses."),
    product("paste", name="Bright paste", description="For what is of copper: a samovar, a tray."),
    product("samovarium", name="Samovarium of glass"),
]


@pytest.fixture(scope="module")
def goods(shop: Shop, catch_up: Callable[[], None]) -> Shop:
    for start in range(0, len(GOODS), 200):
        part = GOODS[start : start + 200]
        assert shop.load(part)["created"] == len(part)
    catch_up()
    return shop


@pytest.fixture
def load(goods: Shop, catch_up: Callable[[], None]) -> Load:
    """Imports new products, and waits until they are found."""

    def imported(lines: list[Any]) -> None:
        assert goods.load(lines)["failed"] == []
        catch_up()

    return imported


def test_what_only_describes_itself_with_a_word_is_found_behind_what_is_named_by_it(
    goods: Shop,
) -> None:
    answer = goods.get("/v1/products", q="samovar")
    assert answer.json["total"] == len(GOODS) - 1
    names = [each["name"] for each in answer.json["items"]]
    assert all(name.startswith("Copper samovar") for name in names), names
    assert answer.calls == {"global": 1}


def test_of_several_words_one_must_name_what_is_found(goods: Shop, server: Server) -> None:
    if {"search", "nouveau"}.isdisjoint(server.features()):
        pytest.skip("a keyword view holds the words of all texts together")
    answer = goods.get("/v1/products", q="copper samovar")
    assert answer.json["total"] == ENOUGH + 1
    assert answer.calls == {"global": 1}
    found = {each["productid"] for each in goods.walk(q="copper samovar", limit=100)}
    assert {"tray", "samovar-0"} <= found
    assert "paste" not in found, "it has both in its description"


@pytest.mark.parametrize("query", ["ivory balalaika", "ivory balalaikas for men"])
def test_the_last_word_says_what_is_looked_for(goods: Shop, load: Load, server: Server, query: str) -> None:
    if {"search", "nouveau"}.isdisjoint(server.features()):
        pytest.skip("a keyword view knows one weight of a word")
    lines = [
        *(product(f"balalaika-{n}", name=f"Balalaika {n}", description="For men.") for n in range(20)),
        product("pale", name="Balalaika of pine", description="It is ivory, for men."),
        product("rest", name="Ivory rest", description="For men with a balalaika."),
    ]
    load(lines)
    found = [each["productid"] for each in goods.ok("/v1/products", q=query)["items"]]
    assert found == ["pale", "rest"]


def test_a_word_that_is_not_whole_may_go_on(goods: Shop) -> None:
    assert goods.ok("/v1/products", q="samova")["total"] == len(GOODS)


def test_a_plural_is_no_beginning_of_another_word(goods: Shop, load: Load) -> None:
    brass = [product(f"brass-{n}", name=f"Brasspolish {n}") for n in range(3)]
    load(brass)
    answer = goods.ok("/v1/products", q="bras")
    assert not answer["items"] or answer.get("showing_results_for")


def test_a_number_goes_with_the_word_before_it(goods: Shop, load: Load) -> None:
    lines = [
        product("sleeve-5", name="Phone sleeve", description="In 5 parts."),
        *(product(f"sleeve-{n}", name="Laptop sleeve", description="Of felt.") for n in (1, 2)),
    ]
    load(lines)
    answer = goods.ok("/v1/products", q="zuxphone 5 sleeve")
    assert answer["total"] == len(lines)
    assert answer["dropped_words"] == ["zuxphone", "5"]
    assert "showing_results_for" not in answer


def test_a_word_of_descriptions_alone_moves_forward_what_has_it(goods: Shop, load: Load) -> None:
    lines = [
        product("gauntlet-1", name="Suede gauntlet for women", description="Sturdy."),
        product(
            "gauntlet-2", name="Suede gauntlet for women", description="A giftlike thing.", brand="Nordic"
        ),
    ]
    load(lines)
    answer = goods.ok("/v1/products", q="giftlike suede gauntlet")
    assert [each["productid"] for each in answer["items"]] == ["gauntlet-2", "gauntlet-1"]
    assert answer["described_words"] == ["giftlike"]
    assert "dropped_words" not in answer


def test_what_has_most_of_the_words_is_counted_and_shown_page_by_page(
    goods: Shop, load: Load, server: Server
) -> None:
    if {"search", "nouveau"}.isdisjoint(server.features()):
        pytest.skip("a keyword view knows one weight of a word")
    lines = [
        *(product(f"zither-{n}", taxonomy=["Music", "Zithers"], name=f"Zither {n}") for n in range(12)),
        *(product(f"marimba-{n}", taxonomy=["Music", "Marimbas"], name=f"Marimba {n}") for n in range(3)),
    ]
    load(lines)
    for expected in (2, 1):
        answer = goods.get("/v1/products", q="marimba zithers", limit=5)
        assert (answer.json["dropped_words"], answer.json["total"]) == (["marimba"], 12)
        assert answer.calls == {"global": expected}, "which word is left out is remembered"
    walked = [each["productid"] for each in goods.walk(q="marimba zithers", limit=5)]
    assert sorted(walked) == sorted(f"zither-{n}" for n in range(12))


def test_for_whom_a_thing_is_leaves_nothing_out_where_only_descriptions_say_it(
    goods: Shop, load: Load
) -> None:
    lines = [
        product("bangle-1", name="Onyx bangle", description="A gift for women."),
        *(product(f"bangle-{n}", name=f"Onyx bangle {n}", description="Of stone.") for n in (2, 3)),
    ]
    load(lines)
    for expected in (2, 1):
        answer = goods.get("/v1/products", q="onyx bangle for women ")
        assert answer.json["total"] == 3
        assert answer.json["items"][0]["productid"] == "bangle-1"
        assert answer.json["described_words"] == ["women"]
        assert answer.calls["global"] == expected, "that nothing is named so is remembered"
    line = product("bangle-4", name="Onyx bangle for ladies", description="Small.")
    load([line])


def test_a_word_that_names_write_apart_is_no_word_of_descriptions(goods: Shop, load: Load) -> None:
    lines = [
        product("overshirt", name="Moleskin over-shirt", description="In olive."),
        product("gilet", name="Moleskin gilet, olive", description="Sturdy."),
        product("jerkin", name="Moleskin jerkin, olive", description="Goes under an overshirt."),
    ]
    load(lines)
    answer = goods.ok("/v1/products", q="olive moleskin overshirt ")
    assert {each["productid"] for each in answer["items"]} == {"overshirt", "jerkin"}
    assert "described_words" not in answer


def test_what_is_named_so_is_found_though_only_a_description_says_for_whom(goods: Shop, load: Load) -> None:
    lines = [
        product("straw-hat", name="Straw hat", description="Goes with lorgnettes, for women."),
        *(product(f"lorgnette-{n}", name=f"Lorgnette {n}", description="Of horn.") for n in (1, 2)),
    ]
    load(lines)
    answer = goods.ok("/v1/products", q="lorgnettes for women ")
    assert answer["total"] == len(lines)
    assert answer["described_words"] == ["women"]


def test_a_letter_that_no_search_goes_on_from_is_left_out(goods: Shop, load: Load, server: Server) -> None:
    if {"search", "nouveau"}.isdisjoint(server.features()):
        pytest.skip("a keyword view goes on from a letter that is no word")
    lines = [
        product("kalimba", name="Kalimba bag, quilted", keywords=["kalimba"]),
        product("pendulum", name="Plain pendulum", description="Type Q."),
    ]
    load(lines)
    answer = goods.ok("/v1/products", q="kalimba q")
    assert answer["items"][0]["productid"] == "kalimba"
    assert answer["dropped_words"] == ["q"]
