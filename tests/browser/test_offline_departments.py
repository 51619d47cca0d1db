"""Departments that are kept on a device: their pictures are there ahead, and what changes in the shop changes there."""

from collections.abc import Callable

from playwright.sync_api import Page, expect

from tests.browser.offline_device import Visit, admin, join, peg, sell, visit, without_network
from tests.waiting import eventually

__all__ = ["admin", "peg", "sell", "visit"]

PICTURES = "async () => (await (await caches.open('aisle-kept-pictures')).keys()).map(({ url }) => new URL(url).pathname)"


def keep(page: Page, address: str) -> None:
    page.goto(address)
    page.get_by_role("button", name="Keep it on this device").click()
    expect(page.get_by_role("button", name="Kept on this device: remove")).to_be_enabled()


def test_pictures_that_were_never_seen_are_there_and_go_with_their_department(visit: Visit) -> None:
    page = visit()
    join(page)
    keep(page, "/category/Home/Kitchen/Cook%27s%20Knives")
    eventually(lambda: page.evaluate(PICTURES))
    with without_network(page):
        page.goto("/offline")
        page.get_by_label("Search what is on this device").fill("knife")
        picture = page.locator("[data-goods] img").first
        expect(picture).to_be_visible()
        eventually(lambda: picture.evaluate("image => image.complete && image.naturalWidth > 0"))
    page.goto("/offline")
    page.get_by_role("button", name="Remove Cook's Knives").click()
    expect(page.locator("#departments")).to_be_hidden()
    eventually(lambda: page.evaluate(PICTURES) == [])


def test_an_open_page_shows_what_changes_in_a_kept_department(
    visit: Visit, peg: str, sell: Callable[[str, int], None]
) -> None:
    page = visit()
    join(page)
    keep(page, "/category/Garden/Tent%20pegs")
    page.goto("/offline")
    row = page.locator("[data-goods] li", has_text=peg)
    expect(row).to_contain_text("£7.00")
    sell(peg, 900)
    expect(row).to_contain_text("£9.00")
