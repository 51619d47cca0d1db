"""What goes wrong on a customer's device: double clicks, two windows, a full storage, a wrong clock, somebody else who logs in."""

from datetime import timedelta

import pytest
from playwright.sync_api import Dialog, Route, expect

from shared.clock import now
from tests.browser.conftest import log_in
from tests.browser.offline_device import (
    NAMES_OF_DATABASES,
    Visit,
    admin,
    basket_on,
    join,
    kept,
    orders_of,
    peg,
    prepare,
    sell,
    visit,
    with_basket,
    without_network,
)
from tests.people import PASSWORD
from tests.waiting import eventually

__all__ = ["admin", "peg", "sell", "visit"]

ORDER = "Order when the shop can be reached"
WHAT_IS_KEPT = """async () => {
  const found = [];
  for (const name of await caches.keys()) for (const request of await (await caches.open(name)).keys()) {
    if (!name.startsWith('aisle-shell-')) found.push(await (await (await caches.open(name)).match(request, { ignoreVary: true })).text());
  }
  return [...found, ...Object.entries(localStorage).flat(), ...(await indexedDB.databases()).map(({ name }) => name)].join(' ');
}"""


def test_two_clicks_and_two_windows_order_once_and_what_is_dropped_is_in_the_basket_again(
    visit: Visit, peg: str
) -> None:
    page = visit()
    with_basket(page, peg)
    with without_network(page):
        other = page.context.new_page()
        other.goto("/offline")
        expect(other.locator("[data-total]")).to_have_text("Expected total: £10.00")
        page.get_by_role("button", name=ORDER).dblclick()
        other.evaluate("document.querySelector('[data-order]').requestSubmit()")
        expect(page.locator("#waiting li")).to_have_count(1)
        expect(other.locator("#waiting li")).to_have_count(1)
        expect(other.locator("#basket")).to_contain_text("Your basket is empty")
        page.locator("#waiting").get_by_role("button", name="Do not order it").dblclick()
        expect(page.locator("#waiting li")).to_have_count(0)
        assert basket_on(page) == {peg: 1}
        page.get_by_role("button", name=ORDER).click()
        expect(page.locator("#waiting li")).to_have_count(1)
    expect(page.locator("#waiting li[data-state=placed]")).to_have_count(1)
    assert orders_of(page) == 1
    eventually(lambda: basket_on(page) == {})


def test_a_page_that_is_loaded_again_while_it_sends_orders_once(visit: Visit, peg: str) -> None:
    page, held = visit(), []
    with_basket(page, peg)
    with without_network(page):
        page.get_by_role("button", name=ORDER).click()
        expect(page.locator("#waiting li")).to_have_count(1)
        page.route("**/device/orders", lambda route: held.append(route))
    eventually(lambda: page.wait_for_timeout(50) or held)
    first: Route = held[0]
    assert first.fetch().status == 201, "the shop has it, its answer arrives nowhere"
    page.unroute("**/device/orders")
    page.reload()
    expect(page.locator("#waiting li[data-state=placed]")).to_have_count(1)
    assert orders_of(page) == 1


def test_logging_out_in_one_window_leaves_nothing_in_any(visit: Visit, peg: str) -> None:
    page = visit()
    email = join(page)
    prepare(page, peg)
    page.goto("/category/Garden/Tent%20pegs")
    page.get_by_role("button", name="Keep it on this device").click()
    expect(page.get_by_role("button", name="Kept on this device: remove")).to_be_enabled()
    others = [page.context.new_page() for _ in range(2)]
    for each, address in zip(others, ("/offline", "/category/Garden/Tent%20pegs"), strict=True):
        each.goto(address)
    expect(others[0].locator("#profile")).to_contain_text("Nora Tunnel")
    eventually(lambda: kept(others[1], "kept-"))
    assert email.partition("@")[0] not in page.evaluate(WHAT_IS_KEPT), "what is hers is in databases alone"
    page.goto("/account")
    page.get_by_role("button", name="Log out").click()
    expect(page.locator(".me").get_by_text("Log in")).to_be_attached()
    expect(others[0].locator("#nobody")).to_be_visible()
    eventually(lambda: page.evaluate(NAMES_OF_DATABASES) == [])
    assert page.evaluate("Object.keys(localStorage)") == []
    assert "Nora" not in page.evaluate(WHAT_IS_KEPT)
    for each in others:
        each.wait_for_timeout(1000)
        assert each.evaluate(NAMES_OF_DATABASES) == [], "no window brings anything back"


def test_logging_out_asks_before_it_loses_an_order_that_waits(visit: Visit, peg: str) -> None:
    page, asked = visit(), []
    with_basket(page, peg)
    page.goto("/account")
    eventually(lambda: basket_on(page) == {peg: 1})
    other = page.context.new_page()
    with without_network(page):
        other.goto("/offline")
        other.get_by_role("button", name=ORDER).click()
        expect(other.locator("#waiting li")).to_have_count(1)

        def answer(dialog: Dialog) -> None:
            asked.append(dialog.message)
            dialog.dismiss()

        page.on("dialog", answer)
        page.get_by_role("button", name="Log out").click()
        eventually(lambda: page.wait_for_timeout(50) or asked)
        expect(other.locator("#waiting li")).to_have_count(1)
    assert "It would be lost." in asked[0]
    expect(other.locator("#waiting li[data-state=placed]")).to_have_count(1)


def test_somebody_else_on_the_same_device_finds_nothing_of_who_was_there_before(
    visit: Visit, peg: str
) -> None:
    page, other = visit(), visit()
    first = join(page)
    prepare(page, peg)
    second = join(other)
    page.context.clear_cookies()
    log_in(page, second, PASSWORD)
    page.goto("/offline")
    expect(page.locator("#profile [data-email]")).to_have_text(second)
    names = page.evaluate(NAMES_OF_DATABASES)
    assert len({name.removesuffix("-here") for name in names}) == 1, names
    assert first not in page.content()


def test_a_full_storage_is_said_and_loses_nothing(visit: Visit, peg: str) -> None:
    page = visit(expects=["Quota", "quota"])
    session = page.context.new_cdp_session(page)
    origin = page.evaluate("location.origin")
    session.send("Storage.overrideQuotaForOrigin", {"origin": origin, "quotaSize": 1})
    join(page)
    page.goto(f"/product/{peg}")
    eventually(lambda: page.evaluate("() => Boolean(globalThis.shopDevice?.owner())"))
    with without_network(page):
        page.get_by_role("button", name="Add to basket").click()
        expect(page.locator("#notes")).to_contain_text("This device could not keep it.")
    session.send("Storage.overrideQuotaForOrigin", {"origin": origin})
    page.reload()
    page.get_by_role("button", name="Add to basket").click()
    page.get_by_role("link", name="Go to the basket").click()
    expect(page.get_by_role("heading", name=f"Tent peg {peg}")).to_be_visible()
    eventually(lambda: basket_on(page) == {peg: 1})


@pytest.mark.parametrize("days", [-900, 900])
def test_a_clock_that_is_years_wrong_orders_all_the_same(visit: Visit, peg: str, days: int) -> None:
    page = visit()
    with_basket(page, peg)
    page.clock.set_system_time(now() + timedelta(days=days))
    page.reload()
    with without_network(page):
        page.get_by_role("button", name=ORDER).click()
        expect(page.locator("#waiting li")).to_have_count(1)
    expect(page.locator("#waiting li[data-state=placed]")).to_have_count(1)
    assert orders_of(page) == 1


def test_a_browser_that_keeps_nothing_shows_the_shop_all_the_same(visit: Visit, peg: str) -> None:
    """As a private window of some browsers."""
    page = visit()
    page.add_init_script("indexedDB.open = () => { throw new DOMException('no', 'SecurityError'); };")
    join(page)
    page.goto(f"/product/{peg}")
    page.get_by_role("button", name="Add to basket").click()
    page.get_by_role("link", name="Go to the basket").click()
    expect(page.get_by_role("heading", name=f"Tent peg {peg}")).to_be_visible()
    page.goto("/account")
    page.get_by_role("button", name="Log out").click()
    expect(page.locator(".me").get_by_text("Log in")).to_be_attached()


def test_a_device_speaks_the_language_that_its_owner_has_chosen(visit: Visit, peg: str) -> None:
    page = visit()
    with_basket(page, peg)
    page.goto("/")
    page.get_by_label("Language").last.select_option("de")
    page.get_by_role("button", name="Change the language").click()
    expect(page.locator("html")).to_have_attribute("lang", "de")
    eventually(lambda: [name[-3:] for name in page.evaluate(SHELLS)] == ["-de"])
    with without_network(page):
        page.goto("/orders")
        expect(page.get_by_role("heading", level=1)).to_have_text("Auf diesem Gerät")
        expect(page.locator("[data-total]")).to_contain_text("10,00")
        page.get_by_role("button", name="Bestellen, sobald der Shop erreichbar ist").click()
        expect(page.locator("#waiting li")).to_contain_text("Wartet auf den Shop.")
    expect(page.locator("#waiting li[data-state=placed]")).to_have_count(1)


SHELLS = "async () => (await caches.keys()).filter((name) => name.startsWith('aisle-shell-'))"
