"""Whether a variant is sold beyond its stock, as its row of the form at the desk says."""

import pytest

from tests.services.storefront.conftest import import_goods, product
from tests.services.storefront.visitor import Visitor

VARIANTS = "/admin/products/waiting-shirt/variants"


@pytest.fixture(autouse=True)
def shirt(keeper: Visitor) -> None:
    options = [{"name": "Size", "values": ["S", "M"]}]
    variants = [
        {"sku": f"waiting-shirt-{size}", "options": {"Size": size}, "stock": 0} for size in ("S", "M")
    ]
    more = {"options": options, "variants": variants}
    import_goods(keeper, [product("waiting-shirt", "Waiting Shirt", ["Clothes"], 1500, **more)])


def test_a_variant_is_sold_beyond_its_stock_until_the_row_says_otherwise(
    keeper: Visitor, visitor: Visitor
) -> None:
    keeper.get(VARIANTS)
    wrong = keeper.submit(VARIANTS, **{"variant-0-backorder": "yes", "variant-0-backorder_limit": "many"})
    assert "Write a whole number, of nine digits at most." in wrong.text
    assert wrong.form(VARIANTS).values["variant-0-backorder_limit"] == "many", "nothing typed is lost"
    page = keeper.submit(
        VARIANTS,
        **{"variant-0-backorder_limit": "4", "variant-0-backorder_date": "2099-01-31"},
    )
    assert "Saved." in page.text, page.text
    kept = page.form(VARIANTS).values
    assert (kept["variant-0-backorder"], kept["variant-0-backorder_date"]) == ("yes", "2099-01-31")
    assert (kept["variant-0-backorder_limit"], kept["variant-1-backorder"]) == ("4", "")
    assert "31 January 2099" in visitor.get("/product/waiting-shirt-S").text
    assert "Sold out" in visitor.get("/product/waiting-shirt-M").text
    keeper.get(VARIANTS)
    page = keeper.submit(VARIANTS, **{"variant-0-backorder": ""})
    assert page.form(VARIANTS).values["variant-0-backorder"] == ""
    assert "Sold out" in visitor.get("/product/waiting-shirt-S").text
