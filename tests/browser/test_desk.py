"""The desk as a shopkeeper uses it: pictures chosen and dropped, and looked at in the shop."""

import base64
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

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
