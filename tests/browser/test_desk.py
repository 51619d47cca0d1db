"""The desk as a shopkeeper uses it: pictures, its own header on a phone, what comes out of a printer."""

import base64
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.bench.running import ADMIN_EMAIL, Shop
from tests.browser.conftest import log_in
from tests.pictures import bomb_png, png

Visit = Callable[..., Page]

DROP = """(area, pictures) => {
  const files = new DataTransfer();
  for (const [place, encoded] of pictures.entries()) {
    const bytes = Uint8Array.from(atob(encoded), (letter) => letter.charCodeAt(0));
    files.items.add(new File([bytes], `dropped-${place + 1}.png`, { type: "image/png" }));
  }
  area.dispatchEvent(new DragEvent("drop", { dataTransfer: files, bubbles: true, cancelable: true }));
}"""
LOADED = "image => image.complete && image.naturalWidth > 0"


def fill_product(page: Page, productid: str) -> None:
    page.goto("/admin/products/new")
    page.get_by_label("Product id").fill(productid)
    page.get_by_label("Name", exact=True).fill("A framed thing")
    page.get_by_label("Category").fill("Home#Pictures")
    page.get_by_label("Price", exact=True).fill("5.00")
    page.get_by_label("Stock to begin with").fill("2")


def expect_shown(page: Page, productid: str) -> None:
    """The picture is there for customers, on the product's own page."""
    page.goto(f"/product/{productid}")
    image = page.locator(".product .shot img").first
    expect(image).to_have_attribute("alt", "A framed thing")
    page.wait_for_function(LOADED, arg=image.element_handle())


def chosen_files(folder: Path, *shades: int) -> list[Path]:
    files = [folder / f"photo-{shade}.png" for shade in shades]
    for file, shade in zip(files, shades, strict=True):
        file.write_bytes(png(shade, (900, 600)))
    return files


@pytest.mark.parametrize("javascript", [True, False])
def test_several_pictures_are_chosen_at_once_and_shown(
    visit: Visit, keeper: dict, tmp_path: Path, javascript: bool
) -> None:
    productid = f"chosen-{javascript}".lower()
    page = visit(state=keeper, javascript=javascript)
    fill_product(page, productid)
    page.get_by_label("Add pictures").set_input_files(chosen_files(tmp_path, 60, 61, 62))
    if javascript:
        expect(page.get_by_text("3 pictures are uploaded.")).to_be_visible()
        expect(page.get_by_alt_text("Picture", exact=False)).to_have_count(3)
        for image in page.locator(".picture-row img").all():
            page.wait_for_function(LOADED, arg=image.element_handle())
    page.get_by_role("button", name="Create").click()
    expect(page.locator("#notes")).to_contain_text("Created.")
    expect(page.locator(".picture-row")).to_have_count(3)
    looking = visit(width=360)
    looking.goto(f"/product/{productid}")
    expect_shown(looking, productid)
    expect(looking.locator(".shots .shot")).to_have_count(3)
    assert looking.evaluate("document.documentElement.scrollWidth") <= 360


def test_pictures_are_dropped_put_in_order_and_described(visit: Visit, keeper: dict) -> None:
    page = visit(state=keeper)
    fill_product(page, "dropped")
    pictures = [base64.b64encode(png(shade, (60, 60))).decode() for shade in (70, 71)]
    page.locator(".drop").evaluate(DROP, pictures)
    expect(page.get_by_text("2 pictures are uploaded.")).to_be_visible()
    page.get_by_label("What picture 2 shows").fill("The back")
    before = [image.get_attribute("src") for image in page.locator(".picture-row img").all()]
    page.get_by_role("button", name="Earlier (picture 2)").click()
    page.get_by_role("button", name="Create").click()
    expect(page.locator("#notes")).to_contain_text("Created.")
    after = [image.get_attribute("src") for image in page.locator(".picture-row img").all()]
    assert after == before[::-1]
    looking = visit()
    looking.goto("/product/dropped")
    image = looking.locator(".shots img").first
    expect(image).to_have_attribute("alt", "The back")
    looking.wait_for_function(LOADED, arg=image.element_handle())
    looking.get_by_role("link", name="Show picture 2").click()
    second = looking.locator(".shots img").nth(1)
    expect(second).to_be_in_viewport(ratio=0.6)
    looking.wait_for_function(LOADED, arg=second.element_handle())
    page.get_by_label("Remove picture 1").check()
    page.get_by_role("button", name="Save").click()
    expect(page.locator("#notes")).to_contain_text("Saved.")
    expect_shown(looking, "dropped")


def test_a_picture_that_cannot_be_shown_is_refused_beside_the_good_ones(
    visit: Visit, keeper: dict, tmp_path: Path
) -> None:
    good = chosen_files(tmp_path, 80)
    large, bomb, page_as_picture = (tmp_path / name for name in ("large.png", "bomb.png", "page.jpg"))
    large.write_bytes(png(80) + bytes(5_000_000))
    bomb.write_bytes(bomb_png())
    page_as_picture.write_bytes(b"\xff\xd8\xff<html>")
    page = visit(state=keeper)
    fill_product(page, "refused-beside")
    page.get_by_label("Add pictures").set_input_files([large, *good, bomb, page_as_picture])
    problems = page.get_by_role("alert")
    expect(problems).to_contain_text("large.png: This picture has 5 MB: at most 5 MB are taken.")
    expect(problems).to_contain_text("bomb.png: This picture has too many pixels")
    expect(problems).to_contain_text("page.jpg: This picture is damaged")
    expect(page.get_by_text("photo-80.png is uploaded.")).to_be_visible()
    expect(page.locator(".picture-row")).to_have_count(1)
    page.get_by_role("button", name="Create").click()
    expect(page.locator("#notes")).to_contain_text("Created.")
    expect_shown(visit(), "refused-beside")


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
    file.write_bytes(png(65, (60, 60)) + bytes(300_000))
    page = visit(
        expects=("a status of 401", "a status of 403")
    )  # what the page asks for itself once the session is lost
    log_in(page, ADMIN_EMAIL, shop.admin_password)
    fill_product(page, "lost-session")
    page.get_by_label("Add pictures").set_input_files(file)
    expect(page.get_by_text("photo.png is uploaded.")).to_be_visible()
    page.context.clear_cookies(name="aisle_session")
    page.get_by_role("button", name="Create").click()
    expect(page.get_by_role("heading", name="Log in")).to_be_visible()
    page.get_by_label("E-mail").fill(ADMIN_EMAIL)
    page.get_by_label("Password").fill(shop.admin_password)
    page.locator("main").get_by_role("button", name="Log in").click()
    expect(page.get_by_label("Name", exact=True)).to_have_value("A framed thing")
    expect(page.get_by_alt_text("Picture 1")).to_be_visible()
    page.get_by_role("button", name="Create").click()
    expect(page.locator("#notes")).to_contain_text("Created.")
    expect_shown(visit(), "lost-session")
