"""What goes wrong on a customer's device: double clicks, two windows, a full storage, a wrong clock, somebody else who logs in."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
import requests
from playwright.sync_api import Dialog, Route, expect

from shared.clock import now
from tests.bench.running import Shop
from tests.browser.conftest import log_in
from tests.browser.offline_device import (
    BASKET_OF_THE_SHOP,
    NAMES_OF_DATABASES,
    ORDER,
    Visit,
    admin,
    basket_on,
    join,
    kept,
    orders_of,
    peg,
    prepare,
    put_in,
    sell,
    visit,
    with_basket,
    without_network,
)
from tests.people import PASSWORD
from tests.waiting import eventually

__all__ = ["admin", "peg", "sell", "visit"]

COST_IS_KNOWN = "async () => Boolean((await shopDevice.expected()).total)"
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
    eventually(lambda: page.evaluate("Object.keys(localStorage)") == [])
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


@pytest.fixture
def set_status(shop: Shop, admin: dict[str, str]) -> Callable[[str, str], None]:
    """set_status(name, "archived"): the product is no longer sold."""

    def set_status(name: str, status: str) -> None:
        url, edit = f"{shop.urls['products']}/v1/admin/products/bulk-edit", {"productids": [name]}
        answer = requests.post(url, json={**edit, "status": status}, headers=admin, timeout=60)
        assert answer.json()["changed"] == 1, answer.text

    return set_status


def test_what_is_no_longer_sold_is_said_and_may_be_ordered_when_it_is_again(
    visit: Visit, peg: str, set_status: Callable[[str, str], None]
) -> None:
    page = visit(expects=["a status of 4"])
    with_basket(page, peg)
    with without_network(page):
        page.get_by_role("button", name=ORDER).click()
        expect(page.locator("#waiting li")).to_have_count(1)
        set_status(peg, "archived")
    refused = page.locator("#waiting li[data-state=refused]")
    expect(refused).to_contain_text(f"Tent peg {peg}")
    expect(refused.locator(".wrong")).not_to_be_empty()
    assert orders_of(page) == 0
    set_status(peg, "active")
    page.goto("/offline")
    refused.get_by_role("button", name="Try again").click()
    expect(page.locator("#waiting li[data-state=placed]")).to_have_count(1)
    assert orders_of(page) == 1


def test_a_push_whose_answer_is_lost_is_pushed_again_and_doubles_nothing(visit: Visit, peg: str) -> None:
    """The network goes when the shop has written it."""
    page = visit(expects=["ERR_CONNECTION_RESET"])
    join(page)
    prepare(page, peg)
    session, lost = page.context.new_cdp_session(page), []

    def cut(event: dict[str, Any]) -> None:
        lost.append(event["responseStatusCode"])
        session.send("Fetch.failRequest", {"requestId": event["requestId"], "errorReason": "ConnectionReset"})

    with without_network(page):
        put_in(page)
        session.on("Fetch.requestPaused", cut)
        pushes = {"urlPattern": "*/device/sync/_bulk_docs", "requestStage": "Response"}
        session.send("Fetch.enable", {"patterns": [pushes]})
    eventually(lambda: page.wait_for_timeout(50) or lost)
    assert lost[0] in (200, 201), "the shop has it"
    session.send("Fetch.disable")
    page.reload()
    eventually(lambda: page.evaluate(BASKET_OF_THE_SHOP) == [peg])
    eventually(lambda: [doc["quantity"] for doc in kept(page, "basket-")] == [1])
    page.goto("/offline")
    expect(page.locator("#denied")).to_be_hidden()


def test_two_devices_that_order_the_same_basket_place_what_each_was_told_to(visit: Visit, peg: str) -> None:
    """Each order was decided on by itself; both stand on both devices, where one of them can be cancelled, and the basket is empty."""
    phone, laptop = visit(), visit(width=360)
    email = with_basket(phone, peg)
    log_in(laptop, email, PASSWORD)
    laptop.goto("/")
    eventually(lambda: basket_on(laptop) == {peg: 1})
    eventually(lambda: laptop.evaluate(COST_IS_KNOWN))
    with without_network(phone), without_network(laptop):
        for page in (phone, laptop):
            page.goto("/offline")
            page.get_by_role("button", name=ORDER).click()
            expect(page.locator("#waiting li")).to_have_count(1)
    for page in (phone, laptop):
        expect(page.locator("#waiting li:not([data-state=waiting])")).to_have_count(1)
        again = page.locator("#waiting li[data-state=refused]").get_by_role("button", name="Order it for")
        if again.count():  # what it costs was not known on this device
            again.click()
        expect(page.locator("#waiting li[data-state=placed]")).to_have_count(1)
    assert [orders_of(page) for page in (phone, laptop)] == [2, 2]
    for page in (phone, laptop):
        eventually(lambda page=page: basket_on(page) == {})


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
