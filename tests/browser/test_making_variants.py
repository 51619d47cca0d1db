"""A shopkeeper makes a product in sizes and colours at the desk, and a visitor chooses one of them in euros and in German."""

import re
import secrets
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import requests
from playwright.sync_api import Page, expect

from tests.bench.running import ADMIN_EMAIL, Shop
from tests.browser.test_euros import choose_euros
from tests.pictures import png
from tests.waiting import eventually

Visit = Callable[..., Page]
NAME, GERMAN_NAME = "Quilldraught overcape", "Kielzugumhang"
LABELS = "Size = Größe\nColour = Farbe\nOchre = Ocker\nTeal = Petrol"
STOCKS = {1: "3", 2: "4", 3: "0", 4: "5", 6: "0"}
"""By row: S, M and L, each in ochre and in teal. There is no L in ochre; the M in ochre and the L in teal are sold out."""


@pytest.fixture
def productid(shop: Shop) -> Iterator[str]:
    """Of a product that is taken out of the shop at the end."""
    made = f"quilldraught-{secrets.token_hex(4)}"
    yield made
    login = {"email": ADMIN_EMAIL, "password": shop.admin_password}
    answer = requests.post(f"{shop.urls['users']}/v1/sessions", json=login, timeout=60)
    headers = {"Authorization": f"Bearer {answer.json()['access_token']}"}
    removed = requests.delete(f"{shop.urls['products']}/v1/products/{made}", headers=headers, timeout=60)
    assert removed.status_code in (204, 404), removed.text


def make_draft(page: Page, productid: str, picture: Path, *, javascript: bool) -> None:
    page.goto("/admin/products")
    page.get_by_role("link", name="New product").click()
    page.get_by_label("Product id").fill(productid)
    page.get_by_label("Name", exact=True).fill(NAME)
    page.get_by_label("Category", exact=True).fill("Home#Overcapes")
    page.get_by_label("Price", exact=True).fill("19.00")
    page.get_by_text("Other currencies, groups, sales and cost").click()
    page.get_by_label("Prices in other currencies").fill("EUR 22.50")
    page.get_by_label("Status").select_option(label="Draft: only staff see it")
    page.get_by_label("Add pictures").set_input_files(picture)
    if javascript:
        expect(page.get_by_text(f"{picture.name} is uploaded.")).to_be_visible()
    page.get_by_role("button", name="Create").click()
    expect(page.locator("#notes")).to_contain_text("Created.")


def make_variants(page: Page, productid: str) -> None:
    """A row for each combination but one, which is taken out again; one has prices of its own."""
    page.get_by_role("link", name="Sell it in several sizes, colours").click()
    page.get_by_label("Option 1", exact=True).fill("Size")
    page.get_by_label("Values of option 1").fill("S, M, L")
    page.get_by_label("Option 2", exact=True).fill("Colour")
    page.get_by_label("Values of option 2").fill("Ochre, Teal")
    page.get_by_role("button", name="Add a row for each combination").click()
    for row, sku in {1: "S-Ochre", 3: "M-Ochre", 5: "L-Ochre", 6: "L-Teal"}.items():
        expect(page.get_by_label(f"SKU of row {row}", exact=True)).to_have_value(f"{productid}-{sku}")
    for row, stock in STOCKS.items():
        page.get_by_label(f"Stock of row {row}", exact=True).fill(stock)
    page.get_by_label("SKU of row 4", exact=True).fill(f"{productid}-medium-teal")
    page.get_by_label("Price of row 4", exact=True).fill("21.00")
    page.get_by_label("Prices in other currencies of row 4", exact=True).fill("EUR 24.90")
    page.get_by_label("Remove row 5", exact=True).check()
    page.get_by_role("button", name="Save").click()
    expect(page.locator("#notes")).to_contain_text("Saved.")


def publish_in_german_too(page: Page, productid: str) -> None:
    page.get_by_role("navigation", name="Breadcrumb").get_by_role("link", name=NAME).click()
    shown = page.get_by_role("row").filter(has_text=f"{productid}-medium-teal")
    expect(shown).to_contain_text("M, Teal")
    expect(shown).to_contain_text("£21.00")
    expect(page.get_by_role("row").filter(has_text=f"{productid}-L-")).to_have_count(1)
    page.get_by_text("In Deutsch").click()
    page.get_by_label("Name (de)").fill(GERMAN_NAME)
    page.get_by_label("Options, colours and values (de)").fill(LABELS)
    page.get_by_label("Status").select_option(label="Active: the shop shows it")
    page.get_by_role("button", name="Save").click()
    expect(page.locator("#notes")).to_contain_text("Saved.")


def choose_german(page: Page) -> None:
    page.get_by_label("Language").last.select_option("de")
    page.get_by_role("button", name="Change the language").click()
    expect(page.locator("html")).to_have_attribute("lang", "de")


def choose_in_german(page: Page, productid: str) -> None:
    """From the product's page to its M in teal; what is sold out cannot be chosen on the way."""
    price, sizes = page.locator(".ticket.large"), page.get_by_role("group", name="Größe")
    expect(page.get_by_role("heading", name=GERMAN_NAME)).to_be_visible()
    expect(page.locator("main")).not_to_contain_text(NAME)
    expect(price).to_have_text(re.compile(r"^ab 22,50\s€$"))
    expect(page.get_by_role("button", name="In den Warenkorb")).to_have_count(0)
    sizes.get_by_role("link", name="S", exact=True).click()
    page.wait_for_url(f"**/product/{productid}-S-Ochre")
    expect(price).to_have_text(re.compile(r"^22,50\s€$"))
    expect(sizes.get_by_text("L (ausverkauft)")).to_be_visible()
    expect(sizes.get_by_role("link")).to_have_text(["S (gewählt)", "M (Petrol)"])
    expect(page.locator(f".options a[href$='{productid}-M-Ochre']")).to_have_count(0)
    page.get_by_role("group", name="Farbe").get_by_role("link", name="Petrol").click()
    page.wait_for_url(f"**/product/{productid}-S-Teal")
    sizes.get_by_role("link", name="M", exact=True).click()
    page.wait_for_url(f"**/product/{productid}-medium-teal")
    expect(price).to_have_text(re.compile(r"^24,90\s€$"))


def expect_sold_out(page: Page, sku: str) -> None:
    """Whoever has the address of a variant that is sold out reads so, and cannot buy it."""
    page.goto(f"/product/{sku}")
    expect(page.get_by_role("heading", name=GERMAN_NAME)).to_be_visible()
    expect(page.get_by_text("Das ist im Augenblick ausverkauft.")).to_be_visible()
    expect(page.get_by_role("button", name="In den Warenkorb")).to_have_count(0)


@pytest.mark.parametrize(("width", "javascript"), [(1440, True), (360, False)])
def test_a_shopkeeper_makes_variants_and_a_visitor_chooses_one(
    visit: Visit, keeper: dict, productid: str, tmp_path: Path, width: int, javascript: bool
) -> None:
    picture = tmp_path / "overcape.png"
    picture.write_bytes(png(90, (90, 60)))
    desk = visit(width=width, javascript=javascript, state=keeper)
    page = visit(width=width, javascript=javascript)
    make_draft(desk, productid, picture, javascript=javascript)
    make_variants(desk, productid)
    page.goto(f"/product/{productid}")
    expect(page.get_by_role("heading", name="Not found")).to_be_visible()
    publish_in_german_too(desk, productid)

    def is_published() -> bool:
        answer = page.goto(f"/product/{productid}")
        return answer is not None and answer.ok

    eventually(is_published)
    expect(page.get_by_role("heading", name=NAME)).to_be_visible()
    image = page.locator(".product .shot img")
    expect(image).to_be_visible()
    source = page.request.get(image.get_attribute("src") or "")
    assert source.headers["content-type"].startswith("image/")
    expect(page.locator(".ticket.large")).to_have_text("from £19.00")
    choose_euros(page)
    expect(page.locator(".ticket.large")).to_have_text("from €22.50")
    choose_german(page)
    choose_in_german(page, productid)
    page.get_by_role("button", name="In den Warenkorb").click()
    if javascript:
        page.get_by_role("link", name="Zum Warenkorb").click()
    expect(page.get_by_role("heading", name="Ihr Warenkorb")).to_be_visible()
    line = page.locator(".line")
    expect(line).to_contain_text(GERMAN_NAME)
    expect(line).to_contain_text("Größe: M, Farbe: Petrol")
    expect(line.locator(".sum")).to_have_text(re.compile(r"^24,90\s€$"))
    expect(page.locator("main")).not_to_contain_text("£")
    expect_sold_out(page, f"{productid}-M-Ochre")
