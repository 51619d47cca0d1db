"""What a device shows without a network is accessible and fits its window, in both languages, with all that can stand there."""

import pytest
from playwright.sync_api import Page, expect

from tests.browser.offline_device import Visit, admin, kept, peg, sell, visit, with_basket, without_network
from tests.browser.test_pages import problems
from tests.waiting import eventually

__all__ = ["admin", "peg", "sell", "visit"]

LANGUAGES = ("en", "de")
SHELLS = "async () => (await caches.keys()).filter((name) => name.startsWith('aisle-shell-'))"
EVERY_STATE = """async () => {
  const [{ _id, _rev, ...order }] = await shopDevice.orders();
  const named = (state, more) => shopDevice.remember(`order-${state}`, { ...order, ...more });
  await named('refused', { state: 'refused', code: 'price_changed', detail: 'The total is another one now.', total: { amount: 12345, currency: 'GBP' } });
  await named('declined', { state: 'refused', code: 'payment_declined', detail: 'The card was declined.' });
  await named('placed', { state: 'placed', orderid: 'a1', payment_page: '' });
  await named('unpaid', { state: 'placed', orderid: 'a2', payment_page: '/orders/a2' });
  await shopDevice.remember('denied-delivery1', { reason: 'Fill in the town or city.', sent: { type: 'userdelivery', name: 'Nora Tunnel', line1: '1 High Street' } });
}"""


def choose(page: Page, language: str) -> None:
    if language == "en":
        return
    page.goto("/")
    page.get_by_label("Language").last.select_option(language)
    page.get_by_role("button", name="Change the language").click()
    expect(page.locator("html")).to_have_attribute("lang", language)
    eventually(lambda: [name[-3:] for name in page.evaluate(SHELLS)] == [f"-{language}"])


@pytest.mark.parametrize("language", LANGUAGES)
def test_pages_of_a_device_are_accessible_and_fit(visit: Visit, peg: str, language: str) -> None:
    page = visit(expects=("a status of 401", "a status of 403"))
    with_basket(page, peg)
    page.goto("/category/Garden/Tent%20pegs")
    page.get_by_role("button", name="Keep it on this device").click()
    expect(page.get_by_role("button", name="Kept on this device: remove")).to_be_enabled()
    page.goto(f"/product/{peg}")
    page.get_by_role("button", name="Add to wish list").click()
    eventually(lambda: kept(page, "wish-"))
    choose(page, language)
    page.goto("/departments")
    page.goto("/offline")
    expect(page.locator("[data-order]")).to_be_visible()
    found = []
    with without_network(page):
        page.locator("[data-order] button").click()
        expect(page.locator("#waiting li")).to_have_count(1)
        page.evaluate(EVERY_STATE)
        page.evaluate("key => shopDevice.add(key, 1, { productid: key })", peg)
        for address in ("/basket", "/product/never-seen", "/departments"):
            page.goto(address)
            expect(page.locator("#waiting-note")).to_be_visible()
            if address == "/basket":
                expect(page.locator("#waiting li")).to_have_count(5)
                expect(page.locator("#denied li")).to_have_count(1)
                page.locator("#addresses summary").click()
            found += problems(page, address)
        expect(page.locator("#kept-note")).to_be_visible()
        page.context.clear_cookies(name="aisle_session")
    expect(page.locator("#waiting-note a")).to_have_attribute("href", "/login?next=/offline")
    for address in ("/", "/offline"):
        page.goto(address)
        expect(page.locator("#waiting-note a")).to_be_visible()
        found += problems(page, address)
    assert not found, "\n".join(found)
