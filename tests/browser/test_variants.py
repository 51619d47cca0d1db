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
    expect(sizes.locator("[aria-current=true]")).to_contain_text(size)
    page.get_by_role("group", name="Colour").get_by_role("link", name=colour).click()
    page.wait_for_url(f"**/product/{wanted['sku']}")
    chosen = page.locator("[aria-current=true].choice-value")
    expect(chosen.first).to_contain_text(size)
    expect(chosen.last).to_contain_text(colour)
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


def test_of_two_quick_choices_of_a_size_the_last_is_shown_and_addressed(visit: Visit, shirt: dict) -> None:
    page = visit(width=1440)
    page.goto(f"/product/{shirt['productid']}")
    sizes = page.get_by_role("group", name="Size").get_by_role("link")
    first, last = sizes.first.get_attribute("href"), sizes.last.get_attribute("href")
    assert first
    assert last
    assert first != last
    held: list[Route] = []
    page.route(f"**{first}", lambda route: held.append(route))
    page.route(f"**{last}", lambda route: held.append(route))
    sizes.first.click()
    sizes.last.click()
    eventually(lambda: page.wait_for_timeout(50) or any(last in route.request.url for route in held))
    for route in held:
        with suppress(PlaywrightError):  # one that was given up
            route.continue_()
    page.wait_for_url(f"**{last}")
    expect(page.locator("[aria-current=true].choice-value").first).to_have_attribute("href", last)
    expect(page).to_have_url(re.compile(f"{re.escape(last)}$"))


def hold_the_first(page: Page) -> list[Route]:
    """The pages of products that were asked for; the first of them waits."""
    asked: list[Route] = []

    def hold(route: Route) -> None:
        asked.append(route)
        if len(asked) > 1:
            route.continue_()

    page.route("**/product/*", hold)
    return asked


@pytest.mark.parametrize("lost", [False, True])
def test_a_colour_chosen_before_the_size_is_shown_joins_it(visit: Visit, shirt: dict, lost: bool) -> None:
    page = visit(width=1440, expects=("net::ERR_FAILED", "htmx:sendError") if lost else ())
    page.goto(f"/product/{shirt['productid']}")
    sizes = page.get_by_role("group", name="Size")
    colours = page.get_by_role("group", name="Colour")
    first_size, first_colour = (option["values"][0] for option in shirt["options"])
    wanted = next(
        each
        for each in shirt["variants"]
        if each["stock"] > 2
        and each["options"]["Size"] != first_size
        and each["options"]["Colour"] != first_colour
    )
    asked = hold_the_first(page)
    sizes.get_by_role("link", name=wanted["options"]["Size"], exact=True).click()
    eventually(lambda: page.wait_for_timeout(50) or asked)
    colours.get_by_role("link", name=wanted["options"]["Colour"]).click()
    page.wait_for_timeout(200)
    assert len(asked) == 1  # the colour waits for the size
    if lost:
        asked[0].abort()
    else:
        asked[0].continue_()
    expect(colours.locator("[aria-current=true]")).to_contain_text(wanted["options"]["Colour"])
    if not lost:
        expect(sizes.locator("[aria-current=true]")).to_contain_text(wanted["options"]["Size"])
        expect(page).to_have_url(re.compile(f"/product/{re.escape(wanted['sku'])}$"))


@pytest.mark.parametrize("lost", [False, True])
def test_who_buys_before_the_size_is_shown_buys_that_size_or_nothing(
    visit: Visit, shirt: dict, lost: bool
) -> None:
    page = visit(width=1440, expects=("net::ERR_FAILED", "htmx:sendError") if lost else ())
    in_stock = [each for each in shirt["variants"] if each["stock"] > 2]
    shown, wanted = next(
        (one, other)
        for one in in_stock
        for other in in_stock
        if one["options"]["Size"] != other["options"]["Size"]
        and one["options"]["Colour"] == other["options"]["Colour"]
    )
    page.goto(f"/product/{shown['sku']}")
    asked = hold_the_first(page)
    page.get_by_role("group", name="Size").get_by_role(
        "link", name=wanted["options"]["Size"], exact=True
    ).click()
    eventually(lambda: page.wait_for_timeout(50) or asked)
    page.get_by_role("button", name="Add to basket").click()
    if lost:
        asked[0].abort()
        expect(page.get_by_text("The shop does not answer")).to_be_visible()
        page.goto("/basket")
        expect(page.get_by_text("Your basket is empty")).to_be_visible()
    else:
        asked[0].continue_()
        page.get_by_role("link", name="Go to the basket").click()
        expect(
            page.get_by_text(f"Size: {wanted['options']['Size']}, Colour: {wanted['options']['Colour']}")
        ).to_be_visible()
