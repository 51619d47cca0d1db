"""A customer's session ends while an order waits on their device: it is kept for them when the session has only run out, for nobody else and not for ever."""

from collections.abc import Callable
from datetime import timedelta

import jwt
import pytest
import requests
from itsdangerous import URLSafeTimedSerializer
from playwright.sync_api import Page, expect

from services.users.documents import DESIGN, SESSION, user_document
from shared.clock import iso, now
from tests.bench.running import Shop
from tests.browser.conftest import log_in
from tests.browser.offline_device import (
    NAMES_OF_DATABASES,
    WAITS,
    Visit,
    admin,
    basket_on,
    join,
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

ENDED = (
    "a status of 401",
    "a status of 403",
    "a status of 410",
)  # of the first question of a session that has ended
LOST = "An order that waited here was not placed."
NAMES = "() => Object.keys(localStorage)"
KEPT_HERE = "() => Object.values(localStorage).join(' ')"
DAYS = 31


def run_out(page: Page, shop: Shop) -> None:
    """The session was used last more days ago than one lasts, so the browser's access token is over, and the other renews it no more."""
    secret = next(shop.state.rglob("secret-key")).read_text().strip()
    signer = URLSafeTimedSerializer(secret, salt="storefront.session")
    [cookie] = [each for each in page.context.cookies() if each["name"] == "aisle_session"]
    kept = signer.loads(cookie["value"])
    claims = jwt.decode(kept["access"], options={"verify_signature": False})
    userid, session = claims["sub"], claims["sid"]
    before = now() - timedelta(days=DAYS)
    last_used = SESSION.build(
        user_document(userid, f"session-{session}"),
        userid=userid,
        session=session,
        generation=0,
        created=iso(before),
        updated=iso(before),
        expires=iso(now() + timedelta(days=1)),
    )
    shop.server.open(DESIGN).put(last_used)
    value = signer.dumps({**kept, "expires": int(before.timestamp())})
    page.context.add_cookies([{**cookie, "value": value}])


def who_is(page: Page, shop: Shop) -> str:
    """Whose session the browser has, as the storefront says, which is told of ended ones each second."""
    cookies = {each["name"]: each["value"] for each in page.context.cookies()}
    return requests.get(f"{shop.urls['storefront']}/device", cookies=cookies, timeout=30).json()["owner"]


def test_an_order_that_waits_outlives_a_session_that_has_run_out(visit: Visit, shop: Shop, peg: str) -> None:
    """Nothing of it can be read meanwhile, and it is sent when its customer logs in again on this device."""
    page = visit(expects=ENDED)
    email = with_basket(page, peg)
    with without_network(page):
        queue(page)
        other = page.context.new_page()
        other.goto("/offline")
        expect(other.locator("#waiting li")).to_have_count(1)
        run_out(page, shop)
    for each in (page, other):
        expect(each.locator("#waiting-note")).to_have_text(WAITS)
        expect(each.locator("#waiting li")).to_have_count(0)
        expect(each.locator("#profile [data-email]")).to_have_text("")
    eventually(lambda: page.evaluate(NAMES_OF_DATABASES) == [])
    eventually(lambda: page.evaluate(NAMES) == ["aisle-sealed"])
    assert peg not in page.evaluate(KEPT_HERE)
    other.close()
    page.goto("/")
    expect(page.locator(".me").get_by_text("Log in")).to_be_attached()
    page.locator("#waiting-note").get_by_role("link", name=WAITS).click()
    page.get_by_label("E-mail").fill(email)
    page.get_by_label("Password").fill(PASSWORD)
    page.locator("main").get_by_role("button", name="Log in").click()
    page.wait_for_url("**/offline")
    expect(page.locator("#waiting li")).to_contain_text(f"1 × Tent peg {peg}")
    expect(page.locator("#waiting li[data-state=placed]")).to_have_count(1)
    assert "aisle-sealed" not in page.evaluate(NAMES)
    assert orders_of(page) == 1
    eventually(lambda: basket_on(page) == {})


def test_an_order_that_came_back_and_is_dropped_leaves_the_basket_as_it_was(
    visit: Visit, peg: str, sell: Callable[[str, int], None]
) -> None:
    """The shop never heard that its goods had left the basket on the device."""
    page = visit(expects=(*ENDED, "a status of 409"))
    email = with_basket(page, peg)
    with without_network(page):
        queue(page)
        page.context.clear_cookies()
    expect(page.locator("#waiting-note")).to_have_text(WAITS)
    sell(peg, 900)
    log_in(page, email, PASSWORD)
    page.goto("/offline")
    refused = page.locator("#waiting li[data-state=refused]")
    expect(refused).to_contain_text("the total is £12.00 now, not £10.00")
    eventually(lambda: basket_on(page) == {peg: 1})
    refused.get_by_role("button", name="Do not order it").click()
    expect(page.locator("#waiting li")).to_have_count(0)
    assert basket_on(page) == {peg: 1}
    assert orders_of(page) == 0


def test_an_order_of_a_session_that_has_run_out_is_for_nobody_else(visit: Visit, peg: str) -> None:
    page, other = visit(expects=ENDED), visit()
    first, second = with_basket(page, peg), join(other)
    with without_network(page):
        queue(page)
        page.context.clear_cookies()
    expect(page.locator("#waiting-note")).to_have_text(WAITS)
    log_in(page, second, PASSWORD)
    page.goto("/offline")
    expect(page.locator("#profile [data-email]")).to_have_text(second)
    expect(page.locator("#waiting li")).to_have_count(0)
    assert "aisle-sealed" not in page.evaluate(NAMES)
    page.goto("/account")
    page.get_by_role("button", name="Log out").click()
    expect(page.locator(".me").get_by_text("Log in")).to_be_attached()
    log_in(page, first, PASSWORD)
    assert orders_of(page) == 0


def test_an_order_of_a_session_that_has_run_out_goes_after_thirty_days(visit: Visit, peg: str) -> None:
    page = visit(expects=ENDED)
    with_basket(page, peg)
    with without_network(page):
        queue(page)
        page.context.clear_cookies()
    expect(page.locator("#waiting-note")).to_have_text(WAITS)
    eventually(lambda: page.evaluate(NAMES_OF_DATABASES) == [])
    page.clock.set_system_time(now() + timedelta(days=29))
    page.goto("/")
    expect(page.locator("#waiting-note")).to_have_text(WAITS)
    page.clock.set_system_time(now() + timedelta(days=DAYS))
    page.goto("/")
    expect(page.locator("#waiting-note")).to_have_count(0)
    eventually(lambda: page.evaluate(NAMES) == [])


@pytest.mark.parametrize("end", ["everywhere", "erased"])
def test_an_order_does_not_outlive_a_session_that_was_ended(
    visit: Visit, shop: Shop, peg: str, end: str
) -> None:
    """By who has lost the device, or wants to be forgotten."""
    page, url = visit(expects=ENDED), shop.urls["users"]
    email = with_basket(page, peg)
    with without_network(page):
        queue(page)
        body = {"email": email, "password": PASSWORD}
        token = requests.post(f"{url}/v1/sessions", json=body, timeout=30).json()["access_token"]
        path = "/v1/users/me" if end == "erased" else "/v1/sessions?everywhere=true"
        ended = requests.delete(url + path, headers={"Authorization": f"Bearer {token}"}, timeout=30)
        assert ended.ok, ended.text
        eventually(lambda: who_is(page, shop) == "")
    if end == "everywhere":
        expect(page.locator("#notes")).to_contain_text(LOST)
    eventually(lambda: page.evaluate(NAMES_OF_DATABASES) == [])
    eventually(lambda: page.evaluate(NAMES) == [])
    page.goto("/")
    expect(page.locator("#waiting-note")).to_have_count(0)
