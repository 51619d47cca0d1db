"""A voucher and a gift card, made at the desk in a browser and spent together, with and without JavaScript."""

import re
import secrets
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import fill_basket, write_address

Visit = Callable[..., Page]
CARD_CODE = re.compile(r"(?:[0-9A-Z]{4}-){3}[0-9A-Z]{4}")
AMOUNT = re.compile(r"£([\d,]+\.\d\d)")


def make_voucher(desk: Page) -> str:
    """A code for a tenth off everything."""
    code = f"B{secrets.token_hex(3)}".upper()
    desk.goto("/admin/promotions")
    form = desk.locator("main form").filter(has=desk.get_by_label("Percent off"))
    form.get_by_label("Name", exact=True).fill("A tenth off")
    form.get_by_label(re.compile("^Codes")).fill(code)
    form.get_by_label("Percent off").fill("10")
    form.get_by_label("It runs").check()
    form.get_by_role("button", name="Save").click()
    expect(desk.get_by_text("Saved.")).to_be_visible()
    return code


def issue_gift_card(desk: Page) -> str:
    """The code of a card of £1.00."""
    desk.goto("/admin/gift-cards")
    desk.get_by_label("Amount").fill("1.00")
    desk.get_by_label("Currency").fill("GBP")
    desk.get_by_role("button", name="Issue").click()
    found = CARD_CODE.search(desk.locator(".note.good").inner_text())
    assert found is not None
    return found[0]


def pence(page: Page, name: str) -> int:
    """What stands beside a name among the sums of an order."""
    text = page.locator(f"dt:has-text('{name}') + dd").first.inner_text()
    found = AMOUNT.search(text)
    assert found is not None, text
    return int(found[1].replace(",", "").replace(".", ""))


@pytest.mark.parametrize(("width", "javascript"), [(360, True), (1440, False)])
def test_a_customer_spends_a_voucher_and_a_gift_card(
    visit: Visit, keeper: dict, width: int, javascript: bool
) -> None:
    desk = visit(state=keeper)
    voucher, card = make_voucher(desk), issue_gift_card(desk)
    page = visit(width=width, javascript=javascript)
    fill = fill_basket if javascript else fill_basket_without_javascript
    fill(page)
    page.goto("/checkout")
    page.get_by_label("E-mail").fill("vera.voucher@example.com")
    write_address(page, "Vera Voucher", "1 High Street")
    page.get_by_label("Voucher code").fill("NO-SUCH-CODE")
    page.get_by_role("button", name="Apply code").click()
    expect(page.get_by_text("There is no code NO-SUCH-CODE")).to_be_visible()
    expect(page.get_by_label("Street and number")).to_have_value("1 High Street")
    page.get_by_label("Voucher code").fill(voucher.lower())
    page.get_by_role("button", name="Apply code").click()
    expect(page.locator("dt", has_text="A tenth off")).to_be_visible()
    page.get_by_label("Code of a gift card").fill(card)
    page.get_by_role("button", name="Show what is left to pay").click()
    expect(page.locator("dt", has_text=f"Gift card ending {card[-4:]}")).to_be_visible()
    assert pence(page, "A tenth off") == round(pence(page, "Goods") / 10)
    assert pence(page, "Left to pay") == pence(page, "Total") - 100
    left = page.locator("dt:has-text('Left to pay') + dd").inner_text()
    page.get_by_label("Test card ending 4242").check()
    page.get_by_role("button", name="Order and pay").click()
    page.wait_for_url("**/orders/*")
    expect(page.locator("main")).to_contain_text("A tenth off")
    expect(page.locator("main")).to_contain_text(f"Gift card ending {card[-4:]}")
    expect(page.locator("main")).to_contain_text(left)
    page.goto("/gift-cards")
    page.get_by_label("Code").fill(card)
    page.locator("main").get_by_role("button").click()
    expect(page.get_by_text("£0.00 are left")).to_be_visible()


def fill_basket_without_javascript(page: Page) -> None:
    page.goto("/departments")
    page.locator(".sign a").first.click()
    page.locator(".card:has(button) a").first.click()
    page.get_by_role("button", name="Add to basket").click()
    expect(page.get_by_role("heading", name="Your basket")).to_be_visible()
