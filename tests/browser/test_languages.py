"""A customer buys in German and euros; pages in German, and in a language that is written from right to left, fit their window."""

import re
from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Page, expect

from tests.bench.running import Shop
from tests.browser.conftest import WIDTHS
from tests.browser.test_pages import AXE, RULES_OF_STRUCTURE, WIDER, violations
from tests.services.storefront.conftest import second_storefront
from tests.services.storefront.pseudo import LANGUAGE, in_languages

Visit = Callable[..., Page]
LOCALES = {"de": "de-DE", LANGUAGE: "ar-EG"}
PATHS = (
    "/",
    "/category/Home",
    "/search?q=mug",
    "/basket",
    "/checkout",
    "/login",
    "/register",
    "/no-such-page",
)


@pytest.fixture(scope="module")
def storefront(shop: Shop, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("languages")
    with second_storefront(shop, folder, **in_languages(folder)) as url:
        yield url


def put_something_in(page: Page) -> None:
    """The first thing that can be bought of the first department, from its own page."""
    page.goto("/departments")
    page.locator(".sign a").first.click()
    page.locator(".card:has(button) a").first.click()
    page.wait_for_url("**/product/*")
    page.locator(".buy-form button").click()


@pytest.mark.parametrize(("width", "javascript"), [(360, True), (1440, False)])
def test_a_customer_buys_in_german_and_euros(visit: Visit, width: int, javascript: bool) -> None:
    page = visit(width=width, javascript=javascript)
    page.goto("/")
    page.get_by_label("Language").last.select_option("de")
    page.get_by_role("button", name="Change the language").click()
    expect(page.locator("html")).to_have_attribute("lang", "de")
    page.get_by_label("Preise in").select_option("EUR")
    page.get_by_role("button", name="Ändern der Währung").click()
    expect(page.get_by_label("Preise in")).to_have_value("EUR")
    put_something_in(page)
    page.get_by_role("link", name="Zum Warenkorb").click() if javascript else page.goto("/basket")
    expect(page.get_by_role("heading", name="Ihr Warenkorb")).to_be_visible()
    expect(page.locator("main")).to_contain_text(re.compile(r"\d+,\d\d\s€"))
    page.get_by_role("link", name="Zur Kasse").click()
    page.get_by_label("E-Mail", exact=True).fill("frieda.fromm@example.com")
    page.get_by_label("Name", exact=True).fill("Frieda Fromm")
    page.get_by_label("Straße und Hausnummer").fill("1 Lindenweg")
    page.get_by_label("Ort", exact=True).fill("Leeds")
    page.get_by_label("Postleitzahl").fill("LS1 4DY")
    page.get_by_label("Testkarte mit Endziffern 4242").check()
    page.get_by_role("button", name="Kostenpflichtig bestellen").click()
    page.wait_for_url("**/orders/*")
    expect(page.get_by_role("heading", name=re.compile(r"Bestellung vom \d+\. \w+ 20\d\d"))).to_be_visible()
    expect(page.locator("main")).not_to_contain_text("£")
    expect(page.get_by_text("Geliefert")).to_be_visible()


@pytest.mark.parametrize("language", LOCALES)
def test_pages_of_a_language_fit_their_window_and_are_accessible(
    visit: Visit, storefront: str, language: str
) -> None:
    page = visit(width=360, locale=LOCALES[language], site=storefront)
    put_something_in(page)
    page.locator("#notes a").wait_for()
    product = page.url.removeprefix(storefront)
    found: list[str] = []
    for path in (*PATHS, product):
        page.goto(path)
        direction = "rtl" if language == LANGUAGE else "ltr"
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


def test_a_script_speaks_the_language_of_the_page(visit: Visit, storefront: str) -> None:
    page = visit(locale="de-DE", site=storefront)
    page.goto("/")
    page.get_by_label("Im Shop suchen").press_sequentially("mug")
    expect(page.locator("#suggestions-status")).to_contain_text("Pfeiltasten")
