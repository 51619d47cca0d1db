"""An order by phone at the desk in a browser: goods found and a price agreed, then a link to pay, or cash."""

import re
import secrets
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

Visit = Callable[..., Page]
ADDRESS = {"name": "Phil Phone", "line1": "1 Mill Lane", "city": "York", "postcode": "YO1 7PR"}


def write_down(page: Page, email: str) -> None:
    """A draft of what is found first that has no variants, a tenth off."""
    page.goto("/admin/orders/new")
    page.get_by_label("E-mail of the customer").fill(email)
    for field, text in ADDRESS.items():
        page.locator(f"#{field}").fill(text)
    page.get_by_label("Find a product").fill("knife")
    page.get_by_role("button", name="Find", exact=True).click()
    page.get_by_role("button", name=re.compile("^Add ")).first.click()
    page.get_by_label("Off this line").fill("10 %")
    page.locator("#reason-1").fill("For the wait")
    page.get_by_role("button", name="Save and recalculate").click()
    expect(page.get_by_role("region", name="What it costs")).to_contain_text("For the wait")


@pytest.mark.parametrize("javascript", [True, False])
def test_an_order_with_a_link_is_paid_by_its_customer(visit: Visit, keeper: dict, javascript: bool) -> None:
    email = f"phone-{secrets.token_hex(4)}@example.com"
    page = visit(state=keeper, javascript=javascript)
    write_down(page, email)
    page.get_by_label("The customer gets a link to pay by e-mail").check()
    page.get_by_role("button", name="Place the order").click()
    expect(page.locator("#notes")).to_contain_text("The customer gets an e-mail with the link to pay.")
    expect(page.locator("#payment-link")).to_be_visible()
    order = page.url
    buyer = visit(width=360, javascript=javascript)
    buyer.goto(f"/mailbox?to={email}")
    for _ in range(200):
        if buyer.locator("article a").count():
            break
        buyer.reload()
    buyer.locator("article a").first.click()
    expect(buyer.get_by_role("heading", name="Pay £")).to_be_visible()
    assert buyer.evaluate("document.documentElement.scrollWidth") <= 360
    buyer.get_by_role("button", name="Pay £").click()
    expect(buyer.get_by_role("heading", name="Thank you")).to_be_visible()
    page.goto(order)
    expect(page.locator("#payment-link")).to_have_count(0)
    expect(page.locator("main")).to_contain_text("with a test card")


def test_an_order_paid_in_cash_on_a_phone(visit: Visit, keeper: dict) -> None:
    email = f"phone-{secrets.token_hex(4)}@example.com"
    page = visit(state=keeper, width=360)
    write_down(page, email)
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    page.get_by_label("Paid already: cash").check()
    page.get_by_label("Reference of the payment").fill("till 4")
    page.get_by_role("button", name="Place the order").click()
    expect(page.locator("#notes")).to_contain_text("The order is placed and paid.")
    expect(page.locator("main")).to_contain_text("with cash")
    expect(page.locator("main")).to_contain_text("till 4")
    expect(page.locator("main")).to_contain_text(email)
