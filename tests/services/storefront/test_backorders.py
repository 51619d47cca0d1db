"""Goods sold beyond their stock, as pages say it: on the product's page, in rows, basket, checkout, order and at the desk."""

from typing import Any

import pytest

from tests.services.storefront.conftest import import_goods, product
from tests.services.storefront.visitor import Visitor
from tests.waiting import eventually

SHELF = ["Backroom", "Clocks"]
FROM = "Will be sent from 12 December 2999"


def clock(productid: str, stock: int, **more: Any) -> dict[str, Any]:
    return product(productid, f"Clock {productid}", SHELF, 2000, stock=stock, **more)


@pytest.fixture(scope="module", autouse=True)
def goods(keeper: Visitor) -> None:
    import_goods(
        keeper,
        [
            clock("clock-later", 0, backorder=True, backorder_date="2999-12-12"),
            clock("clock-few", 2, backorder=True, backorder_limit=3),
            clock("clock-gone", 0),
        ],
    )


def test_a_product_that_comes_later_says_so_and_can_be_bought(visitor: Visitor) -> None:
    page = visitor.get("/product/clock-later")
    assert FROM in page.text
    assert "Sold out" not in page.text
    assert "sold out at the moment" not in page.text
    row = visitor.get("/category/Backroom/Clocks").text
    later, gone = (
        row.partition(f"Clock {name}")[2].partition("Clock clock")[0]
        for name in ("clock-later", "clock-gone")
    )
    assert FROM in later
    assert "Sold out" not in later
    assert "Sold out" in gone
    assert "sold out at the moment" in visitor.get("/product/clock-gone").text


def test_the_basket_says_how_many_are_still_to_come_and_refuses_more_than_may_wait(visitor: Visitor) -> None:
    visitor.get("/product/clock-few")
    assert "You can order more than that. Will be sent as soon as it is here." in visitor.page.text
    visitor.submit("/basket", quantity="4")
    basket = visitor.get("/basket")
    assert "2 still to come: Will be sent as soon as it is here" in basket.text
    basket = visitor.submit("/basket/clock-few", quantity="6")
    assert "Only 5 left: please take fewer." in visitor.get("/basket").text


def test_checkout_order_and_desk_say_what_is_still_to_come(visitor: Visitor, keeper: Visitor) -> None:
    visitor.get("/product/clock-later")
    visitor.submit("/basket", quantity="2")
    page = visitor.get("/checkout")
    assert f"2 still to come: {FROM}" in page.text
    guest = {"email": "later@example.com", "name": "Later Lena", "line1": "1 Quay", "city": "Leith"}
    page = visitor.submit("/checkout", **guest, postcode="EH6 6LX", country="GB", card="tok_ok")
    assert page.path.startswith("/orders/"), page.text
    orderid = page.path.removeprefix("/orders/")
    assert f"2 still to come: {FROM}" in page.text
    eventually(lambda: orderid in str(keeper.get("/admin/orders?waiting=true&product=clock-later").links))
    assert "2 still to come" in keeper.page.text
    page = keeper.get(f"/admin/orders/{orderid}")
    assert "All that is left to send is still to come." in page.text
    assert not [form for form in page.forms if form.action.endswith("/dispatch")]
    eventually(lambda: "2 wait for it" in keeper.get("/admin/stock?product=clock-later").text)
    keeper.submit("/admin/stock", reason="delivery", **{"row-0-delta": "1"})
    eventually(lambda: "1 still to come" in keeper.get(f"/admin/orders/{orderid}").text)
    page = keeper.submit(f"/admin/orders/{orderid}/dispatch", courier="post", courierid="p1")
    assert "1 still to come" in page.text
    assert "1 still to come" in visitor.get(f"/orders/{orderid}").text


def test_the_desk_sets_it_and_the_product_says_so(keeper: Visitor, visitor: Visitor) -> None:
    keeper.get("/admin/products/clock-gone")
    chosen = {"backorder": "yes", "backorder_date": "2999-01-31", "backorder_limit": "7"}
    page = keeper.submit("/admin/products/clock-gone", **chosen)
    form = page.form("/admin/products/clock-gone")
    assert {name: form.values[name] for name in chosen} == chosen
    eventually(lambda: "Will be sent from 31 January 2999" in visitor.get("/product/clock-gone").text)
    keeper.get("/admin/products/clock-gone")
    keeper.submit("/admin/products/clock-gone", backorder="no")
    eventually(lambda: "sold out at the moment" in visitor.get("/product/clock-gone").text)
