"""Prices in two currencies: never compared with each other, and ordered apart."""

import re
import time

import orjson
import pytest

from tests.people import place
from tests.services.storefront.conftest import product
from tests.services.storefront.test_customer import put_in_basket
from tests.services.storefront.visitor import Page, Visitor
from tests.waiting import eventually

GUEST = {"email": "rupee@example.com", "name": "Ruth", **place("1 Mint Street"), "card": "tok_ok"}
PRICES = {
    "bead": (900, "GBP"),
    "scarf": (4500, "GBP"),
    "shawl": (7000, "GBP"),
    "sari": (250000, "INR"),
    "bangle": (30000, "INR"),
}


@pytest.fixture(scope="module", autouse=True)
def bazaar(keeper: Visitor) -> None:
    goods = [
        product(
            name,
            name.title(),
            ["Bazaar"],
            amount,
            price={"amount": amount, "currency": currency},
            delivery=None,
        )
        for name, (amount, currency) in PRICES.items()
    ]
    lines = b"".join(
        orjson.dumps({**each, "delivery": {"amount": 0, "currency": each["price"]["currency"]}}) + b"\n"
        for each in goods
    )
    token = keeper.get("/admin/import").form("/admin/import").values["_csrf"]
    keeper.send("POST", "/admin/import/piece", lines, {"X-CSRF-Token": token})
    deadline = time.monotonic() + 120
    while set(shown(keeper.get("/category/Bazaar"))) != set(PRICES) or "GBP 3 INR 2" not in keeper.page.text:
        assert time.monotonic() < deadline, keeper.page.text
        time.sleep(0.2)


def shown(page: Page) -> list[str]:
    return re.findall(r'href="/product/([a-z]+)"', page.body.decode())


def test_a_list_sorted_by_price_holds_one_currency_and_says_so(visitor: Visitor) -> None:
    page = visitor.get("/category/Bazaar")
    assert set(shown(page)) == set(PRICES)
    eventually(lambda: shown(visitor.get("/category/Bazaar?sort=price")) == ["bead", "scarf", "shawl"])
    page = visitor.page
    assert "2 others are left out" in page.text
    page = visitor.get("/category/Bazaar?sort=-price&currency=INR")
    assert shown(page) == ["sari", "bangle"]


def test_price_bands_and_limits_count_one_currency(visitor: Visitor) -> None:
    page = visitor.get("/category/Bazaar")
    assert not re.search(r'class="plain bands"', page.body.decode()), "no bands over two currencies"
    assert re.search(r"GBP 3 INR 2", page.text)
    page = visitor.get("/category/Bazaar?currency=INR")
    assert "₹2,000.00 – ₹4,999.99 1" in page.text
    form = next(each for each in visitor.get("/category/Bazaar").forms if "min_price" in each.names)
    page = visitor.send_form(form, {**form.values, "min_price": "40"})
    assert shown(page) == ["scarf", "shawl"], "typed in the page's usual currency"
    eventually(lambda: shown(visitor.get("/search?q=bangle+&min_price=200&priced_in=INR")) == ["bangle"])


def test_a_basket_of_two_currencies_is_summed_and_ordered_apart(visitor: Visitor) -> None:
    put_in_basket(visitor, "bead", "2")
    put_in_basket(visitor, "sari")
    page = visitor.get("/basket")
    assert "£18.00" in page.text
    assert "₹2,500.00" in page.text
    assert "An order holds one currency" in page.text
    assert "/checkout" not in [href for href, _ in page.links]
    assert "one currency only" in visitor.get("/checkout").text
    visitor.get("/checkout?currency=INR")
    page = visitor.submit("/checkout", **GUEST)
    assert page.path.startswith("/orders/"), page.text
    assert "₹2,500.00" in page.text
    page = visitor.get("/basket")
    assert "Bead" in page.text
    assert "Sari" not in page.text
    assert "/checkout" in [href for href, _ in page.links]
