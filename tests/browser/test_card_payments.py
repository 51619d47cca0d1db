"""Buying with a card in a browser: to the provider's page (a stand-in for Stripe) and back, under the shop's own policy of where forms lead."""

import re
from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import WIDTHS
from tests.services.orders.stripe_shop import StripeShop, stripe_shop
from tests.services.storefront.conftest import load_goods

Visit = Callable[..., Page]
ADDRESS = {"Street and number": "12 Analytical Lane", "Town or city": "London", "Postcode": "W1U 6PL"}


@pytest.fixture(scope="module")
def cards(tmp_path_factory: pytest.TempPathFactory) -> Iterator[StripeShop]:
    settings = {"COURIER_DISPATCH_SECONDS": "1", "COURIER_DELIVERY_SECONDS": "1"}
    with stripe_shop(tmp_path_factory.mktemp("cards"), **settings) as running:
        load_goods(running.shop)
        yield running


@pytest.fixture(scope="module")
def base(cards: StripeShop) -> str:
    return cards.base


def to_the_page(page: Page, productid: str) -> None:
    page.goto(f"/product/{productid}")
    page.get_by_role("button", name="Add to basket").click()
    page.get_by_role("link", name=re.compile("Go to the basket|Go to checkout")).first.wait_for()
    page.goto("/checkout")
    page.get_by_label("E-mail").fill("ada@example.com")
    page.get_by_label("Name", exact=True).fill("Ada Lovelace")
    for label, text in ADDRESS.items():
        page.get_by_label(label).fill(text)
    pay(page)


def pay(page: Page) -> None:
    page.get_by_role("button", name="Continue to payment").click()
    expect(page.get_by_role("heading", name="Pay ")).to_be_visible()


@pytest.mark.parametrize("width", WIDTHS)
def test_paid_and_delivered(visit: Visit, width: int) -> None:
    page = visit(width=width)
    to_the_page(page, "mug-red")
    page.get_by_role("button", name="Pay", exact=True).click()
    page.wait_for_url("**/orders/*")
    expect(page.get_by_text("Thank you! Your order is placed.")).to_be_visible()
    expect(page.locator("#timeline .tag")).to_have_text("Delivered", timeout=60_000)
    expect(page.locator("#order-facts")).to_contain_text("with Stripe")


def test_declined_then_cancelled_then_paid(visit: Visit) -> None:
    page = visit(javascript=False)
    to_the_page(page, "mug-blue")
    page.get_by_role("button", name="Pay with a card that is declined").click()
    page.get_by_role("button", name="Back to the shop").click()
    page.wait_for_url("**/checkout*")
    expect(
        page.get_by_text("Nothing was charged and nothing was ordered. Your card was declined.")
    ).to_be_visible()
    for label, text in ADDRESS.items():
        expect(page.get_by_label(label)).to_have_value(text)
    expect(page.get_by_label("E-mail")).to_have_value("ada@example.com")
    expect(page.get_by_text("Blue Mug")).to_be_visible()
    pay(page)
    page.get_by_role("button", name="Pay with 3-D Secure").click()
    page.wait_for_url("**/orders/*")
    expect(page.get_by_text("Thank you! Your order is placed.")).to_be_visible()


def test_the_return_is_lost(visit: Visit, cards: StripeShop) -> None:
    page = visit()
    to_the_page(page, "lamp-1")
    sessions = cards.stripe.checkout.sessions
    cards.stripe.checkout.pay(page.url.rpartition("/")[2])
    orderid, before = sessions[page.url.rpartition("/")[2]]["metadata"]["orderid"], len(sessions)
    page.goto("about:blank")
    assert set(cards.tell_events()) == {200}
    page.goto(f"{cards.base}/orders/{orderid}")
    expect(page.locator("#timeline .tag")).to_have_text("Delivered", timeout=60_000)
    assert len(sessions) == before
