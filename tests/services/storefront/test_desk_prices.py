"""Prices of groups and currencies at the desk, who pays a group's prices, and what prices were, without JavaScript."""

from collections.abc import Callable

import pytest

from tests.people import PASSWORD
from tests.services.storefront.conftest import log_in
from tests.services.storefront.visitor import Page, Visitor
from tests.waiting import eventually

Join = Callable[..., Visitor]
PRODUCTS = "/admin/products"
TANKARD = {"name": "Pewtertankard", "taxonomy": "Pewter", "price": "30.00", "currency": "GBP", "stock": "5"}


@pytest.fixture(scope="module")
def tankard(keeper: Visitor) -> str:
    keeper.get(f"{PRODUCTS}/new")
    page = keeper.submit(f"{PRODUCTS}/new", productid="pewter-tankard", group_prices="", **TANKARD)
    assert "Created." in page.text, page.text
    return f"{PRODUCTS}/pewter-tankard"


def save(keeper: Visitor, path: str, **values: str) -> Page:
    keeper.get(path)
    return keeper.submit(path, **values)


def test_group_prices_are_typed_in_and_shown_again(keeper: Visitor, tankard: str) -> None:
    typed = "pewterers GBP 21.50; pewterers EUR 24.00; friends GBP 25"
    page = save(keeper, tankard, prices="EUR 35.00", group_prices=typed)
    assert "Saved." in page.text, page.text
    again = "pewterers GBP 21.50; pewterers EUR 24.00; friends GBP 25.00"
    assert page.form(tankard).values["group_prices"] == again
    assert "Saved." in save(keeper, tankard, name="Pewtertankard, large").text
    assert keeper.get(tankard).form(tankard).values["group_prices"] == again


@pytest.mark.parametrize(
    ("typed", "words"),
    [
        ("pewterers", "Write the group, the currency and the amount"),
        ("pewterers GBP 21,50", "without a comma"),
        ("Pewterers GBP 21.50", "Only small letters"),
    ],
)
def test_a_wrong_group_price_is_named_at_its_field(
    keeper: Visitor, tankard: str, typed: str, words: str
) -> None:
    page = save(keeper, tankard, group_prices=typed)
    assert words in page.text, page.text
    assert "#group_prices" in [href for href, _ in page.links]
    assert page.form(tankard).values["group_prices"] == typed


def test_variants_have_prices_in_other_currencies_and_for_groups(keeper: Visitor, tankard: str) -> None:
    keeper.get(f"{PRODUCTS}/new")
    values = TANKARD | {"name": "Pewterspoon", "prices": "EUR 35.00"}
    page = keeper.submit(f"{PRODUCTS}/new", productid="pewter-spoon", **values)
    assert "Created." in page.text, page.text
    path = f"{PRODUCTS}/pewter-spoon/variants"
    keeper.get(path)
    keeper.submit(path, **{"option-0-name": "Size", "option-0-values": "S, L"}, combinations="1")
    large = {"variant-1-price": "36.00", "variant-1-prices": "EUR 41.00"}
    page = keeper.submit(path, **large, **{"variant-1-group_prices": "pewterers GBP 31.00"})
    assert "Saved." in page.text, page.text
    values = keeper.get(path).form(path).values
    assert (values["variant-1-price"], values["variant-1-prices"]) == ("36.00", "EUR 41.00")
    assert values["variant-1-group_prices"] == "pewterers GBP 31.00"
    assert (values["variant-0-price"], values["variant-0-prices"]) == ("", "")
    page = keeper.submit(path, **{"variant-1-prices": "EUR fortyone"})
    assert "pewter-spoon-L:" in page.text
    assert page.form(path).values["variant-1-prices"] == "EUR fortyone"
    keeper.get(path)
    assert "Saved." in keeper.submit(path, **{"variant-1-group_prices": ""}).text
    assert keeper.page.form(path).values["variant-1-group_prices"] == ""


def test_delivery_has_a_price_in_each_currency(keeper: Visitor, tankard: str) -> None:
    page = save(keeper, tankard, prices="EUR 35.00", delivery="3.00")
    assert page.form(tankard).values["delivery"] == "3.00"
    assert "Saved." not in page.text, "euros are missing"
    page = save(keeper, tankard, prices="EUR 35.00", delivery="3.00", delivery_prices="EUR 3.90")
    assert "Saved." in page.text, page.text
    assert page.form(tankard).values["delivery_prices"] == "EUR 3.90"
    page = save(keeper, tankard, delivery="0", delivery_prices="")
    assert "Saved." in page.text, page.text


def test_the_history_says_what_changed_and_who_did_it(keeper: Visitor, tankard: str) -> None:
    assert "Saved." in save(keeper, tankard, price="29.00").text
    page = keeper.get(keeper.page.link("History of its prices"))
    assert "Prices of Pewtertankard" in page.text
    assert "£30.00 £29.00 Admin" in page.text, page.text
    assert "Group pewterers none €24.00 Admin" in page.text


def test_a_customer_is_put_into_a_group_and_pays_its_prices(
    keeper: Visitor, join: Join, tankard: str
) -> None:
    assert "Saved." in save(keeper, tankard, group_prices="pewterers GBP 17.77").text
    member, email = join("Petra Pewter"), "petra.pewter@example.com"
    keeper.get("/admin/staff")
    wrong = keeper.submit("/admin/staff/group", email=email, group="Two words")
    assert "Only small letters" in wrong.text
    assert wrong.form("/admin/staff/group").values["email"] == email
    page = keeper.submit("/admin/staff/group", email=email, group="pewterers")
    assert "Saved." in page.text
    trail = keeper.get("/admin/audit").text
    assert "Changed the customer group Now: pewterers" in trail
    log_in_again(member, email)
    eventually(lambda: "£17.77" in member.get("/product/pewter-tankard").text)
    keeper.get("/admin/staff")
    assert "Saved." in keeper.submit("/admin/staff/group", email=email, group="").text
    log_in_again(member, email)
    assert "£17.77" not in member.get("/product/pewter-tankard").text


def log_in_again(member: Visitor, email: str) -> None:
    member.get("/account")
    member.submit("/logout")
    log_in(member, email, PASSWORD)


def test_the_group_of_somebody_unknown_says_so(keeper: Visitor) -> None:
    keeper.get("/admin/staff")
    page = keeper.submit("/admin/staff/group", email="nobody.pewter@example.com", group="trade")
    assert "No account has verified this e-mail" in page.text
