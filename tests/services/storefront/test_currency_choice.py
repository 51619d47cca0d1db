"""A shop that names its currencies: the visitor chooses one, and all pages are in it."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.bench.running import Shop
from tests.people import place
from tests.services.storefront.conftest import import_goods, product, second_storefront
from tests.services.storefront.test_customer import put_in_basket
from tests.services.storefront.visitor import Visitor

FREE = {"amount": 0, "currency": "GBP"}
GUEST = {"email": "euro@example.com", "name": "Eva", **place("1 Mint Street"), "card": "tok_ok"}


@pytest.fixture(scope="module")
def two_currencies(shop: Shop, keeper: Visitor, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    goods = [
        product(
            "eurotankard", "Euro tankard", ["Mint"], 1500, delivery=FREE, prices={"GBP": 1500, "EUR": 1790}
        ),
        product(
            "saletankard",
            "Sale tankard",
            ["Mint"],
            2000,
            delivery=FREE,
            prices={"GBP": 2000, "EUR": 2300},
            sales=[{"prices": {"EUR": 990}}],
        ),
        product("poundtankard", "Pound tankard", ["Mint"], 700, delivery=FREE),
    ]
    import_goods(keeper, goods)
    folder: Path = tmp_path_factory.mktemp("two-currencies")
    with second_storefront(shop, folder, CURRENCIES="GBP,EUR") as url:
        yield url


@pytest.fixture
def guest(two_currencies: str) -> Visitor:
    return Visitor(two_currencies)


def choose(guest: Visitor, currency: str) -> None:
    form = guest.get("/category/Mint").form("/currency")
    guest.page = guest.send_form(form, {**form.values, "currency": currency})


def names(guest: Visitor, path: str) -> list[str]:
    return re.findall(r'<h2><a href="/product/([a-z]+)"', guest.get(path).body.decode())


def test_all_pages_are_in_the_currency_that_was_chosen(guest: Visitor) -> None:
    assert "£15.00" in guest.get("/product/eurotankard").text
    choose(guest, "EUR")
    assert guest.page.path == "/category/Mint"
    assert "€17.90" in guest.get("/product/eurotankard").text
    for path in ("/category/Mint", "/category/Mint?sort=price", "/search?q=tankard", "/"):
        text = guest.get(path).text
        assert "£" not in text, path
    assert names(guest, "/category/Mint?sort=price") == ["saletankard", "eurotankard"]
    page = guest.get("/product/saletankard")
    assert "€9.90" in page.text
    assert "Was €23.00" in page.text
    page = guest.get("/product/poundtankard")
    assert "Not sold in EUR" in page.text
    assert not any(form.action == "/basket" for form in page.forms)
    choose(guest, "GBP")
    assert "£7.00" in guest.get("/product/poundtankard").text


def test_a_page_that_is_kept_for_everybody_is_kept_by_currency(two_currencies: str) -> None:
    pounds, euros = Visitor(two_currencies), Visitor(two_currencies)
    choose(euros, "EUR")
    for _ in range(3):
        assert "£15.00" in pounds.get("/product/eurotankard").text
        assert "€17.90" in euros.get("/product/eurotankard").text
    assert "€17.90" in pounds.get("/product/eurotankard?currency=EUR").text
    assert "Cookie" in euros.page.headers["Vary"]


def test_a_basket_is_shown_and_bought_in_the_currency_chosen(guest: Visitor) -> None:
    put_in_basket(guest, "eurotankard", "2")
    put_in_basket(guest, "poundtankard")
    assert "£37.00" in guest.get("/basket").text
    choose(guest, "EUR")
    page = guest.get("/basket")
    assert "€35.80" in page.text
    assert "It is not sold in EUR" in page.text
    assert "Go to checkout" not in page.text
    form = next(each for each in page.forms if each.action == "/basket/poundtankard")
    guest.send_form(form, {**form.values, "remove": "1"})
    assert "Go to checkout" in guest.get("/basket").text
    page = guest.get("/checkout")
    assert "€35.80" in page.text
    form = page.form("/checkout")
    placed = guest.send_form(form, {**form.values, **GUEST})
    assert "Your order is placed" in placed.text, placed.text
    assert "€35.80" in placed.text


def test_the_desk_edits_prices_of_every_currency_and_a_sale(keeper: Visitor, two_currencies: str) -> None:
    page = keeper.get("/admin/products/eurotankard")
    form = page.form("/admin/products/eurotankard")
    assert (form.values["price"], form.values["prices"]) == ("15.00", "EUR 17.90")
    typed = {"prices": "EUR 18,50", "sale": "GBP 12.00", "sale_until": "2030-01-01T00:00"}
    assert "two ways" in keeper.send_form(form, {**form.values, **typed}).text or "comma" in keeper.page.text
    saved = keeper.send_form(form, {**form.values, **typed, "prices": "EUR 18.50"})
    assert "Saved" in saved.text, saved.text
    form = keeper.get("/admin/products/eurotankard").form("/admin/products/eurotankard")
    shown = [form.values[name] for name in ("price", "prices", "sale", "sale_until")]
    assert shown == ["15.00", "EUR 18.50", "GBP 12.00", "2030-01-01T00:00"]
    page = Visitor(two_currencies).get("/product/eurotankard")
    assert "£12.00" in page.text
    assert "Was £15.00" in page.text
    assert "This price holds until 1 Jan 2030" in page.text
    saved = keeper.send_form(form, {**form.values, "sale": "", "sale_until": "", "prices": "EUR 17.90"})
    assert "Saved" in saved.text
    assert "Was" not in Visitor(two_currencies).get("/product/eurotankard?view=2").text
