"""Two windows of one browser at the same moment: each race is made by holding one of them at the place where the other overtakes it."""

from collections.abc import Callable

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import log_in
from tests.browser.offline_device import (
    NAMES_OF_DATABASES,
    WAITS,
    Visit,
    admin,
    basket_on,
    join,
    kept,
    orders_of,
    peg,
    queue,
    sell,
    visit,
    with_basket,
    without_network,
)
from tests.people import PASSWORD
from tests.waiting import eventually

__all__ = ["admin", "peg", "sell", "visit"]

ENDED = ("a status of 401", "a status of 403")
OWNER = "() => localStorage.getItem('aisle-owner')"
LOGGED_OUT = ".me :text('Log in')"
WATCHED = """
  let found;
  const construct = (target, named) => {
    const made = new target(...named);
    const { allDocs, put } = made;
    made.allDocs = async (...asked) => { const read = await allDocs.apply(made, asked); await globalThis.onRead?.(); return read; };
    made.put = async (doc, ...rest) => { await globalThis.onPut?.(doc._id); return put.call(made, doc, ...rest); };
    return made;
  };
  Object.defineProperty(globalThis, 'PouchDB', { get: () => found, set: (real) => { found = new Proxy(real, { construct }); } });
"""
"""Asks `onRead` after each reading of a database on the device, and `onPut` before a document is written."""
HOLD_READING = """() => {
  const [ask, held] = [globalThis.fetch, new Promise((done) => { globalThis.release = done; })];
  globalThis.fetch = async (address, ...rest) => {
    const answer = await ask(address, ...rest);
    if (address === '/device') globalThis.onRead = () => { globalThis.isHeld = true; return held; };
    return answer;
  };
}"""
CUT_WRITING = """() => {
  let written = 0;
  globalThis.onPut = (id) => {
    if (!/^(quote$|product-)/.test(id) || !written++) return undefined;
    globalThis.isCut = true;
    return new Promise(() => {});
  };
}"""
PUT_IN = """async (productid) => {
  const body = new URLSearchParams({ productid, quantity: 1 });
  return (await fetch('/basket', { method: 'POST', body })).status;
}"""
ASK_WHO = "() => { shopDevice.who().catch(() => {}); }"
OVERTAKEN = """async () => {
  const { pending } = await navigator.locks.query();
  return pending.some(({ name }) => name === 'aisle-who') || !localStorage.getItem('aisle-owner');
}"""
TRIED = """async () => {
  const [{ _id, _rev, ...order }] = await shopDevice.orders();
  await shopDevice.remember(_id, { ...order, tried: true });
  return _id;
}"""


def test_two_windows_that_hear_at_once_that_a_session_ran_out_keep_its_order(visit: Visit, peg: str) -> None:
    """One has read the order and not kept it yet when the other hears of it."""
    page = visit(expects=(*ENDED, "ERR_FAILED"))
    email = with_basket(page, peg)
    with without_network(page):
        queue(page)
        other = page.context.new_page()
        other.add_init_script(WATCHED)
        other.goto("/offline")
        expect(other.locator("#waiting li")).to_have_count(1)
        other.evaluate(HOLD_READING)
        page.context.clear_cookies()
        page.route("**/device**", lambda route: route.abort())  # it hears of it when it is told to
    eventually(lambda: other.evaluate("() => globalThis.isHeld"))
    page.unroute("**/device**")
    page.evaluate(ASK_WHO)
    eventually(lambda: page.evaluate(OVERTAKEN))
    other.evaluate("() => release()")
    for each in (page, other):
        expect(each.locator("#waiting-note")).to_have_text(WAITS)
    eventually(lambda: page.evaluate(NAMES_OF_DATABASES) == [])
    for each in (page, other):
        expect(each.locator("#notes")).not_to_contain_text("was not placed")
    log_in(page, email, PASSWORD)
    page.goto("/offline")
    expect(page.locator("#waiting li[data-state=placed]")).to_have_count(1)
    assert orders_of(page) == 1


def test_a_page_that_is_left_while_it_wipes_leaves_the_rest_to_the_next(visit: Visit, peg: str) -> None:
    page, other = visit(expects=ENDED), visit()
    first, second = with_basket(page, peg), join(other)
    with without_network(page):
        queue(page)
        page.evaluate("() => { indexedDB.databases = () => new Promise(() => {}); }")
        page.context.clear_cookies()
    eventually(lambda: page.evaluate(OWNER) is None)
    page.goto("/login")
    eventually(lambda: page.evaluate(NAMES_OF_DATABASES) == [])
    eventually(lambda: page.evaluate("() => Object.keys(localStorage)") == ["aisle-sealed"])
    expect(page.locator("#waiting-note")).to_have_text(WAITS)
    log_in(page, first, PASSWORD)
    page.goto("/offline")
    expect(page.locator("#waiting li[data-state=placed]")).to_have_count(1)
    page.evaluate("() => { indexedDB.databases = () => new Promise(() => {}); }")
    page.context.clear_cookies()
    page.evaluate(ASK_WHO)
    eventually(lambda: page.evaluate(OWNER) is None)
    log_in(page, second, PASSWORD)
    page.goto("/offline")
    expect(page.locator("#profile [data-email]")).to_have_text(second)
    names = page.evaluate(NAMES_OF_DATABASES)
    assert len({name.removesuffix("-here") for name in names}) == 1, names


def test_what_pouchdb_tries_the_storage_with_does_not_stay(visit: Visit, peg: str) -> None:
    """In a page that loads it while another one logs out, nobody would remove it."""
    page = visit()
    with_basket(page, peg)
    eventually(
        lambda: "_pouch_check_localstorage" not in page.evaluate("() => Object.keys(localStorage)"), 10
    )


def test_the_page_of_the_device_loads_pouchdb_once(visit: Visit) -> None:
    """A second one would hear nothing of what is written with the first."""
    page = visit()
    join(page)
    page.goto("/offline")
    expect(page.locator("#profile [data-email]")).not_to_be_empty()
    assert page.evaluate("() => document.querySelectorAll(\"script[src$='/pouchdb.min.js']\").length") == 1


NO_ANSWER_ABOUT_THE_DATABASE = """() => {
  const real = PouchDB.fetch;
  globalThis.unanswered = 0;
  PouchDB.fetch = async (address, options) => {
    if (!new URL(address).pathname.match(/^\\/device\\/sync\\/?$/)) return real(address, options);
    globalThis.unanswered += 1;
    throw new TypeError("Failed to fetch");
  };
}"""


def test_what_pouchdb_asks_only_to_count_may_stay_without_an_answer(visit: Visit, peg: str) -> None:
    """It asks about the shop's database after each batch, and nobody hears when that fails: that is no error of the page."""
    page = visit()
    join(page)
    page.goto("/offline")
    eventually(lambda: kept(page, "delivery"))
    page.evaluate(NO_ANSWER_ABOUT_THE_DATABASE)
    other = page.context.new_page()
    other.goto(f"/product/{peg}")
    other.get_by_role("button", name="Add to basket").click()
    eventually(lambda: basket_on(page) == {peg: 1})
    eventually(lambda: page.evaluate("() => globalThis.unanswered > 0"))


def test_a_window_that_opens_while_another_logs_out_brings_nothing_back(visit: Visit, peg: str) -> None:
    page = visit(expects=ENDED)
    with_basket(page, peg)
    page.goto("/account")
    eventually(lambda: basket_on(page) == {peg: 1})
    page.evaluate(
        "() => { const real = caches.keys.bind(caches); const held = new Promise((done) => { globalThis.release = done; });"
        " caches.keys = () => held.then(real); }"
    )
    page.get_by_role("button", name="Log out").click()
    eventually(lambda: page.evaluate(NAMES_OF_DATABASES) == [])
    other = page.context.new_page()
    other.goto("/account")
    expect(other.locator(LOGGED_OUT)).to_be_attached()
    page.evaluate("() => release()")
    expect(page.locator(LOGGED_OUT)).to_be_attached()
    for each in (page, other):
        eventually(lambda each=each: each.evaluate("() => Object.keys(localStorage)") == [])
        assert each.evaluate(NAMES_OF_DATABASES) == []


@pytest.mark.parametrize("decision", ["{}", "{ again: true }"])
def test_an_order_that_is_being_sent_is_not_dropped_by_a_window_that_shows_it_as_before(
    visit: Visit, peg: str, decision: str
) -> None:
    page = visit()
    with_basket(page, peg)
    with without_network(page):
        queue(page)
        order = page.evaluate(TRIED)
        page.evaluate(f"id => shopDevice.decide(id, {decision})", order)
        assert [each["_id"] for each in page.evaluate("() => shopDevice.orders()")] == [order]
        assert basket_on(page) == {}
    expect(page.locator("#waiting li[data-state=placed]")).to_have_count(1)
    page.evaluate(f"id => shopDevice.decide(id, {decision})", order)
    assert [each["state"] for each in page.evaluate("() => shopDevice.orders()")] == ["placed"]
    assert orders_of(page) == 1


def test_a_page_that_is_left_while_it_writes_what_the_basket_costs_leaves_no_goods_without_a_price(
    visit: Visit, peg: str, sell: Callable[[str, int], None]
) -> None:
    page, other = visit(), f"{peg}-two"
    sell(other, 800)
    with_basket(page, peg)
    page.add_init_script(WATCHED)
    page.reload()
    expect(page.locator("[data-total]")).to_have_text("Expected total: £10.00")
    page.evaluate(CUT_WRITING)
    assert page.evaluate(PUT_IN, other) == 200
    eventually(lambda: page.evaluate("() => globalThis.isCut"))
    page.goto("/offline")
    expect(page.locator("#basket")).to_contain_text(f"Tent peg {other}")
    expect(page.locator("[data-total]")).to_contain_text("Expected total: £")
