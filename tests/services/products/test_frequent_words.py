"""A word that very many products are named by is looked for in their names, categories and the like, not in descriptions."""

import pytest

from services.products.store.word_counts import ENOUGH
from shared.couch import Server
from tests.services.products.conftest import Shop, product

GOODS = [
    *(product(f"samovar-{n}", name=f"Samovar {n}") for n in range(ENOUGH)),
    product("tray", name="Copper tray", description="It holds a samovar and six glasses."),
    product("samovarium", name="Samovarium of glass"),
]


@pytest.fixture(scope="module")
def goods(shop: Shop) -> Shop:
    for start in range(0, len(GOODS), 200):
        part = GOODS[start : start + 200]
        assert shop.load(part)["created"] == len(part)
    return shop


def test_what_only_describes_itself_with_it_is_not_meant(goods: Shop, server: Server) -> None:
    if {"search", "nouveau"}.isdisjoint(server.features()):
        pytest.skip("a keyword view holds the words of all texts together")
    answer = goods.get("/v1/products", q="samovar")
    assert answer.json["total"] == ENOUGH
    assert answer.calls == {"global": 1}


def test_a_word_that_is_not_whole_may_go_on(goods: Shop) -> None:
    assert goods.ok("/v1/products", q="samova")["total"] >= ENOUGH + 1


def test_descriptions_are_searched_where_no_name_has_all_words(goods: Shop, server: Server) -> None:
    by_keyword = {"search", "nouveau"}.isdisjoint(server.features())
    for _ in range(3):
        answer = goods.get("/v1/products", q="copper samovar")
        assert [each["productid"] for each in answer.json["items"]] == ["tray"]
        assert "dropped_words" not in answer.json or answer.json["dropped_words"] == []
    cost = {"global": 1, "read": 1} if by_keyword else {"global": 1}
    assert answer.calls == cost, "what was found out is remembered"


def test_a_plural_is_no_beginning_of_another_word(goods: Shop) -> None:
    brass = [product(f"brass-{n}", name=f"Brasspolish {n}") for n in range(3)]
    assert goods.load(brass)["created"] == len(brass)
    answer = goods.ok("/v1/products", q="bras")
    assert not answer["items"] or answer.get("showing_results_for")


def test_a_number_goes_with_the_word_before_it(goods: Shop) -> None:
    lines = [
        product("sleeve-5", name="Phone sleeve", description="In 5 parts."),
        *(product(f"sleeve-{n}", name="Laptop sleeve", description="Of felt.") for n in (1, 2)),
    ]
    assert goods.load(lines)["created"] == len(lines)
    answer = goods.ok("/v1/products", q="zuxphone 5 sleeve")
    assert answer["total"] == len(lines)
    assert answer["dropped_words"] == ["zuxphone", "5"]
    assert "showing_results_for" not in answer


def test_a_word_of_descriptions_alone_moves_forward_what_has_it(goods: Shop) -> None:
    lines = [
        product("gauntlet-1", name="Suede gauntlet for women", description="Sturdy."),
        product(
            "gauntlet-2", name="Suede gauntlet for women", description="A giftlike thing.", brand="Nordic"
        ),
    ]
    assert goods.load(lines)["created"] == len(lines)
    answer = goods.ok("/v1/products", q="giftlike suede gauntlet")
    assert [each["productid"] for each in answer["items"]] == ["gauntlet-2", "gauntlet-1"]
    assert answer["described_words"] == ["giftlike"]
    assert "dropped_words" not in answer
