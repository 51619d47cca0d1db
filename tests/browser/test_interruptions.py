"""What interrupts a purchase: a session that ends, a second window, the back button, a wrong quantity, a slow shop."""

import re
import time
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, Route, expect

from tests.browser.conftest import WIDTHS, fill_basket, register, write_address
from tests.people import PASSWORD

Visit = Callable[..., Page]


def write_new_address(page: Page, name: str, line1: str) -> None:
    new = page.get_by_label("A new address")
    if new.count():
        new.check()
    write_address(page, name, line1)


def log_out_in_another_window(page: Page) -> None:
    other = page.context.new_page()
    other.goto("/account")
    other.get_by_role("button", name="Log out").click()
    other.wait_for_url(re.compile("/$"))
    other.close()


@pytest.mark.parametrize(("width", "javascript"), [(360, True), (1440, True), (360, False)])
def test_a_session_lost_at_checkout_loses_nothing(visit: Visit, width: int, javascript: bool) -> None:
    page = visit(width=width, javascript=javascript)
    email = register(page, "Lotte Lost")
    page.goto("/departments")
    page.locator(".sign a").first.click()
    page.locator(".card:has(button) a").first.click()
    name = page.get_by_role("heading", level=1).inner_text()
    page.get_by_role("button", name="Add to basket").click()
    page.get_by_role("link", name="Go to the basket").wait_for() if javascript else None
    page.goto("/checkout")
    write_new_address(page, "Lake house", "7 Shore Road")
    log_out_in_another_window(page)
    page.get_by_role("button", name="Order and pay").click()
    page.wait_for_url("**/login?**")
    expect(page.locator("#notes")).to_contain_text("nothing has been sent")
    page.get_by_label("E-mail").fill(email)
    page.get_by_label("Password").fill(PASSWORD)
    page.locator("main").get_by_role("button", name="Log in").click()
    page.wait_for_url("**/checkout?**")
    expect(page.locator("#notes")).to_contain_text("Nothing has been sent yet")
    expect(page.get_by_label("Name", exact=True)).to_have_value("Lake house")
    expect(page.get_by_label("Street and number")).to_have_value("7 Shore Road")
    expect(page.locator("table")).to_contain_text(name)
    assert page.locator("input[name=card]:checked").count() == 0, "payment data is not kept"
    page.get_by_label("Test card ending 4242").check()
    page.get_by_role("button", name="Order and pay").click()
    page.wait_for_url("**/orders/*")
    expect(page.get_by_text("7 Shore Road")).to_be_visible()


@pytest.mark.parametrize("width", WIDTHS)
def test_one_basket_in_two_windows_is_bought_once(visit: Visit, customer: dict, width: int) -> None:
    page = visit(width=width, state=customer["cookies"])
    fill_basket(page)
    page.goto("/checkout")
    second = page.context.new_page()
    second.goto("/checkout")
    page.get_by_role("button", name="Order and pay").click()
    page.wait_for_url("**/orders/*")
    second.get_by_role("button", name="Order and pay").click()
    expect(second.get_by_role("heading", name="You have already ordered this")).to_be_visible()
    expect(second.get_by_role("link", name="See the order")).to_have_attribute(
        "href", re.compile(page.url.rsplit("/", 1)[1])
    )
    second.get_by_role("button", name="Order it again").click()
    second.wait_for_url("**/checkout?**")
    second.get_by_label("Test card ending 4242").check()
    second.get_by_role("button", name="Order and pay").click()
    second.wait_for_url("**/orders/*")
    assert second.url != page.url


def test_a_declined_card_is_followed_by_another_and_the_back_button_is_harmless(
    visit: Visit, customer: dict
) -> None:
    page = visit(state=customer["cookies"])
    fill_basket(page)
    page.goto("/checkout")
    page.get_by_label("Test card ending 0002").check()
    page.get_by_role("button", name="Order and pay").click()
    alert = page.get_by_role("alert")
    expect(alert).to_contain_text("Your bank declined the payment")
    expect(alert).to_be_focused()
    expect(page).to_have_title(re.compile("^Error: Checkout"))
    page.get_by_label("Test card ending 4242").check()
    page.get_by_role("button", name="Order and pay").click()
    page.wait_for_url("**/orders/*")
    page.go_back()
    expect(page.locator("#notes")).to_contain_text("Your basket is empty")


def test_a_quantity_that_is_none_is_said_at_the_field(visit: Visit) -> None:
    page = visit(width=360)
    fill_basket(page)
    page.goto("/basket")
    quantity = page.get_by_label("How many of")
    quantity.fill("-1")
    quantity.press("Tab")
    assert not quantity.evaluate("input => input.checkValidity()")
    expect(quantity).to_be_focused()
    quantity.evaluate("input => input.form.submit()")  # as a browser without these checks
    expect(page.get_by_role("alert")).to_contain_text("0 or more")
    expect(page.get_by_role("alert")).to_be_focused()
    expect(page.get_by_label("How many of")).to_have_value("1")


def test_errors_lead_to_their_fields(visit: Visit) -> None:
    page = visit()
    page.goto("/register")
    page.locator("form[action='/register']").evaluate("form => form.noValidate = true")
    page.get_by_label("E-mail").fill("nonsense")
    page.get_by_role("button", name="Create account").click()
    expect(page.get_by_role("alert")).to_be_focused()
    page.get_by_role("alert").get_by_role("link", name="E-mail").click()
    expect(page.get_by_label("E-mail")).to_be_focused()
    expect(page.get_by_label("E-mail")).to_have_value("nonsense")
    expect(page).to_have_title(re.compile("^Error: "))


def test_a_slow_shop_shows_that_it_is_at_work(visit: Visit) -> None:
    """What is on the page when the next one comes: after a second here, since the answer is held back for so long."""
    page = visit()
    page.goto("/login")
    page.evaluate("""() => addEventListener("pagehide", () => {
        const bar = document.querySelector("[role=progressbar]");
        sessionStorage.seen = JSON.stringify([document.querySelectorAll("main button[aria-busy=true]").length, bar.hidden]);
    })""")

    def hold_back(route: Route) -> None:
        time.sleep(1)
        route.continue_()

    page.route("**/login", hold_back)
    page.get_by_label("E-mail").fill("slow@example.com")
    page.get_by_label("Password").fill("something slow")
    page.locator("main").get_by_role("button", name="Log in").click()
    expect(page.get_by_role("alert")).to_be_visible()
    assert page.evaluate("JSON.parse(sessionStorage.seen)") == [1, False]
    expect(page.get_by_role("progressbar")).to_be_hidden()
