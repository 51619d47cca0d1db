"""Another size for one that comes back, on the customer's page and at the desk, without JavaScript."""

from collections.abc import Callable

import pytest

from tests.people import place
from tests.services.storefront.conftest import import_goods, product
from tests.services.storefront.test_desk import bought
from tests.services.storefront.visitor import Visitor
from tests.waiting import eventually


@pytest.fixture(scope="module")
def customer(join: Callable[..., Visitor]) -> Visitor:
    visitor = join("Ella Exchanger")
    visitor.get("/account")
    visitor.submit("/account/addresses", name="Home", **place())
    return visitor


def test_a_customer_wants_another_size_and_gets_it(customer: Visitor, keeper: Visitor) -> None:
    sizes = [{"name": "Size", "values": ["S", "L"]}]
    variants = [
        {"sku": f"glove-{size}", "options": {"Size": size}, "stock": stock}
        for size, stock in (("S", 5), ("L", 5))
    ]
    body = product("glove", "Garden Glove", ["Garden"], 800, options=sizes, variants=variants)
    import_goods(keeper, [{name: value for name, value in body.items() if name != "stock"}])
    orderid = bought(customer, "glove-S")
    address = f"/admin/orders/{orderid}"
    keeper.get(address)
    keeper.submit(f"{address}/dispatch", courier="Van", courierid="B-18")
    keeper.submit(f"{address}/delivery")
    page = customer.get(f"/orders/{orderid}")
    assert "Refund or exchange?" in page.text
    values = {"back-glove-S": "1", "instead-glove-S": "glove-L"}
    asked = customer.submit(f"/orders/{orderid}/returns", **values)
    assert "Wanted instead:" in asked.text
    page = keeper.get(address)
    assert page.form(f"{address}/returns/1/approval").values["instead-glove-S"] == "glove-L"
    keeper.submit(f"{address}/returns/1/approval")
    assert "Kept for you instead:" in customer.get(f"/orders/{orderid}").text
    keeper.get(address)
    keeper.submit(f"{address}/returns/1/receipt", **{"resaleable-glove-S": "1", "damaged-glove-S": "0"})
    own = eventually(
        lambda: (
            "Sent instead:" in (found := customer.get(f"/orders/{orderid}")).text
            and "See the new order" in found.text
            and found
        )
    )
    linked = customer.get(own.link("See the new order"))
    assert "Return 1 of order" in linked.text
    assert "Goods sent back" in linked.text
    assert "glove" in keeper.get(f"/admin{own.link('See the new order')}").text.lower()
