"""The order of hits: the word as typed before another form, before its beginning, before a typo; the name before brand, category, keywords, description."""

import pytest

from tests.services.products.conftest import Shop, has_search_engine, product

OTHER = ["Odds", "Ends"]
GOODS = [
    product("exact", name="Zircon rings set", taxonomy=OTHER, brand="None"),
    product("stem", name="Zircon ring set", taxonomy=OTHER, brand="None"),
    product("begun", name="Zircon ringster set", taxonomy=OTHER, brand="None"),
    product("name", name="Quartz box", taxonomy=OTHER, brand="None"),
    product("brand", name="Plain box", taxonomy=OTHER, brand="Quartz"),
    product("category", name="Plain box", taxonomy=["Odds", "Quartz"], brand="None"),
    product("keyword", name="Plain box", taxonomy=OTHER, brand="None", keywords=["quartz"]),
    product("description", name="Plain box", taxonomy=OTHER, brand="None", description="Made of quartz."),
]


@pytest.fixture(scope="module", autouse=True)
def goods(shop: Shop) -> None:
    assert shop.load(GOODS)["created"] == len(GOODS)


def found(shop: Shop, q: str) -> list[str]:
    return [each["productid"] for each in shop.ok("/v1/products", q=q)["items"]]


def test_a_word_as_it_was_typed_comes_before_its_other_forms(shop: Shop) -> None:
    assert found(shop, "zircon rings ") == ["exact", "stem"]
    begun = ["begun"] if has_search_engine() else []
    assert found(shop, "zircon ring") == ["stem", "exact", *begun], (
        "a keyword view finds beginnings of a last word where no product has it whole"
    )
    assert found(shop, "zircon ringst") == ["begun"]


def test_the_name_comes_before_brand_and_category_and_they_before_keywords_and_description(
    shop: Shop,
) -> None:
    assert found(shop, "quartz ")[:2] == ["name", "brand"]
    assert found(shop, "quartz ")[-1] == "description"
    assert set(found(shop, "quartz ")) == {"name", "brand", "category", "keyword", "description"}
