"""Customers at the desk in a browser, on a phone too: found, noted on, handed their data, erased; and those of another shop imported."""

import json
import secrets
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.bench.running import Shop
from tests.browser.conftest import register

Visit = Callable[..., Page]


def fits(page: Page, width: int) -> bool:
    return bool(page.evaluate("document.documentElement.scrollWidth") <= width)


@pytest.mark.parametrize("width", [360, 1440])
def test_a_customer_is_found_noted_on_exported_and_erased(
    visit: Visit, keeper: dict, shop: Shop, width: int
) -> None:
    name = f"Cleo {secrets.token_hex(4)}"
    email = register(visit(width=width), name)
    page = visit(state=keeper, width=width)
    page.goto("/admin/customers")
    page.get_by_label("Name, e-mail or id").fill(name.split()[1])
    page.get_by_role("button", name="Show", exact=True).click()
    assert fits(page, width)
    page.get_by_role("link", name=name).click()
    expect(page.get_by_role("heading", level=1, name=name)).to_be_visible()
    expect(page.locator("main")).to_contain_text(email)
    page.locator("#note-text").fill("Likes tea.")
    page.get_by_role("button", name="Add the note").click()
    expect(page.locator("main")).to_contain_text("Likes tea.")
    assert fits(page, width)
    with page.expect_download() as download:
        page.get_by_role("button", name="Hand it out as a file").click()
    assert json.loads(Path(download.value.path()).read_text())["profile"]["email"] == email
    page.get_by_role("link", name="Erase this customer").click()
    page.get_by_label("Your own password").fill("not the password")
    page.get_by_role("button", name="Erase for good").click()
    expect(page.get_by_role("heading", level=1, name="Erase this customer?")).to_be_visible()
    page.get_by_label("Your own password").fill(shop.admin_password)
    page.get_by_role("button", name="Erase for good").click()
    expect(page.get_by_text("The customer is erased.")).to_be_visible()
    expect(page.locator("main")).not_to_contain_text(email)
    assert fits(page, width)


@pytest.mark.parametrize("javascript", [True, False])
def test_customers_of_another_shop_are_imported(visit: Visit, keeper: dict, javascript: bool) -> None:
    mark = secrets.token_hex(4)
    page = visit(state=keeper, width=360, javascript=javascript)
    page.goto("/admin/customers")
    page.get_by_role("link", name="Import customers").click()
    rows = [f"{mark}.{number}@example.com,Moved {mark}" for number in range(120)]
    content = "\n".join(["email,name", *rows, "nobody,Nobody"])
    file = {"name": "customers.csv", "mimeType": "text/csv", "buffer": content.encode()}
    page.get_by_label("File", exact=True).set_input_files(file)
    page.get_by_role("button", name="Import", exact=True).click()
    expect(page.get_by_role("heading", name="Result")).to_be_visible()
    for words, number in (("Created", "120"), ("Without a password", "120"), ("Refused", "1")):
        expect(page.locator(".tile").filter(has_text=words)).to_contain_text(number)
    expect(page.get_by_role("table")).to_contain_text("122")
    assert fits(page, 360)
