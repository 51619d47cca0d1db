"""A list's filters without JavaScript: checkboxes that add up, alternatives with their counts, nothing to choose where nothing is."""

import itertools
import re

from tests.services.storefront.conftest import import_goods, product
from tests.services.storefront.visitor import Page, Visitor
from tests.waiting import eventually

OPTION = re.compile(
    r'<input type="(checkbox|radio)" name="([^"]+)" value="([^"]*)" (checked)?>'
    r'<span>[^<]*</span>(?:<span class="quiet">(\d+)</span>)?'
)


def options(page: Page, facet: str) -> dict[str, tuple[int | None, bool]]:
    """{value: (count, whether it is chosen)}"""
    return {
        value.replace("&amp;", "&").replace("&#39;", "'"): (int(count) if count else None, bool(checked))
        for _, name, value, checked, count in OPTION.findall(page.body.decode())
        if name == facet
    }


def shown(page: Page) -> set[str]:
    return set(re.findall(r'href="/product/([a-z0-9-]+)"', page.body.decode()))


def test_values_of_a_filter_are_alternatives_and_several_can_be_chosen(visitor: Visitor) -> None:
    for address in ("/search?q=mug+", "/category/Home/Kitchen/Mugs%20%26%20Cups?"):
        page = visitor.get(address)
        assert options(page, "brand") == {"Oak & Co": (3, False), "Pine's": (1, False)}
        assert 'type="checkbox" name="brand"' in page.body.decode()
        page = visitor.get(f"{address}&brand=Pine%27s")
        assert shown(page) == {"mug-blue"}
        assert options(page, "brand") == {"Oak & Co": (3, False), "Pine's": (1, True)}
        assert options(page, "colour") == {"blue": (1, False)}
        page = visitor.get(f"{address}&brand=Pine%27s&brand=Oak+%26+Co")
        assert shown(page) == {"mug-red", "mug-blue", "mug-last", "mug-gone"}
        assert options(page, "brand") == {"Oak & Co": (3, True), "Pine's": (1, True)}
        assert "brand=Pine%27s&amp;brand=Oak+%26+Co" in page.body.decode(), "the price bands keep both"


def test_an_empty_result_offers_no_filters_but_the_way_out(visitor: Visitor) -> None:
    page = visitor.get_patiently("/search?q=xyzzy+")
    assert "We found nothing" in page.text
    assert 'class="filters"' not in page.body.decode()
    page = visitor.get_patiently("/search?q=mug+&brand=Pine%27s&colour=red")
    assert options(page, "brand") == {"Pine's": (None, True), "Oak & Co": (3, False)}
    assert options(page, "colour") == {"red": (None, True), "blue": (1, False)}
    assert page.link("Show all without filters") == "?q=mug"
    assert visitor.get_patiently("/search?q=mug+&brand=nobody").link("Clear") == "?q=mug"


def test_sorting_keeps_every_chosen_value(visitor: Visitor) -> None:
    page = visitor.get("/search?q=mug+&brand=Pine%27s&brand=Oak+%26+Co")
    sort = next(each for each in page.forms if "brand" in each.names and "min_price" not in each.names)
    assert page.body.decode().count('<input type="hidden" name="brand"') == 2
    assert sort.values["q"] == "mug"


def test_one_title_is_one_card_with_its_others_beneath(visitor: Visitor, keeper: Visitor) -> None:
    goods = [product(f"twin-{n}", "Twin kettle", ["Home", "Kettles"], 1000 + n) for n in range(4)]
    import_goods(keeper, goods)
    views = itertools.count()
    eventually(lambda: len(shown(visitor.get(f"/search?q=twin+kettle&view={next(views)}"))) == 4)
    assert visitor.page.body.decode().count('<li class="card">') == 1
    assert "3 more of this title" in visitor.page.text
