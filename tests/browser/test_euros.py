"""A customer buys a variant in euros, with and without JavaScript, and the shopkeeper sees the order in them."""

import re
from collections.abc import Callable

import pypdf
import pytest
from playwright.sync_api import Page, expect

from tests.bench.running import Shop
from tests.browser.conftest import register, write_address
from tests.browser.test_variants import exported_lines

Visit = Callable[..., Page]


@pytest.fixture(scope="module")
def jumper(shop: Shop) -> dict:
    """One of the sample shop's products with sizes and colours whose largest costs more, and is there."""
    return next(
        line
        for line in exported_lines(shop)
        if len(line.get("options", [])) == 2 and "sales" not in line and _largest(line)
    )


def _largest(line: dict) -> dict | None:
    """A variant with a price of its own, in the last colour."""
    return next(
        (
            each
            for each in line["variants"]
            if "prices" in each
            and each["stock"] > 3
            and each["options"]["Colour"] == line["options"][1]["values"][-1]
        ),
        None,
    )


def euros(cents: int) -> str:
    return f"€{cents / 100:.2f}"


def choose_euros(page: Page) -> None:
    page.get_by_label("Prices in").select_option("EUR")
    page.get_by_role("button", name="Change the currency").click()
    expect(page.get_by_label("Prices in")).to_have_value("EUR")


@pytest.mark.parametrize(("width", "javascript"), [(360, True), (1440, False)])
def test_a_customer_buys_a_variant_in_euros(
    visit: Visit, keeper: dict, jumper: dict, width: int, javascript: bool
) -> None:
    page, wanted = visit(width=width, javascript=javascript), _largest(jumper)
    assert wanted is not None
    size, colour = wanted["options"]["Size"], wanted["options"]["Colour"]
    price = euros(wanted["prices"]["EUR"])
    page.goto(f"/product/{jumper['productid']}")
    expect(page.locator(".ticket.large")).to_contain_text("£")
    choose_euros(page)
    expect(page.locator(".ticket.large")).to_have_text(f"from {euros(jumper['prices']['EUR'])}")
    sizes = page.get_by_role("group", name="Size")
    sizes.get_by_role("link", name=size, exact=True).click()
    # A colour's link leads to the size that is shown.
    expect(sizes.locator("[aria-current=true]")).to_contain_text(size)
    page.get_by_role("group", name="Colour").get_by_role("link", name=colour).click()
    page.wait_for_url(f"**/product/{wanted['sku']}")
    expect(page.locator(".ticket.large")).to_have_text(price)
    page.get_by_role("button", name="Add to basket").click()
    if javascript:
        page.get_by_role("link", name="Go to the basket").click()
    expect(page.get_by_role("heading", name="Your basket")).to_be_visible()
    expect(page.get_by_text(f"Size: {size}, Colour: {colour}")).to_be_visible()
    expect(page.locator("main")).to_contain_text(price)
    expect(page.locator("main")).not_to_contain_text("£")
    register(page, "Eva Euro")
    page.goto("/checkout")
    expect(page.locator("main")).not_to_contain_text("£")
    write_address(page, "Eva Euro", "1 Weaver Street")
    page.get_by_label("Test card ending 4242").check()
    page.get_by_role("button", name="Order and pay").click()
    page.wait_for_url("**/orders/*")
    expect(page.get_by_text(f"Size: {size}, Colour: {colour}").first).to_be_visible()
    expect(page.locator("main")).to_contain_text(price)
    expect(page.locator("main")).not_to_contain_text("£")
    order = re.search(r"/orders/([^/?#]+)", page.url)
    assert order is not None
    check_invoice(page, order[1], "Eva Euro", price)
    desk = visit(state=keeper)
    desk.goto(f"/admin/orders/{order[1]}")
    expect(desk.locator("main")).to_contain_text(price)
    expect(desk.locator("main")).to_contain_text(f"Size: {size}, Colour: {colour}")


def check_invoice(page: Page, orderid: str, name: str, total: str) -> None:
    """A click saves the invoice as a file, which says who bought it for how much."""
    page.goto(f"/orders/{orderid}/invoice")
    with page.expect_download() as downloading:
        page.get_by_role("link", name="Download as PDF").click()
    assert re.fullmatch(r"A-\d{4}-\d{6}\.pdf", downloading.value.suggested_filename)
    text = "\n".join(each.extract_text() for each in pypdf.PdfReader(downloading.value.path()).pages)
    assert name in text
    assert total in text


def test_a_sale_says_what_the_price_was(visit: Visit, shop: Shop) -> None:
    line = next(each for each in exported_lines(shop) if "sales" in each and "variants" not in each)
    page = visit(width=360)
    page.goto(f"/product/{line['productid']}")
    choose_euros(page)
    expect(page.locator(".ticket.large")).to_have_text(euros(line["sales"][0]["prices"]["EUR"]))
    expect(page.locator(".priced .was")).to_contain_text(euros(line["prices"]["EUR"]))
