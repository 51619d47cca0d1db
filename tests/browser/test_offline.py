"""The shop without a network: Chromium with its network cut, as a phone in a tunnel."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest
from playwright.sync_api import Page, expect

Visit = Callable[..., Page]


@pytest.fixture
def visit(visit: Visit) -> Visit:
    """Windows with a service worker; what a cut network is to the console is expected."""
    return lambda **options: _with_worker(visit(worker=True, **options))


def _with_worker(page: Page) -> Page:
    page.goto("/")
    wait_for_worker(page)
    return page


def wait_for_worker(page: Page) -> None:
    page.evaluate(
        "() => navigator.serviceWorker.controller || new Promise((done) => navigator.serviceWorker.addEventListener('controllerchange', done, { once: true })).then(() => null)"
    )


@contextmanager
def without_network(page: Page) -> Iterator[None]:
    page.context.set_offline(True)
    try:
        yield
    finally:
        page.context.set_offline(False)


def open_first_product(page: Page) -> str:
    page.goto("/departments")
    page.locator(".sign a").first.click()
    page.locator(".card:has(button) a").first.click()
    page.wait_for_url("**/product/**")
    return page.get_by_role("heading", level=1).inner_text()


def test_pages_that_were_seen_are_shown_with_their_moment_and_others_say_so(visit: Visit) -> None:
    page = visit()
    name = open_first_product(page)
    product = page.url
    with without_network(page):
        page.goto("/departments")
        expect(page.get_by_role("heading", level=1)).to_have_text("All departments")
        expect(page.locator("#kept-note")).to_contain_text("The shop cannot be reached. This page is from")
        page.goto(product)
        expect(page.get_by_role("heading", level=1)).to_have_text(name)
        expect(page.locator("#kept-note")).to_be_visible()
        assert page.locator(".gallery img, .shot img").first.evaluate(
            "image => image.complete && image.naturalWidth > 0"
        )
        assert (
            page.evaluate("getComputedStyle(document.querySelector('.brand')).textDecorationLine") == "none"
        )
        page.goto("/product/never-seen")
        expect(page.get_by_text("This page was never opened on this device")).to_be_visible()
        page.goto("/orders")
        expect(page.get_by_text("The shop cannot be reached. Are you online?")).to_be_visible()
    page.goto(product)
    expect(page.locator("#kept-note")).to_have_count(0)


def test_browsers_may_install_it(visit: Visit) -> None:
    page = visit()
    session = page.context.new_cdp_session(page)
    manifest = session.send("Page.getAppManifest")
    assert (manifest["errors"], manifest["url"].endswith("/manifest.webmanifest")) == ([], True)
    errors = session.send("Page.getInstallabilityErrors")["installabilityErrors"]
    assert [each["errorId"] for each in errors] == ["in-incognito"], "but for the window of the test itself"
