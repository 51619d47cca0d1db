"""A back-order in a browser: bought although it is sold out, waited for, and sent once the desk has taken a delivery in."""

import re
from collections.abc import Callable

import pytest
import requests
from playwright.sync_api import Page, expect

from tests.bench.running import ADMIN_EMAIL, Shop
from tests.browser.conftest import log_in, register, write_address
from tests.people import Person
from tests.services.storefront.conftest import product

Visit = Callable[..., Page]
KITE = product(
    "kite-later",
    "Storm Kite",
    ["Outdoors", "Kites"],
    2400,
    stock=0,
    image="",
    backorder=True,
    backorder_date="2999-12-12",
)


@pytest.fixture
def kite(shop: Shop) -> str:
    admin: requests.Session = Person(shop.urls["users"], ADMIN_EMAIL, shop.admin_password)
    answer = admin.post(f"{shop.urls['products']}/v1/products", json=KITE, timeout=30)
    assert answer.status_code in (201, 409), answer.text
    return str(KITE["productid"])


def test_a_back_order_is_bought_and_sent_when_the_goods_come(visit: Visit, shop: Shop, kite: str) -> None:
    buyer = visit()
    register(buyer, "Wilma Waiting")
    buyer.goto(f"/product/{kite}")
    expect(buyer.get_by_text("Will be sent from 12 December 2999")).to_be_visible()
    buyer.get_by_role("button", name="Add to basket").click()
    buyer.get_by_role("link", name=re.compile("Go to the basket|Go to checkout|View basket")).first.wait_for()
    buyer.goto("/checkout")
    expect(buyer.get_by_text("1 still to come: Will be sent from 12 December 2999")).to_be_visible()
    write_address(buyer, "Wilma Waiting", "1 High Street")
    buyer.get_by_role("button", name="Order and pay").click()
    buyer.wait_for_url("**/orders/*")
    expect(buyer.get_by_text("1 still to come: Will be sent from 12 December 2999")).to_be_visible()

    desk = visit()
    log_in(desk, ADMIN_EMAIL, shop.admin_password)
    orderid = buyer.url.rpartition("/")[2]
    desk.goto(f"/admin/orders/{orderid}")
    expect(desk.get_by_text("All that is left to send is still to come.")).to_be_visible()
    desk.goto(f"/admin/stock?product={kite}")
    desk.get_by_label(f"Change of {kite}").fill("3")
    desk.get_by_label("Why").fill("delivery")
    desk.get_by_role("button", name="Change the stock").click()

    expect(buyer.locator("#timeline .tag")).to_have_text(re.compile("On its way|Delivered"), timeout=60_000)
    buyer.reload()
    expect(buyer.get_by_text("still to come")).to_have_count(0)
