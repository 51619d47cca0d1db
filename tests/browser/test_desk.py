"""The desk as a shopkeeper uses it: pictures, its own header on a phone, what comes out of a printer."""

import base64
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.bench.running import ADMIN_EMAIL, Shop
from tests.browser.conftest import log_in
from tests.services.storefront.test_desk_pictures import png

Visit = Callable[..., Page]

DROP = """(area, encoded) => {
  const bytes = Uint8Array.from(atob(encoded), (letter) => letter.charCodeAt(0));
  const files = new DataTransfer();
  files.items.add(new File([bytes], "dropped.png", { type: "image/png" }));
  area.dispatchEvent(new DragEvent("drop", { dataTransfer: files, bubbles: true, cancelable: true }));
}"""
LOADED = "image => image.complete && image.naturalWidth > 0"


def fill_product(page: Page, productid: str) -> None:
    page.goto("/admin/products/new")
    page.get_by_label("Product id").fill(productid)
    page.get_by_label("Name").fill("A framed thing")
    page.get_by_label("Category").fill("Home#Pictures")
    page.get_by_label("Price", exact=True).fill("5.00")
    page.get_by_label("Stock to begin with").fill("2")


def expect_shown(page: Page, productid: str) -> None:
    """The picture is there for customers, on the product's own page."""
    page.goto(f"/product/{productid}")
    image = page.locator(".product .shot img")
    expect(image).to_have_attribute("alt", "A framed thing")
    page.wait_for_function(LOADED, arg=image.element_handle())


@pytest.mark.parametrize("javascript", [True, False])
def test_a_picture_is_chosen_and_shown(visit: Visit, keeper: dict, tmp_path: Path, javascript: bool) -> None:
    file = tmp_path / "photo.png"
    file.write_bytes(png(60))
    productid = f"chosen-{javascript}".lower()
    page = visit(state=keeper, javascript=javascript)
    fill_product(page, productid)
    page.get_by_label("Picture", exact=True).set_input_files(file)
    if javascript:
        expect(page.get_by_alt_text("The picture that was chosen")).to_be_visible()
        expect(page.get_by_text("photo.png is uploaded.")).to_be_visible()
    page.get_by_role("button", name="Create").click()
    expect(page.locator("#notes")).to_contain_text("Created.")
    looking = visit(width=360)
    looking.goto(f"/product/{productid}")
    expect_shown(looking, productid)


def test_a_picture_is_dropped_and_shown(visit: Visit, keeper: dict) -> None:
    page = visit(state=keeper)
    fill_product(page, "dropped")
    page.locator(".drop").evaluate(DROP, base64.b64encode(png(70)).decode())
    expect(page.get_by_alt_text("The picture that was chosen")).to_be_visible()
    page.get_by_role("button", name="Create").click()
    expect(page.locator("#notes")).to_contain_text("Created.")
    expect_shown(visit(), "dropped")


def test_a_picture_that_is_too_large_is_refused_before_it_is_sent(
    visit: Visit, keeper: dict, tmp_path: Path
) -> None:
    file = tmp_path / "large.png"
    file.write_bytes(png(80) + bytes(5_000_000))
    page = visit(state=keeper)
    fill_product(page, "too-large")
    page.get_by_label("Picture", exact=True).set_input_files(file)
    expect(page.get_by_text("This picture has 5 MB: at most 5 MB are taken.")).to_be_visible()
    page.get_by_role("button", name="Create").click()
    expect(page.get_by_label("Name")).to_have_value("A framed thing")
    assert page.url.endswith("/admin/products/new")


def test_the_desk_has_a_header_of_its_own_on_a_phone(visit: Visit, keeper: dict) -> None:
    page = visit(width=360, state=keeper)
    page.goto("/admin/orders")
    header = page.get_by_role("banner")
    expect(header.get_by_role("link", name="Aisle Desk")).to_be_visible()
    expect(header.get_by_role("link", name="To the shop")).to_be_visible()
    expect(page.get_by_role("searchbox")).to_have_count(0)
    expect(page.get_by_role("navigation", name="Departments")).to_have_count(0)
    top = page.get_by_role("heading", name="Orders", exact=True).bounding_box()
    assert top["y"] < 230, "a third of a phone's screen"
    header.get_by_role("link", name="To the shop").click()
    expect(page.get_by_role("navigation", name="Departments")).to_be_visible()


def test_an_order_is_printed_as_a_packing_slip(visit: Visit, keeper: dict, customer: dict) -> None:
    page = visit(state=keeper)
    page.goto("/admin" + customer["order"][customer["order"].index("/orders/") :])
    slip = page.locator(".slip")
    expect(slip).to_be_hidden()
    page.evaluate("window.print = () => { document.body.dataset.printed = 'yes'; }")
    page.get_by_role("button", name="Print a packing slip").click()
    expect(page.locator("body")).to_have_attribute("data-printed", "yes")
    page.emulate_media(media="print", color_scheme="dark")
    expect(slip.get_by_role("heading", name="Packing slip")).to_be_visible()
    expect(slip).to_contain_text("1 High Street")
    expect(slip).to_contain_text("Carla Customer")
    expect(slip.locator("tbody tr").first.locator("td").first).to_have_text("1")
    visible = page.evaluate(
        "[...document.querySelectorAll('nav, header.top, footer, form, button, summary')].filter(each => each.checkVisibility()).length"
    )
    assert visible == 0, "nothing to press is printed"
    assert page.locator("body").evaluate("body => getComputedStyle(body).color") == "rgb(23, 33, 30)"


@pytest.mark.parametrize("path", ["/admin", "/admin/orders", "/admin/products"])
def test_lists_are_printed_without_navigation(visit: Visit, keeper: dict, path: str) -> None:
    page = visit(state=keeper)
    page.goto(path)
    page.emulate_media(media="print")
    for each in page.locator("nav, header.top, footer, form, a.button, [download]").all():
        expect(each).to_be_hidden()
    expect(page.locator("table:visible").first).to_be_visible()


def test_a_session_lost_after_a_picture_was_chosen_loses_neither(
    visit: Visit, keeper: dict, shop: Shop, tmp_path: Path
) -> None:
    file = tmp_path / "photo.png"
    file.write_bytes(png(65) + bytes(300_000))
    page = visit()
    log_in(page, ADMIN_EMAIL, shop.admin_password)
    fill_product(page, "lost-session")
    page.get_by_label("Picture", exact=True).set_input_files(file)
    expect(page.get_by_text("photo.png is uploaded.")).to_be_visible()
    page.context.clear_cookies(name="aisle_session")
    page.get_by_role("button", name="Create").click()
    expect(page.get_by_role("heading", name="Log in")).to_be_visible()
    page.get_by_label("E-mail").fill(ADMIN_EMAIL)
    page.get_by_label("Password").fill(shop.admin_password)
    page.locator("main").get_by_role("button", name="Log in").click()
    expect(page.get_by_label("Name")).to_have_value("A framed thing")
    expect(page.get_by_alt_text("The picture that is shown now")).to_be_visible()
    page.get_by_role("button", name="Create").click()
    expect(page.locator("#notes")).to_contain_text("Created.")
    expect_shown(visit(), "lost-session")
