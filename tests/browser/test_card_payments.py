"""Buying with a card in a browser: to the provider's page (a stand-in for Stripe) and back, under the shop's own policy of where forms lead."""

import re
from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.bench.running import Shop
from tests.browser.conftest import WIDTHS
from tests.browser.offline_device import (
    NO_PICTURES,
    admin,
    basket_on,
    count,
    join,
    orders_of,
    peg,
    sell,
    wait_for_worker,
    without_network,
)
from tests.services.orders.stripe_shop import StripeShop, stripe_shop
from tests.services.storefront.conftest import load_goods
from tests.waiting import eventually

__all__ = ["admin", "count", "peg", "sell"]
Visit = Callable[..., Page]
ADDRESS = {"Street and number": "12 Analytical Lane", "Town or city": "London", "Postcode": "W1U 6PL"}


@pytest.fixture(scope="module")
def cards(tmp_path_factory: pytest.TempPathFactory) -> Iterator[StripeShop]:
    settings = {"COURIER_DISPATCH_SECONDS": "1", "COURIER_DELIVERY_SECONDS": "1"}
    with stripe_shop(tmp_path_factory.mktemp("cards"), **settings) as running:
        load_goods(running.shop)
        yield running


@pytest.fixture(scope="module")
def shop(cards: StripeShop) -> Shop:
    return cards.shop


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


def queue(
    page: Page, productid: str, meanwhile: Callable[[], None] = lambda: None, state: str = "placed"
) -> Locator:
    """An order of one piece at a known price waits for the network; then it goes to the shop. What its page says of it then."""
    page.goto("/")
    wait_for_worker(page)
    join(page)
    page.goto(f"/product/{productid}")
    page.get_by_role("button", name="Add to basket").click()
    page.get_by_role("link", name="Go to the basket").click()
    eventually(lambda: basket_on(page) == {productid: 1})
    page.goto("/offline")
    expect(page.locator("[data-total]")).to_contain_text("Expected total: £")
    with without_network(page):
        page.get_by_role("button", name="Order when the shop can be reached").click()
        expect(page.locator("#waiting li")).to_contain_text("Waits for the shop.")
        meanwhile()
    item = page.locator(f"#waiting li[data-state={state}]")
    expect(item).to_have_count(1)
    return item


def test_an_order_that_waited_for_a_network_is_paid_once_on_the_page(visit: Visit, cards: StripeShop) -> None:
    page = visit(worker=True, expects=NO_PICTURES)
    before = len(cards.stripe.checkout.sessions)
    expect(queue(page, "spade")).to_contain_text("Placed: go on to pay.")
    page.goto("/departments")
    page.locator("#waiting-note").get_by_role("link", name="An order waits for your payment.").click()
    expect(page.get_by_role("heading", name="Pay ")).to_be_visible()
    page.get_by_role("button", name="Pay", exact=True).click()
    page.wait_for_url("**/orders/*")
    expect(page.get_by_text("Thank you! Your order is placed.")).to_be_visible()
    expect(page.locator("#waiting-note")).to_have_count(0)
    page.goto("/offline")
    expect(page.locator("#waiting li")).to_contain_text("Placed: the shop has it.")
    eventually(lambda: basket_on(page) == {})
    assert orders_of(page) == 1
    assert len(cards.stripe.checkout.sessions) == before + 1


def test_an_order_that_was_not_paid_on_the_page_is_decided_by_its_customer(
    visit: Visit, cards: StripeShop
) -> None:
    page = visit(worker=True, expects=NO_PICTURES)
    queue(page, "rake")
    page.locator("#waiting").get_by_role("link", name="Placed: go on to pay.").click()
    page.get_by_role("button", name="Pay with a card that is declined").click()
    page.get_by_role("button", name="Back to the shop").click()
    page.wait_for_url(
        re.compile(r"/(basket|checkout)$")
    )  # whether or not the shop has heard what left the basket
    expect(page.locator("#notes")).to_contain_text("Nothing was charged and nothing was ordered.")
    expect(page.locator("#waiting-note")).to_contain_text("An order was not placed: look at it and decide.")
    page.goto("/offline")
    item = page.locator("#waiting li[data-state=refused]")
    expect(item).to_contain_text("Nothing was charged and nothing was ordered. Your card was declined.")
    item.get_by_role("button", name="Order it for £").click()
    page.locator("#waiting li[data-state=placed]").get_by_role("link").click()
    page.get_by_role("button", name="Pay", exact=True).click()
    page.wait_for_url("**/orders/*")
    expect(page.get_by_text("Thank you! Your order is placed.")).to_be_visible()
    assert orders_of(page) == 1


def test_a_price_that_changed_and_goods_that_sold_out_are_decided_before_anything_is_paid(
    visit: Visit,
    peg: str,
    sell: Callable[[str, int], None],
    count: Callable[[str, int], None],
) -> None:
    page = visit(worker=True, expects=[*NO_PICTURES, "a status of 409"])
    item = queue(page, peg, lambda: sell(peg, 900), "refused")
    expect(item).to_contain_text("the total is £")
    page.goto("/offline")
    count(peg, 0)
    item.get_by_role("button", name="Order it for £").click()
    expect(item.get_by_role("button", name="Try again")).to_be_visible()
    count(peg, 5)
    item.get_by_role("button", name="Try again").click()
    page.locator("#waiting li[data-state=placed]").get_by_role("link").click()
    page.get_by_role("button", name="Pay", exact=True).click()
    page.wait_for_url("**/orders/*")
    expect(page.get_by_text("Thank you! Your order is placed.")).to_be_visible()
    assert orders_of(page) == 1
