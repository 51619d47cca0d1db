"""What a customer changes and orders without a network, and what the shop says to it."""

from collections.abc import Callable
from typing import Any

import pytest
import requests
from playwright.sync_api import Page, expect

from tests.bench.running import Shop
from tests.browser.offline_device import (
    BASKET_OF_THE_SHOP,
    NAMES_OF_DATABASES,
    Visit,
    admin,
    basket_on,
    count,
    join,
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

__all__ = ["admin", "count", "peg", "sell", "visit"]


def test_wishes_and_addresses_change_without_a_network(visit: Visit, shop: Shop, peg: str) -> None:
    page = visit()
    join(page)
    prepare(page, peg)
    with without_network(page):
        page.get_by_role("button", name="Add to wish list").click()
        page.get_by_text("On the wish list of this device.").wait_for()
        page.goto("/offline")
        expect(page.locator("#profile")).to_contain_text("Nora Tunnel")
        expect(page.locator("#wishes li")).to_contain_text(f"Tent peg {peg}")
        addresses = page.locator("#addresses")
        addresses.get_by_text("Add an address").click()
        for label, text in (
            ("Name", "Otto Tunnel"),
            ("Street and number", "2 Low Street"),
            ("Town or city", "York"),
        ):
            addresses.get_by_label(label, exact=label == "Name").fill(text)
        addresses.get_by_label("Country").select_option("GB")
        addresses.get_by_label("Postcode").fill("YO1 7PR")
        addresses.get_by_role("button", name="Save").click()
        expect(addresses.locator("li")).to_have_count(2)
        addresses.get_by_role("button", name="Set as default Otto Tunnel").click()
        expect(addresses.locator("li", has_text="Otto Tunnel")).to_contain_text("default")
        expect(addresses.locator("li", has_text="Nora Tunnel").locator(".tag")).to_have_count(0)
        addresses.get_by_role("button", name="Change Nora Tunnel").click()
        addresses.get_by_label("Street and number").fill("3 Middle Street")
        addresses.get_by_role("button", name="Save").click()
        expect(addresses.locator("li")).to_have_count(2)
    online = "async () => (await (await fetch('/device/sync/_all_docs?include_docs=true')).json()).rows.map(({ doc }) => doc)"

    def arrived() -> bool:
        docs = page.evaluate(online)
        lines = {doc["name"]: doc["line1"] for doc in docs if doc["_id"].startswith("delivery")}
        wishes = [doc["productid"] for doc in docs if doc["_id"].startswith("wish-")]
        return lines == {"Nora Tunnel": "3 Middle Street", "Otto Tunnel": "2 Low Street"} and wishes == [peg]

    eventually(arrived)
    page.goto("/account")
    first = page.locator(".address", has=page.get_by_text("default", exact=True))
    expect(first).to_have_count(1)
    expect(first).to_contain_text("2 Low Street")
    with without_network(page):
        page.goto("/wishes")
        page.locator("#wishes").get_by_role("button", name=f"Move to the basket Tent peg {peg}").click()
        expect(page.locator("#basket")).to_contain_text(f"Tent peg {peg}")
        expect(page.locator("#wishes li")).to_have_count(0)
    eventually(lambda: page.evaluate(BASKET_OF_THE_SHOP) == [peg])


ACCOUNT = "async () => (await fetch('/account')).text()"


def test_what_the_shop_does_not_take_is_said_and_can_be_mended(visit: Visit, peg: str) -> None:
    """Of an address the shop says what is missing, and the device has again what the shop has."""
    page = visit()
    join(page)
    prepare(page, peg)
    with without_network(page):
        page.goto("/offline")
        addresses = page.locator("#addresses")
        addresses.get_by_text("Add an address").click()
        addresses.get_by_label("Name", exact=True).fill("Otto Tunnel")
        addresses.get_by_label("Street and number").fill("2 Low Street")
        addresses.get_by_label("Country").select_option("GB")
        addresses.get_by_role("button", name="Save").click()
        expect(addresses.locator("li")).to_have_count(2)
    denied = page.locator("#denied")
    expect(denied).to_contain_text("Otto Tunnel")
    expect(addresses.locator("li")).to_have_count(1)
    denied.get_by_role("button", name="Change Otto Tunnel").click()
    expect(addresses.get_by_label("Street and number")).to_have_value("2 Low Street")
    addresses.get_by_label("Town or city").fill("York")
    addresses.get_by_label("Postcode").fill("YO1 7PR")
    addresses.get_by_role("button", name="Save").click()
    expect(denied).to_be_hidden()
    eventually(
        lambda: page.evaluate(ACCOUNT).count('class="address"') == 2
    )  # a page that is left sends nothing


def test_a_card_of_a_list_goes_into_the_basket_of_the_device(visit: Visit, peg: str) -> None:
    page = visit()
    join(page)
    prepare(page, peg)
    page.goto("/category/Garden/Tent%20pegs")
    card = page.locator(".card", has_text=peg)
    with without_network(page):
        card.get_by_role("button", name="Add").click()
        page.get_by_text("Added to the basket on this device.").wait_for()
        assert basket_on(page) == {peg: 1}
        page.goto("/basket")
        expect(page.locator("#basket")).to_contain_text("£7.00")
    eventually(lambda: page.evaluate(BASKET_OF_THE_SHOP) == [peg])


LEAVING = "() => localStorage.getItem('aisle-leaving')"


def test_logging_out_without_a_network_ends_the_session_when_there_is_one(visit: Visit, peg: str) -> None:
    page = visit()
    join(page)
    prepare(page, peg)
    page.goto("/account")
    with without_network(page):
        page.get_by_role("button", name="Log out").click()
        expect(page.locator("#leaving")).to_be_visible()
        assert page.evaluate(NAMES_OF_DATABASES) == []
        page.goto("/orders")
        expect(page.locator("#leaving")).to_be_visible()
        expect(page.get_by_text("Nothing of yours is kept here.")).to_be_visible()
    page.wait_for_url("**/")
    expect(page.locator(".me").get_by_text("Log in")).to_be_attached()
    assert page.evaluate(LEAVING) is None
    assert page.evaluate("async () => (await (await fetch('/device')).json()).owner") == ""
    assert page.evaluate(NAMES_OF_DATABASES) == []


@pytest.fixture
def queued(visit: Visit, peg: str) -> Page:
    """A page without a network whose order of 1 `peg` at a known price waits; what the shop may answer to it is expected."""
    page = visit(expects=["ERR_CONNECTION_RESET", "a status of 409", "a status of 402"])
    with_basket(page, peg)
    page.context.set_offline(True)
    return page


def order_and_wait(page: Page) -> None:
    page.get_by_role("button", name="Order when the shop can be reached").click()
    expect(page.locator("#waiting li")).to_contain_text("Waits for the shop.")


def test_an_answer_that_was_lost_after_the_order_was_sent_leaves_one_order(queued: Page) -> None:
    """The connection breaks when the shop has the order and its answer is on the way."""
    page = queued
    order_and_wait(page)
    session = page.context.new_cdp_session(page)
    lost: list[int] = []

    def cut(event: dict[str, Any]) -> None:
        lost.append(event["responseStatusCode"])
        session.send("Fetch.failRequest", {"requestId": event["requestId"], "errorReason": "ConnectionReset"})

    session.on("Fetch.requestPaused", cut)
    session.send(
        "Fetch.enable", {"patterns": [{"urlPattern": "*/device/orders", "requestStage": "Response"}]}
    )
    page.context.set_offline(False)
    eventually(lambda: page.wait_for_timeout(50) or lost)
    assert lost[0] == 201, "the shop has it"
    expect(page.locator("#waiting li")).to_contain_text("Waits for the shop.")
    expect(page.locator("#waiting li").get_by_role("button")).to_have_count(0)
    session.send("Fetch.disable")
    page.evaluate("() => shopDevice.send()")
    expect(page.locator("#waiting li[data-state=placed]")).to_have_count(1)
    assert orders_of(page) == 1


def test_several_pages_of_a_browser_send_an_order_once_and_the_badge_counts_it(queued: Page) -> None:
    page = queued
    sent: list[str] = []
    page.context.on(
        "request", lambda each: sent.append(each.url) if each.url.endswith("/device/orders") else None
    )
    order_and_wait(page)
    page.add_init_script(COUNT_BADGES)
    others = [page.context.new_page() for _ in range(2)]
    for each in others:
        each.add_init_script(COUNT_BADGES)
        each.goto("/offline")
        expect(each.locator("#waiting li")).to_have_count(1)
    page.reload()
    page.wait_for_function("() => globalThis.shopDevice?.badge().then((open) => open === 1)")
    assert page.evaluate("badges.at(-1)") == 1
    page.context.set_offline(False)
    for each in (page, *others):
        expect(each.locator("#waiting li[data-state=placed]")).to_have_count(1)
    assert len(sent) == 1
    eventually(lambda: any(each.evaluate("badges.at(-1)") == 0 for each in (page, *others)))
    assert orders_of(page) == 1


COUNT_BADGES = """
  globalThis.badges = [];
  for (const name of ["setAppBadge", "clearAppBadge"]) {
    const real = navigator[name]?.bind(navigator);
    navigator[name] = (count = 0) => { badges.push(count); return real ? real(count).catch(() => {}) : Promise.resolve(); };
  }
"""


def test_sold_out_meanwhile_is_shown_and_decided(
    queued: Page, peg: str, count: Callable[[str, int], None]
) -> None:
    page = queued
    order_and_wait(page)
    count(peg, 0)
    page.context.set_offline(False)
    item = page.locator("#waiting li[data-state=refused]")
    expect(item).to_contain_text(f"Tent peg {peg}")
    assert orders_of(page) == 0
    page.goto("/offline")
    count(peg, 5)
    item.get_by_role("button", name="Try again").click()
    expect(page.locator("#waiting li[data-state=placed]")).to_have_count(1)
    assert orders_of(page) == 1


def test_a_card_that_is_declined_is_shown_and_another_one_chosen(queued: Page) -> None:
    page = queued
    page.get_by_label("Test card ending 0002").check()
    order_and_wait(page)
    page.context.set_offline(False)
    item = page.locator("#waiting li[data-state=refused]")
    expect(item).to_contain_text("declined")
    assert orders_of(page) == 0
    page.goto("/offline")
    page.get_by_label("Test card ending 4242").check()
    item.get_by_role("button", name="Try again").click()
    expect(page.locator("#waiting li[data-state=placed]")).to_have_count(1)
    assert orders_of(page) == 1


def test_a_person_who_was_erased_is_wiped_from_the_device(visit: Visit, shop: Shop, peg: str) -> None:
    page = visit(expects=["a status of 410"])
    email = join(page)
    prepare(page, peg)
    url = shop.urls["users"]
    answer = requests.post(f"{url}/v1/sessions", json={"email": email, "password": PASSWORD}, timeout=30)
    bearer = {"Authorization": f"Bearer {answer.json()['access_token']}"}
    erased = requests.delete(f"{url}/v1/users/me", headers=bearer, timeout=30)
    assert erased.ok, erased.text
    eventually(lambda: page.evaluate(NAMES_OF_DATABASES) == [])
    assert page.evaluate("() => localStorage.getItem('aisle-owner')") is None
