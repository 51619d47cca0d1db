"""A word that very many products are named by is looked for in their names, categories and the like, not in descriptions."""

import pytest

from services.products.store.word_counts import ENOUGH
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


def test_what_only_describes_itself_with_it_is_not_meant(goods: Shop) -> None:
    answer = goods.get("/v1/products", q="samovar")
    assert answer.json["total"] == ENOUGH
    assert answer.calls == {"global": 1}


def test_a_word_that_is_not_whole_may_go_on(goods: Shop) -> None:
    assert goods.ok("/v1/products", q="samova")["total"] >= ENOUGH + 1


def test_descriptions_are_searched_where_no_name_has_all_words(goods: Shop) -> None:
    for _ in range(3):
        answer = goods.get("/v1/products", q="copper samovar")
        assert [each["productid"] for each in answer.json["items"]] == ["tray"]
        assert "dropped_words" not in answer.json or answer.json["dropped_words"] == []
    assert answer.calls == {"global": 1}, "what was found out is remembered"
