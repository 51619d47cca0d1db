"""An order to each of the two countries that the sample shop delivers to, with and without JavaScript."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import write_address

Visit = Callable[..., Page]


@pytest.mark.parametrize(("width", "javascript"), [(360, True), (1440, True), (1440, False)])
def test_a_guest_orders_to_two_countries(visit: Visit, width: int, javascript: bool) -> None:
    page = visit(width=width, javascript=javascript)
    for country in ("United Kingdom", "Germany"):
        page.goto("/departments")
        page.locator(".sign a").first.click()
        page.locator(".card:has(button) a").first.click()
        page.get_by_role("button", name="Add to basket").click()
        page.get_by_role("link", name="Go to the basket").wait_for() if javascript else None
        page.goto("/checkout")
        expect(page.get_by_text("VAT 20 %")).to_be_visible()
        page.get_by_label("E-mail").fill("two.countries@example.com")
        if country == "Germany":
            page.get_by_label("Country").select_option(label=country)
            if not javascript:
                page.get_by_role("button", name="Use this country's form").click()
            expect(page.get_by_label("Parcel to Germany")).to_be_checked()
            expect(page.get_by_text("MwSt. 19 %")).to_be_visible()
            page.get_by_label("Name", exact=True).fill("Gerda Gast")
            page.get_by_label("Street and number").fill("Am Markt 1")
            page.get_by_label("Postcode").fill("28195")
            page.get_by_label("Town or city").fill("Bremen")
        else:
            expect(page.get_by_label("Standard delivery")).to_be_visible()
            write_address(page, "Gerda Gast", "1 High Street")
            page.get_by_label("Click and collect").check()
            page.get_by_role("button", name="Update delivery and total").click()
            expect(page.get_by_label("Click and collect")).to_be_checked()
            expect(page.get_by_label("E-mail")).to_have_value("two.countries@example.com")
        page.get_by_label("Test card ending 4242").check()
        page.get_by_role("button", name="Order and pay").click()
        page.wait_for_url("**/orders/*")
        expect(page.get_by_text("Your order is placed")).to_be_visible()
        shown = page.locator("#order-facts")
        expect(shown).to_contain_text("28195 Bremen" if country == "Germany" else "Click and collect")
