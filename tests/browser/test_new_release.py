"""A new release of the pages' files while customers have the shop open: its worker replaces the one before, and nothing that waits is lost."""

import os
import re
import shutil
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
import requests
from playwright.sync_api import Page, expect

from tests.bench.running import ROOT, Shop, running_shop
from tests.browser.offline_device import NO_PICTURES, Visit, basket_on, join, orders_of, visit
from tests.services.storefront.conftest import load_goods
from tests.waiting import eventually

__all__ = ["visit"]

STYLES = "services/storefront/static/shop.css"
CACHES = "() => caches.keys()"
RELEASE = re.compile(r"/assets/([0-9a-f]{12})/")


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the shop whose files may change."""
    path = tmp_path_factory.mktemp("checkout")
    for name in ("deploy", "services", "shared"):
        shutil.copytree(ROOT / name, path / name, ignore=shutil.ignore_patterns("__pycache__"))
    return path


@pytest.fixture(scope="module")
def shop(checkout: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shop]:
    with running_shop(tmp_path_factory.mktemp("release"), checkout=checkout) as running:
        load_goods(running)
        yield running


@pytest.fixture(scope="module")
def base(shop: Shop) -> str:
    return shop.urls["storefront"]


def release_of(base: str) -> str:
    """The one that the shop's pages name; "" while it does not answer."""
    try:
        found = RELEASE.search(requests.get(base, timeout=10).text)
    except requests.RequestException:
        return ""
    return found[1] if found else ""


def deploy(shop: Shop, checkout: Path, number: int) -> str:
    """Puts a rule into a style sheet and starts the storefront again: the new release's name."""
    base = shop.urls["storefront"]
    before = release_of(base)
    with (checkout / STYLES).open("a") as styles:
        styles.write(f"\n:root {{ --release: {number}; }}\n")
    for pid in shop.pids("services.storefront"):
        os.kill(pid, signal.SIGTERM)
    return eventually(lambda: (name := release_of(base)) != before and name)


STYLED_BY = "() => getComputedStyle(document.documentElement).getPropertyValue('--release')"


def shells(page: Page) -> list[str]:
    return [name for name in page.evaluate(CACHES) if name.startswith("aisle-shell-")]


def test_a_new_release_replaces_the_worker_and_loses_nothing_that_waits(
    visit: Visit, shop: Shop, checkout: Path, base: str
) -> None:
    expects = (*NO_PICTURES, "ERR_CONNECTION")  # of a storefront that starts again
    page, other = visit(expects=expects), visit(expects=expects)
    join(page)
    page.goto("/product/spade")
    page.get_by_role("button", name="Add to basket").click()
    page.get_by_role("link", name="Go to the basket").click()
    eventually(lambda: basket_on(page) == {"spade": 1})
    page.goto("/offline")
    expect(page.locator("[data-total]")).to_contain_text("Expected total: £")
    first = release_of(base)
    assert shells(page) == [f"aisle-shell-{first}-en"]
    page.context.set_offline(True)
    page.get_by_role("button", name="Order when the shop can be reached").click()
    expect(page.locator("#waiting li")).to_contain_text("Waits for the shop.")
    second = deploy(shop, checkout, 2)
    assert second != first
    page.goto("/departments")
    expect(page.locator("#waiting-note")).to_contain_text("An order waits on this device")
    page.context.set_offline(False)
    tab = page.context.new_page()
    tab.goto("/")  # any page that the shop answers brings the new worker
    assert tab.evaluate(STYLED_BY) == "2", "its own files, while the worker of the first release answers"
    note = page.locator("#release-note")
    expect(note).to_contain_text("The shop has a new version: load this page again.")
    expect(tab.locator("#release-note")).to_have_count(0)
    note.get_by_role("button").click()
    expect(note).to_have_count(0)
    assert RELEASE.search(page.content())[1] == second
    eventually(lambda: shells(page) == [f"aisle-shell-{second}-en"])
    page.goto("/offline")
    expect(page.locator("#waiting li[data-state=placed]")).to_have_count(1)
    assert orders_of(page) == 1
    other.context.set_offline(True)
    third = deploy(shop, checkout, 3)
    other.goto("/departments")
    expect(other.locator("h1")).to_be_visible()
    assert shells(other) == [f"aisle-shell-{first}-en"], "it works on as it is"
    other.context.set_offline(False)
    other.goto("/")
    eventually(lambda: shells(other) == [f"aisle-shell-{third}-en"])
    expect(other.locator("#release-note")).to_have_count(0)
