"""A customer chooses a variant and buys it, with and without JavaScript."""

import re
from collections.abc import Callable
from contextlib import suppress

import orjson
import pytest
import requests
from playwright.sync_api import Error as PlaywrightError
from playwright.sync_api import Page, Route, expect

from tests.bench.running import Shop
from tests.browser.conftest import register, write_address
from tests.waiting import eventually

Visit = Callable[..., Page]


@pytest.fixture(scope="module")
def shirt(shop: Shop) -> dict:
    """One of the sample shop's products with sizes and colours."""
    return next(each for each in exported_lines(shop) if len(each.get("options", [])) == 2)


def exported_lines(shop: Shop) -> list[dict]:
    login = {"email": "admin@example.com", "password": shop.admin_password}
    token = requests.post(f"{shop.urls['users']}/v1/sessions", json=login, timeout=30).json()["access_token"]
    headers = {"Authorization": f"Bearer {token}"}
    answer = requests.get(f"{shop.urls['products']}/v1/products/export", headers=headers, timeout=60)
    return [orjson.loads(line) for line in answer.content.splitlines()]


@pytest.mark.parametrize("javascript", [True, False])
def test_a_customer_chooses_size_and_colour_and_buys(visit: Visit, shirt: dict, javascript: bool) -> None:
    page = visit(width=360, javascript=javascript)
    wanted = next(
        each
        for each in shirt["variants"]
        if each["stock"] > 2 and each["options"]["Colour"] != shirt["options"][1]["values"][0]
    )
    size, colour = wanted["options"]["Size"], wanted["options"]["Colour"]
    page.goto(f"/product/{shirt['productid']}")
    expect(page.get_by_text("Choose size and colour")).to_be_visible()
    expect(page.get_by_role("button", name="Add to basket")).to_have_count(0)
    sizes = page.get_by_role("group", name="Size")
    sizes.get_by_role("link", name=size, exact=True).click()
    # A colour's link leads to the size that is shown.
    expect(sizes.locator("[aria-current=true]")).to_contain_text(size)
    page.get_by_role("group", name="Colour").get_by_role("link", name=colour).click()
    page.wait_for_url(f"**/product/{wanted['sku']}")
    chosen = page.locator("[aria-current=true].choice-value")
    expect(chosen.first).to_contain_text(size)
    expect(chosen.last).to_contain_text(colour)  # the address changes a moment before what is shown
    expect(page.locator(".gallery img")).to_have_attribute("src", wanted["picture"])
    page.get_by_role("button", name="Add to basket").click()
    if javascript:
        page.get_by_role("link", name="Go to the basket").click()
    expect(page.get_by_role("heading", name="Your basket")).to_be_visible()
    expect(page.get_by_text(f"Size: {size}, Colour: {colour}")).to_be_visible()
    register(page, "Vita Variant")
    page.goto("/checkout")
    write_address(page, "Vita", "1 Weaver Street")
    page.get_by_label("Test card ending 4242").check()
    page.get_by_role("button", name="Order and pay").click()
    page.wait_for_url("**/orders/*")
    expect(page.get_by_text(f"Size: {size}, Colour: {colour}").first).to_be_visible()


def test_of_two_quick_choices_the_last_is_shown_and_addressed(visit: Visit, shirt: dict) -> None:
    page = visit(width=1440)
    page.goto(f"/product/{shirt['productid']}")
    size = page.get_by_role("group", name="Size").get_by_role("link").last
    colour = page.get_by_role("group", name="Colour").get_by_role("link").last
    first, last = size.get_attribute("href"), colour.get_attribute("href")
    assert first
    assert last
    assert first != last
    held: list[Route] = []
    page.route(f"**{first}", lambda route: held.append(route))
    page.route(f"**{last}", lambda route: held.append(route))
    size.click()
    colour.click()
    eventually(lambda: page.wait_for_timeout(50) or any(last in route.request.url for route in held))
    for route in held:
        with suppress(PlaywrightError):  # one that was given up
            route.continue_()
    page.wait_for_url(f"**{last}")
    expect(page.locator("[aria-current=true].choice-value").last).to_have_attribute("href", last)
    expect(page).to_have_url(re.compile(f"{re.escape(last)}$"))
