"""From the front door to a delivered order, and through the shopkeeper's desk, as people do it."""

import re
from collections.abc import Callable
from pathlib import Path

import orjson
import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import WIDTHS, fill_basket, register, write_address

Visit = Callable[..., Page]


@pytest.mark.parametrize("width", WIDTHS)
def test_from_register_to_delivered(visit: Visit, width: int) -> None:
    page = visit(width=width)
    page.goto("/")
    fill_basket(page)
    page.get_by_role("link", name="Go to the basket").click()
    expect(page.get_by_role("heading", name="Your basket")).to_be_visible()
    register(page)
    page.goto("/basket")
    page.get_by_role("link", name="Go to checkout").click()
    write_address(page, "Ada", "12 Analytical Lane")
    page.get_by_label("Test card ending 4242").check()
    page.get_by_role("button", name="Order and pay").click()
    page.wait_for_url("**/orders/*")
    expect(page.get_by_text("Your order is placed")).to_be_visible()
    loads: list[str] = []
    page.on("load", lambda loaded: loads.append(loaded.url))
    expect(page.locator("#timeline .tag")).to_have_text("Delivered", timeout=60_000)
    expect(page.locator(".timeline .done")).to_have_count(4)
    assert loads == [], "the timeline moves on without loading the page again"
    expect(page.get_by_role("button", name="Cancel this order")).to_have_count(0)
    expect(page.get_by_text("Return items")).to_be_visible()
    expect(page.locator("#order-facts")).to_contain_text("Courier")
    expect(page.locator("#timeline")).not_to_have_attribute("hx-trigger", re.compile("."))
    page.goto("/orders")
    expect(page.locator(".order-row").first).to_contain_text("Delivered")


def test_the_whole_way_without_javascript(visit: Visit) -> None:
    page = visit(width=360, javascript=False)
    page.goto("/departments")
    page.locator(".sign a").first.click()
    page.locator(".card:has(button) a").first.click()
    page.get_by_role("button", name="Add to basket").click()
    expect(page.get_by_role("heading", name="Your basket")).to_be_visible()
    page.get_by_label("How many of").fill("2")
    page.get_by_role("button", name="Update").click()
    expect(page.get_by_label("How many of")).to_have_value("2")
    register(page, "Grace Hopper")
    page.goto("/checkout")
    write_address(page, "Grace", "Pier 1")
    page.get_by_role("button", name="Order and pay").click()
    page.wait_for_url("**/orders/*")
    # Without JavaScript the page asks to be loaded again every five seconds until the parcel is there.
    expect(page.locator("#timeline .tag")).to_have_text("Delivered", timeout=60_000)
    assert page.locator("noscript meta[http-equiv=refresh]").count() == 0
    page.goto("/account")
    page.get_by_role("button", name="Log out").click()
    expect(page.locator(".me").get_by_text("Log in")).to_be_attached()


def test_an_impatient_double_click_sends_a_form_once(visit: Visit) -> None:
    """CallCounts as the browser asks the scripts of a page before it sends a form."""
    page = visit()
    page.goto("/register")
    asked_twice = """form => [1, 2].map(() => form.dispatchEvent(new SubmitEvent("submit", { bubbles: true, cancelable: true })))"""
    assert page.locator("form[action='/register']").evaluate(asked_twice) == [True, False]
    page.reload()
    assert page.locator("form[action='/register']").evaluate(asked_twice) == [True, False]


def test_suggestions_by_keyboard(visit: Visit) -> None:
    page = visit()
    page.goto("/")
    search = page.get_by_role("combobox", name="Search the shop")
    search.press_sequentially("mug", delay=30)
    expect(page.get_by_role("listbox", name="Suggestions").get_by_role("option").first).to_be_visible()
    expect(search).to_have_attribute("aria-expanded", "true")
    search.press("ArrowDown")
    chosen = page.locator("#suggestions [aria-selected=true]")
    expect(chosen).to_have_count(1)
    expect(search).to_have_attribute("aria-activedescendant", chosen.get_attribute("id"))
    expect(page.locator("#suggestions-status")).to_contain_text("suggestion")
    search.press("Escape")
    expect(page.locator("#suggestions")).to_be_hidden()
    expect(page.locator("#suggestions-status")).to_be_empty()
    expect(search).not_to_have_attribute("aria-activedescendant", re.compile(".*"))
    search.press("ArrowDown")
    expect(page.locator("#suggestions")).to_be_visible()
    search.press("Escape")
    search.press("Enter")
    page.wait_for_url("**/search?q=mug")


def test_suggestions_by_mouse_and_when_the_shop_is_silent(visit: Visit) -> None:
    page = visit()
    page.goto("/")
    search = page.get_by_role("combobox", name="Search the shop")
    search.press_sequentially("mug", delay=30)
    page.get_by_role("listbox", name="Suggestions").get_by_role("option").first.click()
    page.wait_for_url(lambda url: not url.endswith("/"))
    page.goto("/")
    page.route("**/suggest?*", lambda route: route.abort())
    search.press_sequentially("cup", delay=30)
    search.press("Enter")
    page.wait_for_url("**/search?q=cup")


def test_adding_from_a_list_stays_on_the_page_and_counts(visit: Visit) -> None:
    page = visit(width=360)
    page.goto("/departments")
    page.locator(".sign a").first.click()
    address = page.url
    page.locator(".card button").first.click()
    expect(page.locator("#notes")).to_contain_text("is in your basket")
    expect(page.locator("#basket-count")).to_contain_text("1")
    page.locator(".card button").nth(1).click()
    expect(page.locator("#basket-count")).to_contain_text("2")
    assert page.url == address


def test_filters_change_the_list_and_the_address(visit: Visit) -> None:
    page = visit()
    page.goto("/departments")
    page.locator(".sign a").first.click()
    brand = page.locator(".filters input[name=brand]:not([value=''])").first
    value = brand.get_attribute("value")
    brand.check()
    page.wait_for_url(re.compile("brand="))
    expect(page.locator(".card .brand-name").first).to_have_text(value)
    assert set(page.locator(".card .brand-name").all_inner_texts()) == {value}
    page.get_by_label("Sort by").select_option("-price")
    page.wait_for_url(re.compile("sort=-price"))
    assert "brand=" in page.url
    prices = [
        float(text.strip("£").replace(",", "")) for text in page.locator(".card .ticket").all_inner_texts()
    ]
    assert prices == sorted(prices, reverse=True)
    page.go_back()
    page.wait_for_url(lambda url: "sort=-price" not in url)


def test_a_filter_keeps_the_sort_chosen_before_it(visit: Visit) -> None:
    page = visit()
    page.goto("/search")
    page.get_by_label("Sort by").select_option("-price")
    page.wait_for_url(re.compile("sort=-price"))
    page.locator(".filters input[name=brand]:not([value=''])").first.check()
    page.wait_for_url(re.compile("brand=[^&]"))
    assert "sort=-price" in page.url
    expect(page.get_by_label("Sort by")).to_have_value("-price")
    expect(page.locator("#bands a").first).to_have_attribute("href", re.compile("brand=.*sort=-price"))
    page.get_by_role("link", name="Clear").click()
    page.wait_for_url(lambda url: "brand=" not in url)
    assert "sort=-price" in page.url


def test_a_filter_counts_the_others_anew_and_more_of_it_can_be_chosen(visit: Visit) -> None:
    page = visit()
    page.goto("/search")
    brands = page.locator("#facet-brand .pick").all_inner_texts()
    everything = page.locator("#facet-colour").inner_text()
    for number in range(2):
        page.locator("#facet-brand input").nth(number).check()
        expect(page.locator("#results input[name=brand]")).to_have_count(number + 1)
        assert page.locator("#facet-brand .pick").all_inner_texts() == brands
        expect(page.locator("#facet-brand input").nth(number)).to_be_focused()
    counted = page.locator("#facet-colour").inner_text()
    assert counted != everything
    fresh = visit()
    fresh.goto(page.url)
    assert fresh.locator("#facet-colour").inner_text() == counted
    assert sorted(fresh.locator("#facet-brand .pick").all_inner_texts()) == sorted(brands)
    page.locator("#facet-brand input").first.uncheck()
    expect(page.locator("#results input[name=brand]")).to_have_count(1)


def test_two_filters_chosen_at_once_both_count(visit: Visit) -> None:
    page = visit()
    page.goto("/search")
    page.evaluate("""() => {
        document.querySelector("#facet-brand input:not([value=''])").click();
        document.querySelector("#facet-colour input:not([value=''])").click();
    }""")
    page.wait_for_url(re.compile("brand=[^&].*colour=[^&]"))
    expect(page.locator("#facet-brand input:checked")).to_have_count(1)
    expect(page.locator("#facet-colour input:checked")).to_have_count(1)


def test_the_basket_updates_itself(visit: Visit) -> None:
    page = visit()
    page.goto("/")
    fill_basket(page)
    page.goto("/basket")
    expect(page.get_by_role("button", name="Update")).to_be_hidden()
    page.get_by_label("How many of").fill("3")
    page.get_by_label("How many of").press("Tab")
    expect(page.locator("#basket-count")).to_contain_text("3")
    page.get_by_role("button", name="Remove").click()
    expect(page.get_by_role("heading", name="Your basket is empty")).to_be_visible()


def test_the_first_tab_leads_past_the_navigation(visit: Visit) -> None:
    page = visit()
    page.goto("/")
    page.keyboard.press("Tab")
    skip = page.get_by_role("link", name="Skip to content")
    expect(skip).to_be_focused()
    skip.press("Enter")
    expect(page.locator("main")).to_be_focused()


def test_the_desk_shows_sales_and_follows_the_mouse(visit: Visit, keeper: dict, customer: dict) -> None:
    page = visit(state=keeper)
    page.goto("/admin")
    expect(page.get_by_role("img", name="Bar chart of sales by day")).to_be_visible()
    point = page.locator(".chart .point:has(.net)").last
    tip = point.locator(".tip")
    expect(tip).to_be_hidden()
    point.locator(".hit").hover(force=True)
    expect(tip).to_be_visible()
    expect(tip).to_contain_text("net")
    page.get_by_label("By", exact=True).select_option("month")
    page.get_by_role("button", name="Show").click()
    expect(page.get_by_role("heading", name="Sales by month")).to_be_visible()
    page.get_by_text("The numbers as a table").click()
    expect(page.get_by_role("row", name="Total")).to_be_visible()
    with page.expect_download() as download:
        page.get_by_role("link", name="CSV").first.click()
    assert Path(download.value.path()).read_text().startswith("period,")


def test_the_desk_refunds_and_edits(visit: Visit, keeper: dict, customer: dict) -> None:
    page = visit(state=keeper)
    page.goto("/admin/orders")
    page.get_by_label("Order number").fill(customer["order"].rsplit("/", 1)[1])
    page.get_by_role("button", name="Open").click()
    page.get_by_text("Refund", exact=True).click()
    page.get_by_label("Amount").fill("0,50")
    page.locator("#refund-reason").fill("A scratch")
    page.get_by_role("button", name="Refund").click()
    expect(page.get_by_text("Write 0.50, without a comma.", exact=True)).to_be_visible()
    expect(page.locator("#refund-reason")).to_have_value("A scratch")
    page.get_by_label("Amount").fill("0.50")
    page.get_by_role("button", name="Refund").click()
    expect(page.get_by_role("heading", name="Refund £0.50?")).to_be_visible()
    page.get_by_role("button", name="Refund £0.50").click()
    expect(page.locator("#notes")).to_contain_text("Refunded.")
    expect(page.get_by_role("definition").filter(has_text="A scratch")).to_contain_text("£0.50")
    page.goto("/admin/products")
    page.locator("tbody a").first.click()
    page.get_by_label("Price", exact=True).fill("12,34")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_text("Write 12.34, without a comma.", exact=True)).to_be_visible()
    page.get_by_label("Price", exact=True).fill("12.34")
    page.get_by_role("button", name="Save").click()
    expect(page.locator("#notes")).to_contain_text("Saved.")
    page.get_by_label("Add or take away").fill("5")
    page.get_by_label("Why").fill("Delivery")
    page.get_by_role("button", name="Change the stock").click()
    expect(page.locator("#notes")).to_contain_text("Stock changed.")
    page.get_by_role("link", name="See its page").click()
    expect(page.locator(".ticket.large")).to_have_text("£12.34")


def test_an_import_shows_how_far_it_is(visit: Visit, keeper: dict, tmp_path: Path) -> None:
    goods = [
        {
            "productid": f"bulk-{number:04d}",
            "name": f"Bulk é {number}",
            "taxonomy": ["Bulk"],
            "price": {"amount": 100, "currency": "GBP"},
            "stock": 1,
        }
        for number in range(1200)
    ]
    lines = [orjson.dumps(each) for each in goods]
    lines[700] = b"{broken"
    file = tmp_path / "goods.ndjson"
    file.write_bytes(b"\n".join(lines) + b"\n")
    page = visit(state=keeper)
    page.goto("/admin/import")
    pieces: list[str] = []
    page.on("request", lambda request: pieces.append(request.url) if request.url.endswith("/piece") else None)
    page.get_by_label("File", exact=True).set_input_files(file)
    page.get_by_role("button", name="Import").click()
    expect(page.locator("#notes")).to_contain_text("The import is finished", timeout=60_000)
    assert len(pieces) == 3
    expect(page.locator("#import-created")).to_have_text("1,199")
    expect(page.locator("#import-behind")).to_be_hidden()
    expect(page.locator("#import-refused")).to_have_text("1")
    expect(page.locator("#import-failures tbody td").first).to_have_text("701")
    assert page.locator("#import-bar").evaluate("bar => bar.value") == 1
