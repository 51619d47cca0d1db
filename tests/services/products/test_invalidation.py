"""A sale tells pages no more than what they show of it."""

from services.products.actions import maintenance
from services.products.dependencies import Dependencies
from shared.cache_tags import CATALOGUE, category_tags, product_tag
from tests.services.products.conftest import Shop, eventually, product
from tests.services.products.reserving import KITCHEN, end, reserve

LISTS = [CATALOGUE, *category_tags(KITCHEN)]


def versions(deps: Dependencies, *tags: str) -> tuple[str, ...]:
    found = deps.cache_tags.versions(tags)
    assert found is not None
    return found


def sell(shop: Shop, deps: Dependencies, orderid: str, productid: str, quantity: int, left: int) -> None:
    assert reserve(shop, orderid, (productid, quantity)) == 201
    assert end(shop, orderid, "confirmation", (productid, quantity)) == 200

    def summed_up() -> bool:
        maintenance.sum_up(deps)
        return shop.ok(f"/v1/products/{productid}")["stock"] == left

    eventually(summed_up)


def test_a_sale_changes_its_products_page_and_lists_only_when_it_was_the_last(
    shop: Shop, deps: Dependencies
) -> None:
    shop.load([product("sold", stock=3), product("other", stock=3)])
    lists, own = versions(deps, *LISTS), versions(deps, product_tag("sold"))
    other = versions(deps, product_tag("other"))
    sell(shop, deps, "one", "sold", 2, left=1)
    assert versions(deps, *LISTS) == lists
    assert versions(deps, product_tag("sold")) != own
    assert versions(deps, product_tag("other")) == other
    sell(shop, deps, "two", "sold", 1, left=0)
    assert not set(versions(deps, *LISTS)) & set(lists)


def test_an_import_changes_what_it_wrote(shop: Shop, deps: Dependencies) -> None:
    shop.load([product("same"), product("edited"), product("far", taxonomy=["Garden"])])
    unchanged = versions(deps, product_tag("same"), *category_tags(["Garden"]))
    edited = versions(deps, product_tag("edited"), *LISTS)
    shop.load([product("same"), product("edited", name="Edited")])
    assert versions(deps, product_tag("same"), *category_tags(["Garden"])) == unchanged
    assert not set(versions(deps, product_tag("edited"), *LISTS)) & set(edited)
