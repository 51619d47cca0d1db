"""Closing accounts at the desk: of a customer by a click, of somebody who works here with the admin's password."""

from collections.abc import Callable

from tests.bench.running import Shop
from tests.people import PASSWORD
from tests.services.storefront.visitor import Page, Visitor

Join = Callable[..., Visitor]


def close(keeper: Visitor, email: str, **values: str) -> Page:
    keeper.get("/admin/staff")
    return keeper.submit("/admin/staff/closure", email=email, reason="asked for it", **values)


def logs_in(base: str, email: str) -> bool:
    visitor = Visitor(base)
    visitor.get("/login")
    return visitor.submit("/login", email=email, password=PASSWORD).path != "/login"


def test_a_customers_account_is_closed_and_opened_again(join: Join, keeper: Visitor) -> None:
    visitor, email = join("Cleo Closed"), "cleo.closed@example.com"
    assert "is closed" in close(keeper, email).text
    assert not logs_in(visitor.base, email)
    keeper.get("/admin/staff")
    assert "open again" in keeper.submit("/admin/staff/closure", email=email, open="1").text
    assert logs_in(visitor.base, email)


def test_who_works_here_is_closed_with_the_admins_password_only(
    shop: Shop, join: Join, keeper: Visitor
) -> None:
    visitor, email = join("Stan Staff"), "stan.staff@example.com"
    keeper.get("/admin/staff")
    keeper.submit("/admin/staff", email=email, role="staff")
    for values in ({}, {"password": "not the admin's"}):
        page = close(keeper, email, **values)
        assert page.path == "/admin/staff/closure"
        assert "password" in page.text
        assert page.form("/admin/staff/closure").values["email"] == email
        assert "password" not in page.form("/admin/staff/closure").values["reason"]
    assert logs_in(visitor.base, email)
    assert "is closed" in close(keeper, email, password=shop.admin_password).text
    assert not logs_in(visitor.base, email)


def test_a_closure_says_what_is_missing(keeper: Visitor) -> None:
    keeper.get("/admin/staff")
    page = keeper.submit("/admin/staff/closure", email="somebody@example.com")
    assert "Say why" in page.text
    assert close(keeper, "nobody.known@example.com").status == 200
    assert "No account has verified this e-mail" in keeper.page.text
