"""After the sale in a browser, customer and desk: an order in three parcels, a part cancelled, a part sent back damaged, another size for one."""

import re
from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.bench.running import ADMIN_EMAIL, Shop, running_shop
from tests.browser.conftest import log_in, register, write_address
from tests.people import Person
from tests.services.storefront.conftest import load_goods, product

Visit = Callable[..., Page]
TRACKING = "https://post.example/track/"


@pytest.fixture(scope="module")
def manual(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shop]:
    """A shop whose people dispatch."""
    with running_shop(tmp_path_factory.mktemp("manual"), COURIER="manual") as running:
        load_goods(running)
        yield running


@pytest.fixture(scope="module")
def base(manual: Shop) -> str:
    return manual.urls["storefront"]


@pytest.fixture
def buyer(visit: Visit) -> Page:
    """On the page of a paid order of three red mugs and two blue ones."""
    page = visit()
    register(page, "Carla Customer")
    for productid, pieces in (("mug-red", 3), ("mug-blue", 2)):
        for _ in range(pieces):
            page.goto(f"/product/{productid}")
            page.get_by_role("button", name="Add to basket").click()
            page.get_by_role("link", name=re.compile("Go to the basket|Go to checkout")).first.wait_for()
    page.goto("/checkout")
    write_address(page, "Carla Customer", "1 High Street")
    page.get_by_role("button", name="Order and pay").click()
    page.wait_for_url("**/orders/*")
    return page


@pytest.fixture
def desk(visit: Visit, manual: Shop, buyer: Page) -> Page:
    """The shopkeeper on the same order's page."""
    page = visit()
    log_in(page, ADMIN_EMAIL, manual.admin_password)
    page.goto(f"/admin/orders/{buyer.url.rpartition('/')[2]}")
    return page


def panel(page: Page, name: str) -> Locator:
    return page.locator("section.panel").filter(has=page.get_by_text(name, exact=True))


def send(desk: Page, courierid: str, **pieces: int) -> None:
    """A parcel by hand, with so many of these."""
    form = panel(desk, "Dispatch by hand")
    form.get_by_label("Courier").fill("Post")
    form.get_by_label("Tracking number").fill(courierid)
    form.get_by_label("Tracking link").fill(f"{TRACKING}{courierid}")
    if pieces:
        details = form.locator("details")
        if not details.evaluate("each => each.open"):
            details.locator("summary").click()
        for name, quantity in pieces.items():
            form.get_by_label(re.compile(name, re.IGNORECASE)).fill(str(quantity))
    form.get_by_role("button", name="Mark as dispatched").click()
    expect(desk.get_by_text("Dispatched.")).to_be_visible()


def test_an_order_in_three_parcels(buyer: Page, desk: Page) -> None:
    send(desk, "one", red=1, blue=0)
    expect(buyer.locator("#timeline .tag")).to_have_text("A part is on its way")
    expect(buyer.locator("#order-facts")).to_contain_text("1 × Red Mug")
    link = buyer.get_by_role("link", name="Track this parcel")
    expect(link).to_have_attribute("href", f"{TRACKING}one")
    send(desk, "two", red=0, blue=2)
    send(desk, "three")
    waiting = panel(desk, "Delivered?")
    expect(waiting.get_by_role("button", name="Mark as delivered")).to_have_count(3)
    waiting.get_by_role("button", name="Mark as delivered").nth(1).click()
    expect(buyer.locator("#timeline .tag")).to_have_text("Partly delivered")
    for _ in range(2):
        panel(desk, "Delivered?").get_by_role("button", name="Mark as delivered").first.click()
        expect(desk.get_by_text("Delivered.", exact=True)).to_be_visible()
    expect(buyer.locator("#timeline .tag")).to_have_text("Delivered")
    expect(buyer.locator("#order-facts").get_by_text("arrived on")).to_have_count(3)


def test_a_part_is_cancelled_and_a_part_sent_back_damaged(buyer: Page, desk: Page) -> None:
    cancelling = panel(buyer, "Cancel some items")
    cancelling.locator("summary").click()
    cancelling.get_by_label("Blue Mug").fill("1")
    cancelling.get_by_role("button", name="Cancel selected items").click()
    expect(buyer.get_by_text("This is cancelled")).to_be_visible()
    expect(buyer.locator("#order-facts")).to_contain_text("1 × Blue Mug")
    desk.reload()
    send(desk, "whole")
    panel(desk, "Delivered?").get_by_role("button", name="Mark as delivered").click()
    expect(buyer.locator("#timeline .tag")).to_have_text("Delivered")
    returning = panel(buyer, "Return items")
    returning.locator("summary").click()
    expect(returning.get_by_label("Blue Mug")).to_have_attribute("max", "1")
    returning.get_by_label("Red Mug").fill("2")
    returning.get_by_role("button", name="Request a return").click()
    expect(buyer.get_by_text("Your return is noted.")).to_be_visible()
    desk.reload()
    desk.locator("#return-1").get_by_role("button", name="Approve").click()
    back = desk.locator("#return-1")
    back.get_by_label("Can be sold again").fill("1")
    back.get_by_label("Damaged").fill("1")
    back.get_by_role("button", name="The goods are here").click()
    expect(desk.get_by_text("Received; the money is on its way back.")).to_be_visible()
    buyer.reload()
    expect(buyer.locator("#order-facts")).to_contain_text("1 × Red Mug (damaged)")
    expect(buyer.locator("#order-facts").get_by_text("Refund", exact=True)).to_have_count(2)


def test_a_customer_exchanges_a_size_from_the_first_click_to_the_second_parcel(
    visit: Visit, manual: Shop
) -> None:
    sizes = [{"name": "Size", "values": ["S", "L"]}]
    variants = [{"sku": f"mitten-{size}", "options": {"Size": size}, "stock": 5} for size in ("S", "L")]
    goods = product("mitten", "Garden Mitten", ["Garden"], 800, options=sizes, variants=variants)
    admin = Person(manual.urls["users"], ADMIN_EMAIL, manual.admin_password)
    body = {name: value for name, value in goods.items() if name not in ("stock", "image")}
    admin.post(f"{manual.urls['products']}/v1/products", json=body, timeout=30).raise_for_status()
    page = visit(width=360)
    register(page, "Ella Exchanger")
    page.goto("/product/mitten-S")
    page.get_by_role("button", name="Add to basket").click()
    page.get_by_role("link", name=re.compile("Go to the basket|Go to checkout")).first.wait_for()
    page.goto("/checkout")
    write_address(page, "Ella Exchanger", "1 High Street")
    page.get_by_role("button", name="Order and pay").click()
    page.wait_for_url("**/orders/*")
    desk = visit()
    log_in(desk, ADMIN_EMAIL, manual.admin_password)
    desk.goto(f"/admin/orders/{page.url.rpartition('/')[2]}")
    send(desk, "there")
    panel(desk, "Delivered?").get_by_role("button", name="Mark as delivered").click()
    expect(page.locator("#timeline .tag")).to_have_text("Delivered")

    returning = panel(page, "Return items")
    returning.locator("summary").click()
    returning.get_by_label("Garden Mitten").fill("1")
    returning.get_by_label("Refund or exchange?").select_option("mitten-L")
    returning.get_by_role("button", name="Request a return").click()
    expect(page.locator(".exchange")).to_contain_text("Wanted instead: 1 × mitten-L")
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    desk.reload()
    desk.locator("#return-1").get_by_role("button", name="Approve").click()
    back = desk.locator("#return-1")
    back.get_by_label("Can be sold again").fill("1")
    back.get_by_role("button", name="The goods are here").click()
    desk.get_by_role("link", name="See the new order").click()
    desk.wait_for_url(lambda url: not url.endswith(page.url.rpartition("/")[2]))
    expect(desk.locator("main")).to_contain_text("Return 1 of order")
    send(desk, "again")
    page.reload()
    expect(page.locator(".exchange")).to_contain_text("Sent instead: 1 × Garden Mitten")
    page.get_by_role("link", name="See the new order").click()
    expect(page.locator("#timeline .tag")).to_have_text("On its way")
    expect(page.get_by_role("link", name="Track this parcel")).to_have_attribute("href", f"{TRACKING}again")
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
