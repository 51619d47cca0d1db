"""The desk in German, and in a language that is written from right to left: a shopkeeper's work, and how its pages fit."""

import re
import secrets
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import requests
from playwright.sync_api import Page, expect

from tests.bench.running import ADMIN_EMAIL, Shop
from tests.browser.conftest import WIDTHS
from tests.browser.test_languages import LOCALES
from tests.browser.test_pages import AXE, RULES_OF_STRUCTURE, WIDER, violations
from tests.pictures import png
from tests.services.storefront.conftest import second_storefront
from tests.services.storefront.pseudo import LANGUAGE, in_languages

Visit = Callable[..., Page]
NAME = "Kielzugmantel"
PATHS = (
    "/admin",
    "/admin?by=month",
    "/admin/margin",
    "/admin/stall",
    "/stall",
    "/admin/orders",
    "/admin/products",
    "/admin/products/new",
    "/admin/stock",
    "/admin/categories",
    "/admin/product-types",
    "/admin/search",
    "/admin/search/synonyms",
    "/admin/shipping",
    "/admin/taxes",
    "/admin/promotions",
    "/admin/gift-cards",
    "/admin/settings",
    "/admin/import",
    "/admin/failures",
    "/admin/archive",
    "/admin/staff",
)


@pytest.fixture(scope="module")
def storefront(shop: Shop, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("desk-languages")
    with second_storefront(shop, folder, **in_languages(folder)) as url:
        yield url


@pytest.fixture
def product(shop: Shop) -> Iterator[str]:
    """The id of a product in sizes that the test makes; it is taken out of the shop at the end."""
    made = f"kielzug-{secrets.token_hex(4)}"
    yield made
    login = {"email": ADMIN_EMAIL, "password": shop.admin_password}
    answer = requests.post(f"{shop.urls['users']}/v1/sessions", json=login, timeout=60)
    headers = {"Authorization": f"Bearer {answer.json()['access_token']}"}
    removed = requests.delete(f"{shop.urls['products']}/v1/products/{made}", headers=headers, timeout=60)
    assert removed.status_code in (204, 404), removed.text


def choose_german(page: Page) -> None:
    page.goto("/admin")
    page.get_by_label("Language").last.select_option("de")
    page.get_by_role("button", name="Change the language").click()
    expect(page.locator("html")).to_have_attribute("lang", "de")


def make_product(page: Page, product: str, picture: Path, *, javascript: bool) -> None:
    page.get_by_role("navigation", name="Verwaltung").get_by_role("link", name="Produkte").click()
    page.get_by_role("link", name="Neues Produkt").click()
    page.get_by_label("Produkt-ID").fill(product)
    page.get_by_label("Name", exact=True).fill(NAME)
    page.get_by_label("Kategorie", exact=True).fill("Home#Overcapes")
    page.get_by_label("Preis", exact=True).fill("1.250")
    page.get_by_label("Bilder hinzufügen").set_input_files(picture)
    if javascript:
        expect(page.get_by_text(f"{picture.name} ist hochgeladen.")).to_be_visible()
    page.get_by_role("button", name="Anlegen").click()
    expect(page.get_by_role("alert").first).to_contain_text("Schreiben Sie 1,25 oder 1250,00.")
    page.get_by_label("Preis", exact=True).fill("19,50")
    page.get_by_role("button", name="Anlegen").click()
    expect(page.locator("#notes")).to_contain_text("Angelegt.")
    expect(page.get_by_label("Preis", exact=True)).to_have_value("19,50")


def make_variants(page: Page) -> None:
    page.get_by_role("link", name="In mehreren Größen, Farben").click()
    page.get_by_label("Option 1", exact=True).fill("Größe")
    page.get_by_label("Werte von Option 1", exact=True).fill("S, M")
    page.get_by_role("button", name="Eine Zeile für jede Kombination hinzufügen").click()
    page.get_by_label("Bestand in Zeile 1", exact=True).fill("3")
    page.get_by_label("Preis in Zeile 2", exact=True).fill("21,90")
    page.get_by_label("Bestand in Zeile 2", exact=True).fill("4")
    page.get_by_role("button", name="Speichern").click()
    expect(page.locator("#notes")).to_contain_text("Gespeichert.")
    expect(page.get_by_label("Preis in Zeile 2", exact=True)).to_have_value("21,90")
    page.get_by_role("navigation", name="Navigationspfad").get_by_role("link", name=NAME).click()
    expect(page.get_by_role("row").filter(has_text=re.compile(r"21,90\s£"))).to_have_count(1)


def look_at(page: Page, orderid: str) -> None:
    page.get_by_role("navigation", name="Verwaltung").get_by_role("link", name="Bestellungen").click()
    expect(page.get_by_role("heading", name="Bestellungen", level=1)).to_be_visible()
    page.get_by_label("Bestellnummer").fill(orderid)
    page.get_by_role("button", name="Öffnen").click()
    expect(page.get_by_role("heading", level=1)).to_have_text(
        re.compile(r"^Bestellung vom \d\d\.\d\d\.20\d\d")
    )
    expect(page.locator("main")).to_contain_text(re.compile(r"\d+,\d\d\s[£€]"))
    expect(page.get_by_role("heading", name="Notizen")).to_be_visible()


@pytest.mark.parametrize(("width", "javascript"), [(1440, True), (360, False)])
def test_a_shopkeeper_works_in_german(
    visit: Visit, keeper: dict, customer: dict, product: str, tmp_path: Path, width: int, javascript: bool
) -> None:
    picture = tmp_path / "mantel.png"
    picture.write_bytes(png(90, (90, 60)))
    page = visit(width=width, javascript=javascript, state=keeper)
    choose_german(page)
    make_product(page, product, picture, javascript=javascript)
    make_variants(page)
    look_at(page, customer["order"].rpartition("/")[2])


@pytest.mark.parametrize("language", LOCALES)
def test_pages_of_the_desk_fit_their_window_and_are_accessible(
    visit: Visit, keeper: dict, customer: dict, storefront: str, language: str
) -> None:
    page = visit(width=360, locale=LOCALES[language], site=storefront, state=keeper)
    order = "/admin" + customer["order"][customer["order"].index("/orders/") :]
    page.goto("/admin/products")
    shown = page.locator("a[href^='/admin/products/']:not([href$='/new'])").first.get_attribute("href")
    direction = "rtl" if language == LANGUAGE else "ltr"
    found: list[str] = []
    for path in (*PATHS, order, shown, f"{shown}/variants", f"{shown}/prices"):
        page.goto(path or "")
        assert page.evaluate(
            "[document.documentElement.lang, getComputedStyle(document.body).direction]"
        ) == [
            language,
            direction,
        ]
        page.evaluate(AXE)
        for width in WIDTHS:
            page.set_viewport_size({"width": width, "height": WIDTHS[width]})
            wide = page.evaluate(WIDER)
            found += [f"{path} is {wide} px too wide at {width}"] if wide > 0 else []
            found += [f"{path} at {width}: {problem}" for problem in violations(page, RULES_OF_STRUCTURE)]
    assert not found, "\n".join(found)
