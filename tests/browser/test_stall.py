"""The stall without a network: staff sell and count on a tablet, and the shop hears of it later, once."""

import secrets
from collections.abc import Callable, Iterator

import orjson
import pytest
import requests
from playwright.sync_api import Dialog, Page, expect

from tests.bench.running import ADMIN_EMAIL, Shop
from tests.browser.conftest import log_in
from tests.browser.offline_device import wait_for_worker, without_network
from tests.browser.test_offline_pages import LANGUAGES, choose
from tests.browser.test_pages import problems
from tests.waiting import eventually

Visit = Callable[..., Page]
PLACE = "Stall goods"
ENDED = (
    "a status of 401",
    "a status of 403",
)  # of a tablet whose session has ended, and with what it knew of that one


@pytest.fixture(scope="module")
def admin(shop: Shop) -> requests.Session:
    session = requests.Session()
    answer = session.post(
        f"{shop.urls['users']}/v1/sessions",
        json={"email": ADMIN_EMAIL, "password": shop.admin_password},
        timeout=30,
    )
    session.headers["Authorization"] = f"Bearer {answer.json()['access_token']}"
    return session


@pytest.fixture
def honey(shop: Shop, admin: requests.Session) -> str:
    """Two jars of honey, as a stall has them."""
    name = f"honey-{secrets.token_hex(4)}"
    product = {
        "productid": name,
        "name": f"Honey {name}",
        "taxonomy": ["Garden", PLACE],
        "keywords": [],
        "brand": "Oak & Co",
        "colours": [],
        "description": "From our own bees.",
        "price": {"amount": 650, "currency": "GBP"},
        "delivery": {"amount": 300, "currency": "GBP"},
        "cost_prices": {"GBP": 400},
        "image": "",
        "stock": 2,
    }
    url = f"{shop.urls['products']}/v1/products/import"
    headers = {"Content-Type": "application/x-ndjson"}
    answer = admin.post(url, orjson.dumps(product) + b"\n", headers=headers, timeout=60)
    assert answer.json()["failed"] == [], answer.text
    return name


def level(shop: Shop, admin: requests.Session, productid: str) -> int:
    answer = admin.get(f"{shop.urls['products']}/v1/products/{productid}/stock", timeout=30).json()
    return sum(each["delta"] for each in answer["movements"])


def orders_with(shop: Shop, admin: requests.Session, productid: str) -> list[str]:
    answer = admin.get(
        f"{shop.urls['orders']}/v1/admin/orders", params={"product": productid}, timeout=30
    ).json()
    return [each["orderid"] for each in answer["items"]]


@pytest.fixture
def tablet(visit: Visit, shop: Shop, honey: str) -> Callable[..., Page]:
    """tablet() is one more at the stall, with the goods of a category on it."""
    return lambda **options: _with_goods(visit(worker=True, **options), shop, honey)


@pytest.fixture
def stall(tablet: Callable[..., Page]) -> Page:
    return tablet(expects=ENDED)


def _with_goods(page: Page, shop: Shop, honey: str) -> Page:
    log_in(page, ADMIN_EMAIL, shop.admin_password)
    page.goto("/admin/stall")
    page.get_by_role("link", name="Sell and count at the stall").click()
    page.wait_for_url("**/stall")
    wait_for_worker(page)
    goods = page.locator(f"#category option[value='Garden#{PLACE}']")
    eventually(
        lambda: goods.count() or (page.reload() and page.wait_for_timeout(1000))
    )  # a menu is kept for some seconds
    page.get_by_label("Name of the stall").fill("Market Square")
    page.get_by_label("Category with what is sold there").select_option(f"Garden#{PLACE}")
    page.get_by_role("button", name="Keep it on this device").click()
    expect(page.get_by_role("button", name=f"Add Honey {honey}")).to_be_visible()
    return page


def sell(page: Page, name: str, given: str = "", kind: str = "Cash") -> None:
    page.get_by_role("button", name=f"Add Honey {name}").click()
    page.get_by_label(kind, exact=True).check()
    if given:
        page.get_by_label("Given (optional)").fill(given)
        expect(page.locator("#change")).to_have_text("Change: £3.50")
    page.get_by_role("button", name="Sale done").click()
    expect(page.locator("#said")).to_contain_text("Sold for £6.50.")


def states(page: Page) -> list[str]:
    found: list[str] = page.locator("#queue > li").evaluate_all("rows => rows.map(row => row.dataset.state)")
    return found


def test_sold_and_counted_without_a_network_it_is_there_once_afterwards(
    stall: Page, shop: Shop, admin: requests.Session, honey: str
) -> None:
    page = stall
    with without_network(page):
        sell(page, honey, given="10")
        sell(page, honey, kind="Card (terminal)")
        page.get_by_text("Count stock").click()
        page.get_by_label("Which goods").select_option(honey)
        page.get_by_label("How many are there").fill("1")
        page.get_by_role("button", name="Keep this count").click()
        sell(page, honey)
        page.goto("/stall")
        expect(page.get_by_role("button", name=f"Add Honey {honey}")).to_be_visible()
        expect(page.locator("#state")).to_contain_text("4 wait for the network.")
        sell(page, honey)
        expect(page.locator("#queue > li")).to_have_count(5)
        assert states(page) == ["waiting"] * 5
        expect(page.locator("#today")).to_have_text(
            "Sales of this device today: 4, £19.50 in cash, £6.50 by card."
        )
    expect(page.locator("#state")).to_have_text("Everything has been sent.", timeout=30_000)
    assert states(page) == ["done"] * 5
    expect(page.locator("#queue")).to_contain_text("oversold: 1 × Honey")
    eventually(lambda: len(orders_with(shop, admin, honey)) == 4)
    assert level(shop, admin, honey) == -1, "two there, two sold, one found in the van, two sold"
    page.goto("/stall")
    expect(page.locator("#state")).to_have_text("Everything has been sent.")
    assert level(shop, admin, honey) == -1
    page.goto("/admin/stall")
    expect(page.locator("#oversold")).to_contain_text(f"1 × Honey {honey}")
    page.locator("#oversold a").first.click()
    expect(page.locator("main")).to_contain_text("Market Square")
    expect(page.locator("main")).to_contain_text("Oversold")


def test_what_waits_outlives_the_session_and_is_sent_by_who_logs_in_next(
    stall: Page, shop: Shop, admin: requests.Session, honey: str
) -> None:
    page = stall
    with without_network(page):
        sell(page, honey)
        page.context.clear_cookies()
    expect(page.locator("#state")).to_contain_text("Nothing is lost.")
    page.goto("/stall")
    expect(page.locator("#state")).to_contain_text("1 wait for the network.")
    assert states(page) == ["waiting"]
    log_in(page, ADMIN_EMAIL, shop.admin_password)
    page.goto("/stall")
    expect(page.locator("#state")).to_have_text("Everything has been sent.", timeout=30_000)
    assert states(page) == ["done"]
    eventually(lambda: len(orders_with(shop, admin, honey)) == 1)
    assert level(shop, admin, honey) == 1


def take_count(page: Page, name: str, level: int) -> None:
    page.get_by_text("Count stock").click()
    page.get_by_label("Which goods").select_option(name)
    page.get_by_label("How many are there").fill(str(level))
    page.get_by_role("button", name="Keep this count").click()
    expect(page.locator("#said")).to_contain_text(f"{level} counted")


def test_two_tablets_count_and_sell_the_last_piece(
    tablet: Callable[..., Page], shop: Shop, admin: requests.Session, honey: str
) -> None:
    """The count that was taken first is told last: it books nothing, and says so. Of the last jar, sold twice, one is oversold."""
    first, second = tablet(), tablet(width=360)
    sent = "Everything has been sent."
    with without_network(first):
        take_count(first, honey, 5)
        with without_network(second):
            take_count(second, honey, 1)
        expect(second.locator("#queue")).to_contain_text("the stock said 2, booked -1")
    expect(first.locator("#queue")).to_contain_text("nothing booked: it was counted again later")
    assert level(shop, admin, honey) == 1
    with without_network(first), without_network(second):
        sell(first, honey)
        sell(second, honey)
    for page in (first, second):
        expect(page.locator("#state")).to_have_text(sent, timeout=30_000)
    assert level(shop, admin, honey) == -1
    said = [page.locator("#queue").inner_text() for page in (first, second)]
    assert sum("oversold: 1 × Honey" in each for each in said) == 1, said


def test_a_scanner_adds_to_the_sale_and_the_receipt_is_printed_alone(stall: Page, honey: str) -> None:
    page = stall
    search = page.get_by_label("Search", exact=True)
    for _ in range(2):
        search.press_sequentially(honey.upper())
        search.press("Enter")
        expect(search).to_have_value("")
    expect(page.get_by_label(f"How many of Honey {honey}")).to_have_value("2")
    search.press_sequentially("5012345678900")
    search.press("Enter")
    expect(page.locator("#said")).to_contain_text("No goods on this device are found by “5012345678900”.")
    page.get_by_role("button", name="Sale done").click()
    receipt = page.locator("#receipt")
    expect(receipt).to_contain_text("Total £13.00, tax included")
    page.emulate_media(media="print")
    expect(receipt).to_contain_text(f"2 × Honey {honey}")
    for hidden in ("#goods", "#queue", "#state", "#print"):
        expect(page.locator(hidden)).to_be_hidden()


def test_leaving_warns_of_what_was_not_sent(stall: Page, honey: str) -> None:
    page, asked = stall, []

    def answer(dialog: Dialog) -> None:
        asked.append(dialog.message)
        if len(asked) == 1:
            dialog.dismiss()
        else:
            dialog.accept()

    page.on("dialog", answer)
    leave = page.get_by_role("button", name="Log out and remove everything")
    with without_network(page):
        sell(page, honey)
        leave.click()
        page.wait_for_timeout(1000)
        assert states(page) == ["waiting"]
        leave.click()
        expect(page.locator("#queue > li")).to_have_count(0)
        expect(page.locator("#goods > li")).to_have_count(0)
    assert len(asked) == 2
    assert "1 sales or counts have not been sent" in asked[0]


def test_no_cost_price_is_on_the_device(stall: Page, honey: str) -> None:
    kept = stall.evaluate("() => stallDevice.goods().then((goods) => JSON.stringify(goods))")
    assert honey in kept
    assert "cost" not in kept


REFUSED_SALE = """() => stallDevice.add('sale', { items: [], total: { amount: 650, currency: 'GBP' }, payment: { kind: 'cash' } },
  { lines: [{ name: 'Honey', quantity: 1, price: { amount: 650, currency: 'GBP' } }], change: null })"""


QUEUE = "() => stallDevice.queue()"
DECIDE = "([entry, again]) => stallDevice.decide(entry, { again })"


def test_a_window_that_shows_a_refusal_of_before_removes_nothing(tablet: Callable[..., Page]) -> None:
    page = tablet(expects=("a status of 422",))
    page.evaluate(REFUSED_SALE)
    expect(page.locator("#queue > li[data-state=refused]")).to_have_count(1)
    [refused] = page.evaluate(QUEUE)
    with without_network(page):
        page.evaluate(DECIDE, [refused, True])
        page.evaluate(DECIDE, [refused, False])
        assert [each["state"] for each in page.evaluate(QUEUE)] == ["waiting"]


def test_a_sale_that_is_being_sent_does_not_come_back_when_everything_is_removed(
    stall: Page, honey: str
) -> None:
    page, held = stall, []
    page.route("**/admin/stall/device/sales", lambda route: held.append(route))
    sell(page, honey)
    eventually(lambda: page.wait_for_timeout(50) or held)
    answer = held[0].fetch()
    page.evaluate("() => stallDevice.leave()")
    held[0].fulfill(response=answer)
    page.evaluate("() => stallDevice.send()")
    assert page.evaluate(QUEUE) == []


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_stall_is_accessible_and_fits(tablet: Callable[..., Page], honey: str, language: str) -> None:
    page = tablet(expects=("a status of 422",))
    page.evaluate(REFUSED_SALE)
    expect(page.locator("#queue > li[data-state=refused]")).to_have_count(1)
    sell(page, honey)
    expect(page.locator("#queue > li[data-state=done]")).to_have_count(1)
    choose(page, language)
    page.goto("/stall")
    item = page.locator("#goods button", has_text=honey)
    item.click()
    with without_network(page):
        page.locator("#given").fill("10")
        page.locator("#sale .buy").click()
        expect(page.locator("#queue > li[data-state=waiting]")).to_have_count(1)
        item.click()
        for each in page.locator("details").all():
            each.evaluate("details => { details.open = true; }")
        expect(page.locator("#receipt")).to_be_visible()
        found = problems(page, "/stall")
    assert not found, "\n".join(found)


@pytest.fixture
def crowd(shop: Shop, admin: requests.Session) -> Iterator[str]:
    """The path of a category with one product more than a device keeps of one; they are not sold any more at the end."""
    place, names = "Hat pins", [f"hat-pin-{number}" for number in range(501)]
    product = {
        "taxonomy": ["Garden", place],
        "keywords": [],
        "brand": "Oak & Co",
        "colours": [],
        "description": "One of very many.",
        "price": {"amount": 650, "currency": "GBP"},
        "delivery": {"amount": 300, "currency": "GBP"},
        "image": "",
        "stock": 2,
    }
    lines = b"\n".join(
        orjson.dumps({**product, "productid": name, "name": f"Hat pin {name}"}) for name in names
    )
    url, headers = f"{shop.urls['products']}/v1/products", {"Content-Type": "application/x-ndjson"}
    assert admin.post(f"{url}/import", lines + b"\n", headers=headers, timeout=120).json()["failed"] == []
    yield place
    for some in (names[:200], names[200:400], names[400:]):
        edit = {"productids": some, "status": "archived"}
        done = admin.post(
            f"{shop.urls['products']}/v1/admin/products/bulk-edit", json=edit, timeout=120
        ).json()
        assert done["changed"] == len(some)


def test_a_device_says_when_a_category_has_more_than_it_keeps(stall: Page, crowd: str) -> None:
    page = stall
    option = page.locator(f"#category option[value='Garden#{crowd}']")
    eventually(lambda: option.count() or (page.reload() and page.wait_for_timeout(1000)))
    setup = page.locator("#setup")
    setup.evaluate("details => { details.open = true; }")
    expect(page.locator("#filled")).not_to_contain_text("The category has more")
    page.get_by_label("Category with what is sold there").select_option(f"Garden#{crowd}")
    page.get_by_role("button", name="Keep it on this device").click()
    expect(page.locator("#said")).to_contain_text("The category has more: choose a smaller one.")
    page.goto(f"/category/Garden/{crowd}")
    page.get_by_role("button", name="Keep it on this device").click()
    expect(page.get_by_role("button", name="Kept on this device: remove")).to_be_enabled()
    page.goto("/offline")
    expect(page.locator("[data-kept]")).to_contain_text(f"{crowd}: only the cheapest products are kept")
