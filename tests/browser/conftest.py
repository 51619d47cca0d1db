"""The sample shop as `make run` starts it, and Debian's Chromium driven by Playwright. Run with `make test-browser`.

CHROMIUM names a browser; otherwise it is Chromium's headless shell where that is installed: the same engine without the browser
around it, which takes less than half of the processor time.
"""

import os
import re
import secrets
import shutil
from collections.abc import Callable, Collection, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import (
    Browser,
    BrowserContext,
    ConsoleMessage,
    Page,
    Playwright,
    WebError,
    expect,
    sync_playwright,
)

from tests.bench.running import ADMIN_EMAIL, Shop, running_shop
from tests.people import PASSWORD

WHOLE_BROWSER, SHELL = "chromium", "chromium-headless-shell"
FLAGS = (
    "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking"
    " --disable-component-update --disable-sync"
).split()
TIMEOUT_MS = 20_000
WITHOUT_NETWORK = ("ERR_INTERNET_DISCONNECTED", "htmx:sendError", "htmx:sendAbort", "htmx:afterRequest")
"""What a cut network is to the console. Of pages with a service worker nothing else is expected but that the shop does not know how far the
device was: the page was left while it was to be told."""
WIDTHS = {360: 740, 1440: 900}
HERE = Path(__file__).parent

expect.set_options(timeout=TIMEOUT_MS)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if HERE in item.path.parents:
            item.add_marker("browser")


@pytest.fixture(scope="session")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shop]:
    """With couriers that take seconds."""
    settings = {
        "SAMPLE_SHOP": "true",
        "SESSION_CHECK_SECONDS": "1",
        "COURIER_DISPATCH_SECONDS": "2",
        "COURIER_DELIVERY_SECONDS": "2",
    }
    with running_shop(tmp_path_factory.mktemp("browser"), **settings) as running:
        log = running.state / "log"
        running.launcher.wait_until(
            lambda: re.search(r"pictures: \d+ stored", log.read_text(errors="replace")) is not None
        )
        yield running


@pytest.fixture(scope="session")
def base(shop: Shop) -> str:
    return shop.urls["storefront"]


@pytest.fixture(scope="session")
def playwright() -> Iterator[Playwright]:
    with sync_playwright() as running:
        yield running


@pytest.fixture(scope="session")
def browser(playwright: Playwright) -> Iterator[Browser]:
    yield from launched(playwright, SHELL, WHOLE_BROWSER)


@pytest.fixture
def whole_browser(playwright: Playwright) -> Iterator[Browser]:
    """For what the engine alone does not do."""
    yield from launched(playwright, WHOLE_BROWSER)


def launched(playwright: Playwright, *names: str) -> Iterator[Browser]:
    """The first of these programs that is installed."""
    program = os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, names)), None)
    if program is None:
        pytest.fail(f"Chromium is not installed: `apt-get install {names[0]}`, or name one in CHROMIUM.")
    running = playwright.chromium.launch(executable_path=program, args=FLAGS)
    yield running
    running.close()


@pytest.fixture
def visit(browser: Browser, base: str) -> Iterator[Callable[..., Page]]:
    """visit(width=360, dark=True, javascript=False, state=..., locale="de-DE", site=..., worker=True, expects=("a status of 409",)) opens a browser
    window of its own and watches the console of all its pages."""
    opened: list[BrowserContext] = []
    complaints: list[str] = []
    expected = [
        "the server responded with a status of 404",
        "the server responded with a status of 422",
        "htmx:sendAbort",
        "Service Worker registration blocked by Playwright",  # most pages are tried without one (`worker=True`)
        "htmx:afterRequest",  # a question given up for a newer one; failures say more than these
    ]

    def open_window(
        *,
        width: int = 1440,
        dark: bool = False,
        javascript: bool = True,
        state: dict | None = None,
        locale: str = "en-GB",
        site: str = base,
        worker: bool = False,
        expects: Collection[str] = (),
    ) -> Page:
        lost_point = f"the server responded with a status of 404 (NOT FOUND) {site}/device/sync/_local/"
        known = (*((*WITHOUT_NETWORK, lost_point) if worker else expected), *expects)
        context = browser.new_context(
            base_url=site,
            viewport={"width": width, "height": WIDTHS[width]},
            java_script_enabled=javascript,
            color_scheme="dark" if dark else "light",
            storage_state=state,
            locale=locale,
            service_workers="allow" if worker else "block",
        )
        context.set_default_timeout(TIMEOUT_MS)
        opened.append(context)

        def hear(words: str, where: str = "") -> None:
            if not any(each in words for each in known):
                complaints.append(f"{words} {where}")

        def hear_message(message: ConsoleMessage) -> None:
            if message.type in ("error", "warning"):
                hear(f"{message.text} {message.location.get('url', '')}")

        def hear_error(error: WebError) -> None:
            where = error.page.url if error.page else "a page that is gone"
            hear(str(error.error), f"at {where}: {getattr(error.error, 'stack', '')}")

        context.on("console", hear_message)
        context.on("weberror", hear_error)
        return context.new_page()

    yield open_window
    for context in opened:
        context.close()
    assert complaints == []


def write_address(page: Page, name: str, line1: str) -> None:
    """Fills in a form for an address in the shop's own country."""
    page.get_by_label("Name", exact=True).fill(name)
    page.get_by_label("Street and number").fill(line1)
    page.get_by_label("Town or city").fill("Leeds")
    page.get_by_label("Postcode").fill("LS1 4DY")


def register(page: Page, name: str = "Ada Lovelace") -> str:
    """From the register page to the log-in, through the e-mail in the mailbox page; the e-mail address."""
    email = f"{secrets.token_hex(6)}@example.com"
    page.goto("/register")
    page.get_by_label("Your name").fill(name)
    page.get_by_label("E-mail").fill(email)
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Create account").click()
    page.get_by_role("link", name="mailbox page").click()
    for _ in range(200):
        if page.locator("article a").count():
            break
        page.reload()
    page.locator("article a").first.click()
    page.get_by_role("button", name="Yes, this is my address").click()
    page.wait_for_url("**/login")  # else the next step may overtake the form
    log_in(page, email, PASSWORD)
    return email


def log_in(page: Page, email: str, password: str) -> None:
    page.goto("/login")
    page.get_by_label("E-mail").fill(email)
    page.get_by_label("Password").fill(password)
    page.locator("main").get_by_role("button", name="Log in").click()
    page.wait_for_url(lambda url: "/login" not in url)


def fill_basket(page: Page) -> None:
    """Puts something that is in stock into the basket, from its own page."""
    page.goto("/departments")
    page.locator(".sign a").first.click()
    page.locator(".card:has(button) a").first.click()
    page.get_by_role("button", name="Add to basket").click()
    page.get_by_role("link", name="Go to the basket").wait_for()


@pytest.fixture(scope="session")
def keeper(browser: Browser, base: str, shop: Shop) -> dict:
    """The shopkeeper's cookies."""
    context = browser.new_context(base_url=base)
    page = context.new_page()
    log_in(page, ADMIN_EMAIL, shop.admin_password)
    state = context.storage_state()
    context.close()
    return state


@pytest.fixture(scope="session")
def customer(browser: Browser, base: str) -> dict:
    """`cookies` of a customer with an address, an `order` (its address) and something in the basket."""
    context = browser.new_context(base_url=base)
    page = context.new_page()
    register(page, "Carla Customer")
    page.goto("/account")
    write_address(page, "Carla Customer", "1 High Street")
    page.get_by_role("button", name="Add it").click()
    page.get_by_text("Address added.").wait_for()
    fill_basket(page)
    page.goto("/checkout")
    page.get_by_role("button", name="Order and pay").click()
    page.wait_for_url("**/orders/*")
    order = page.url
    fill_basket(page)
    state = context.storage_state()
    context.close()
    return {"cookies": state, "order": order}
