"""Cost prices typed in at the desk, what the stock is worth by them, and no page of the shop that tells what goods cost."""

import pytest

from tests.services.storefront.conftest import import_goods, product
from tests.services.storefront.visitor import Visitor
from tests.waiting import eventually

PRODUCTS, VALUE = "/admin/products", "/admin/stock-value"
COST = "7,391.13"
"""Of one; no other figure of the shop reads like it."""
PLAIN = COST.replace(",", "")


@pytest.fixture(scope="module")
def dredger(keeper: Visitor) -> str:
    options = {"options": [{"name": "Span", "values": ["wide", "narrow"]}]}
    skus = [
        {"sku": f"dredge-net-{each}", "options": {"Span": each}, "stock": 2} for each in ("wide", "narrow")
    ]
    net = product("dredge-net", "Dredgenet", ["Dredging", "Nets"], 90_000, variants=skus, **options)
    import_goods(
        keeper,
        [
            product("dredge-bucket", "Dredgebucket", ["Dredging", "Buckets"], 1_000_000, stock=3),
            {name: value for name, value in net.items() if name != "stock"},
        ],
    )
    return f"{PRODUCTS}/dredge-bucket"


def test_a_cost_price_is_typed_in_and_the_stock_is_worth_it(keeper: Visitor, dredger: str) -> None:
    keeper.get(dredger)
    page = keeper.submit(dredger, cost_prices=f"GBP {PLAIN}")
    assert "Saved." in page.text, page.text
    assert page.form(dredger).values["cost_prices"] == f"GBP {PLAIN}"
    eventually(lambda: "£22,173.39" in keeper.get(VALUE).text)
    keeper.get(f"{VALUE}?by=category")
    assert "Dredging / Buckets" in keeper.page.text
    assert b"Dredging#Buckets,3,3,22173.39,GBP" in keeper.get(f"{VALUE}.csv?by=category").body
    assert b"Dredging#" not in keeper.get(f"{VALUE}.csv").body


def test_a_variant_has_its_own(keeper: Visitor, dredger: str) -> None:
    path = f"{PRODUCTS}/dredge-net/variants"
    keeper.get(path)
    page = keeper.submit(path, **{"variant-0-cost_prices": "GBP 61.07"})
    assert "Saved." in page.text, page.text
    assert page.form(path).values["variant-0-cost_prices"] == "GBP 61.07"
    eventually(lambda: b"Dredging#Nets,4,2,122.14,GBP" in keeper.get(f"{VALUE}.csv?by=category").body)


def test_a_wrong_cost_price_is_named_at_its_field(keeper: Visitor, dredger: str) -> None:
    keeper.get(dredger)
    page = keeper.submit(dredger, cost_prices="4.20")
    assert "#cost_prices" in [href for href, _ in page.links]
    assert page.form(dredger).values["cost_prices"] == "4.20"


@pytest.mark.parametrize(
    "path",
    ["/product/dredge-bucket", "/category/Dredging", "/category/Dredging/Buckets", "/search?q=dredgebucket"],
)
def test_no_page_tells_what_goods_cost(keeper: Visitor, dredger: str, path: str) -> None:
    visitor = Visitor(keeper.base)
    eventually(lambda: "Dredgebucket" in visitor.get(path).text)
    for each in (visitor, keeper):
        body = each.get(path).body.decode()
        assert not [text for text in (COST, PLAIN, PLAIN.replace(".", "")) if text in body]


def test_the_value_of_the_stock_is_for_staff(keeper: Visitor) -> None:
    visitor = Visitor(keeper.base)
    for path in (VALUE, f"{VALUE}.csv"):
        assert "/login" in visitor.get(path).url
