"""The shop without a network: Chromium with its network cut, as a phone in a tunnel."""

from collections.abc import Callable

import requests
from playwright.sync_api import Browser, Page, expect

from tests.bench.running import Shop
from tests.browser.conftest import log_in
from tests.browser.offline_device import (
    BASKET_OF_THE_SHOP,
    NAMES_OF_DATABASES,
    WHOLE,
    Visit,
    admin,
    basket_on,
    count,
    join,
    kept,
    orders_of,
    peg,
    prepare,
    put_in,
    sell,
    visit,
    wait_for_worker,
    with_basket,
    without_network,
)
from tests.people import PASSWORD
from tests.waiting import eventually

__all__ = ["admin", "count", "peg", "sell", "visit"]


REFUSED = "a status of 409"  # of a price that has changed, which the customer is told


def open_first_product(page: Page) -> str:
    page.goto("/departments")
    page.locator(".sign a").first.click()
    page.locator(".card:has(button) a").first.click()
    page.wait_for_url("**/product/**")
    return page.get_by_role("heading", level=1).inner_text()


def test_pages_that_were_seen_are_shown_with_their_moment_and_others_say_so(visit: Visit) -> None:
    page = visit()
    name = open_first_product(page)
    product = page.url
    with without_network(page):
        page.goto("/departments")
        expect(page.get_by_role("heading", level=1)).to_have_text("All departments")
        expect(page.locator("#kept-note")).to_contain_text("The shop cannot be reached. This page is from")
        page.goto(product)
        expect(page.get_by_role("heading", level=1)).to_have_text(name)
        expect(page.locator("#kept-note")).to_be_visible()
        assert page.locator(".gallery img, .shot img").first.evaluate(
            "image => image.complete && image.naturalWidth > 0"
        )
        assert (
            page.evaluate("getComputedStyle(document.querySelector('.brand')).textDecorationLine") == "none"
        )
        page.goto("/product/never-seen")
        expect(page.get_by_text("This page was never opened on this device")).to_be_visible()
        page.goto("/orders")
        expect(page.get_by_text("The shop cannot be reached. Are you online?")).to_be_visible()
    page.goto(product)
    expect(page.locator("#kept-note")).to_have_count(0)


def test_browsers_may_install_it(whole_browser: Browser, base: str) -> None:
    page = whole_browser.new_page()
    page.goto(base)
    wait_for_worker(page)
    session = page.context.new_cdp_session(page)
    manifest = session.send("Page.getAppManifest")
    assert (manifest["errors"], manifest["url"].endswith("/manifest.webmanifest")) == ([], True)
    errors = session.send("Page.getInstallabilityErrors")["installabilityErrors"]
    assert [each["errorId"] for each in errors] == ["in-incognito"], "but for the window of the test itself"


def test_an_order_without_a_network_is_placed_once_when_there_is_one(visit: Visit, peg: str) -> None:
    page = visit(expects=[REFUSED])
    join(page)
    prepare(page, peg)
    with without_network(page):
        page.goto(f"/product/{peg}")
        put_in(page)
        page.goto("/checkout")
        expect(page.get_by_text(WHOLE)).to_be_visible()
        expect(page.locator("#basket")).to_contain_text(f"Tent peg {peg}")
        page.get_by_label("How many of").fill("2")
        page.get_by_label("How many of").press("Tab")
        expect(page.locator("[data-total]")).to_contain_text("£14")
        expect(page.locator("#basket").get_by_text("Nora Tunnel")).to_be_visible()
        page.get_by_role("button", name="Order when the shop can be reached").click()
        expect(page.locator("#waiting li")).to_contain_text("Waits for the shop.")
        page.goto(f"/product/{peg}")
        expect(page.locator("#waiting-note")).to_contain_text("An order waits on this device")
    page.goto("/offline")
    item = page.locator("#waiting li")
    expect(item).not_to_contain_text("Waits for the shop.")
    if item.get_attribute("data-state") == "refused":  # the delivery was not known before
        item.get_by_role("button", name="Order it for").click()
    expect(page.locator("#waiting li[data-state=placed]")).to_have_count(1)
    page.evaluate("() => shopDevice.send()")
    assert orders_of(page) == 1
    eventually(lambda: len(kept(page, "order-")) == 1)
    assert basket_on(page) == {}


def test_an_order_that_was_sent_before_is_the_same_one(visit: Visit, peg: str) -> None:
    """The answer of the first time was lost."""
    page = visit(expects=[REFUSED])
    join(page)
    prepare(page, peg)
    with without_network(page):
        put_in(page)
        page.goto("/offline")
        page.get_by_role("button", name="Order when the shop can be reached").click()
        expect(page.locator("#waiting li")).to_contain_text("Waits for the shop.")
    place = """async () => {
      const [order] = await shopDevice.orders();
      const { csrf } = await (await fetch('/device')).json();
      const { expected_total, ...sent } = order.sent;
      const headers = { 'Content-Type': 'application/json', 'X-CSRF-Token': csrf };
      const ask = async () => (await (await fetch('/device/orders', { method: 'POST', headers, body: JSON.stringify(sent) })).json()).orderid;
      return [await ask(), await ask()];
    }"""
    first, second = page.evaluate(place.replace("order.sent;", "order.sent; sent.key = crypto.randomUUID();"))
    assert first == second
    assert first


def test_a_price_that_changed_meanwhile_is_shown_and_decided(
    visit: Visit, peg: str, sell: Callable[[str, int], None]
) -> None:
    page = visit(expects=[REFUSED])
    with_basket(page, peg)
    with without_network(page):
        page.get_by_role("button", name="Order when the shop can be reached").click()
        expect(page.locator("#waiting li")).to_contain_text("Waits for the shop.")
        sell(peg, 900)
    item = page.locator("#waiting li[data-state=refused]")
    expect(item).to_contain_text("the total is £12.00 now, not £10.00")
    assert orders_of(page) == 0
    expect(page.locator("#waiting-note")).to_contain_text("An order was not placed")
    page.goto("/offline")
    item.get_by_role("button", name="Order it for £12.00").click()
    expect(page.locator("#waiting li[data-state=placed]")).to_have_count(1)
    assert orders_of(page) == 1


def test_two_devices_change_the_basket_without_a_network_and_converge(
    visit: Visit, peg: str, sell: Callable[[str, int], None]
) -> None:
    other = f"{peg}-two"
    sell(other, 800)
    phone, laptop = visit(), visit(width=360)
    email = join(phone)
    log_in(laptop, email, PASSWORD)
    for page, product in ((phone, peg), (laptop, other)):
        prepare(page, product)
    with without_network(phone), without_network(laptop):
        for page in (phone, laptop):
            put_in(page)
        assert (basket_on(phone), basket_on(laptop)) == ({peg: 1}, {other: 1})
    for page in (phone, laptop):
        eventually(lambda page=page: basket_on(page) == {peg: 1, other: 1})
    phone.goto("/basket")
    expect(phone.get_by_label("How many of")).to_have_count(2)


def test_logging_out_wipes_the_device(visit: Visit, peg: str) -> None:
    page = visit()
    join(page)
    prepare(page, peg)
    assert page.evaluate(NAMES_OF_DATABASES)
    page.goto("/account")
    page.get_by_role("button", name="Log out").click()
    expect(page.locator(".me").get_by_text("Log in")).to_be_attached()
    eventually(lambda: page.evaluate(NAMES_OF_DATABASES) == [])
    eventually(lambda: page.evaluate("Object.keys(localStorage)") == [])
    with without_network(page):
        page.goto(f"/product/{peg}")
        expect(page.get_by_text("This page was never opened on this device")).to_be_visible()
        page.goto("/basket")
        expect(page.get_by_text("Nothing of yours is kept here.")).to_be_visible()


def test_a_session_that_was_ended_elsewhere_wipes_the_device(visit: Visit, shop: Shop, peg: str) -> None:
    page = visit(expects=["a status of 401"])
    email = join(page)
    prepare(page, peg)
    url = shop.urls["users"]
    answer = requests.post(f"{url}/v1/sessions", json={"email": email, "password": PASSWORD}, timeout=30)
    bearer = {"Authorization": f"Bearer {answer.json()['access_token']}"}
    assert (
        requests.delete(f"{url}/v1/sessions?everywhere=true", headers=bearer, timeout=30).status_code == 204
    )
    eventually(lambda: page.evaluate(NAMES_OF_DATABASES) == [])


def test_a_kept_department_is_searched_and_bought_from_without_a_network(visit: Visit, peg: str) -> None:
    page = visit()
    join(page)
    page.goto(f"/product/{peg}")
    page.get_by_role("navigation", name="Breadcrumb").get_by_role("link", name="Tent pegs").click()
    keep = page.get_by_role("button", name="Keep it on this device")
    keep.click()
    expect(page.get_by_role("button", name="Kept on this device: remove")).to_be_enabled()
    eventually(lambda: kept(page, "delivery"))
    with without_network(page):
        page.goto("/offline")
        page.get_by_label("Search what is on this device").fill(f"tent {peg.upper()}")
        expect(page.locator("[data-found]")).to_have_text("1 found, 1 shown")
        page.get_by_role("button", name=f"Add to basket Tent peg {peg}").click()
        expect(page.locator("#basket")).to_contain_text(f"Tent peg {peg}")
        expect(page.locator("[data-total]")).to_contain_text("£7.00")
    eventually(lambda: page.evaluate(BASKET_OF_THE_SHOP) == [peg])
    page.goto("/basket")
    expect(page.get_by_role("heading", name=f"Tent peg {peg}")).to_be_visible()
