"""A session that ends while a form of the desk is open: log in, come back, nothing typed is lost and nothing was done."""

import pytest

from tests.bench.running import ADMIN_EMAIL, Shop
from tests.people import place
from tests.services.storefront.conftest import log_in
from tests.services.storefront.test_lost_sessions import logged_out_elsewhere
from tests.services.storefront.visitor import Page, Visitor


@pytest.fixture
def keeper(shop: Shop) -> Visitor:
    """A shopkeeper with a browser of his own, which loses its session."""
    visitor = Visitor(shop.urls["storefront"])
    log_in(visitor, ADMIN_EMAIL, shop.admin_password)
    return visitor


@pytest.fixture(scope="module")
def order(join) -> str:
    customer = join("Lost Desk")
    customer.get("/account")
    customer.submit("/account/addresses", name="Home", **place())
    customer.get("/product/cup-30")
    customer.submit("/basket")
    customer.get("/checkout")
    return f"/admin{customer.submit('/checkout', card='tok_ok').path}"


def lose_and_come_back(shop: Shop, keeper: Visitor, page: str, action: str, **typed: str) -> Page:
    """Sends the form after the session is gone, and logs in at the page that comes then."""
    form = keeper.get(page).form(action)
    logged_out_elsewhere(keeper)
    answer = keeper.send_form(form, {**form.values, **typed})
    assert answer.path.startswith("/login"), answer.text
    back = keeper.submit("/login", email=ADMIN_EMAIL, password=shop.admin_password)
    assert back.path.startswith(page), back.path
    assert "What you typed is here again" in back.text
    return back


def test_a_new_product_comes_back_as_it_was_typed(shop: Shop, keeper: Visitor) -> None:
    new = "/admin/products/new"
    typed = {"productid": "lost-1", "name": "Lost", "taxonomy": "Garden", "price": "3.00", "stock": "4"}
    typed["description"] = "A long text.\nOf two lines."
    page = lose_and_come_back(shop, keeper, new, new, **typed)
    assert {name: page.form(new).values[name].replace("\r", "") for name in typed} == typed
    assert keeper.get("/product/lost-1").status == 404
    keeper.page = page
    assert keeper.submit(new).path == "/admin/products/lost-1"


def test_an_edit_comes_back_and_still_does_not_undo_a_newer_one(shop: Shop, keeper: Visitor) -> None:
    address = "/admin/products/cup-31"
    page = lose_and_come_back(shop, keeper, address, address, description="Typed before")
    assert page.form(address).values["description"] == "Typed before"
    other = Visitor(keeper.base)
    log_in(other, ADMIN_EMAIL, shop.admin_password)
    other.get(address)
    assert "Saved." in other.submit(address, description="Somebody else's").text
    keeper.page = page
    page = keeper.submit(address)
    assert "still here" in page.text
    assert page.form(address).values["description"] == "Typed before"


@pytest.mark.parametrize(
    ("verb", "typed"),
    [
        ("dispatch", {"courier": "Bike", "courierid": "B-99"}),
        ("refunds", {"amount": "1.25", "reason": "Chipped"}),
    ],
)
def test_the_forms_of_an_order_come_back(
    shop: Shop, keeper: Visitor, order: str, verb: str, typed: dict[str, str]
) -> None:
    page = lose_and_come_back(shop, keeper, order, f"{order}/{verb}", **typed)
    assert {name: page.form(f"{order}/{verb}").values[name] for name in typed} == typed
    assert "Paid" in page.text
    assert "Refund £1.25 on" not in page.text


def test_a_confirmation_that_is_lost_pays_nothing_and_comes_back(
    shop: Shop, keeper: Visitor, order: str
) -> None:
    keeper.get(order)
    form = keeper.submit(f"{order}/refunds", amount="1.25", reason="Chipped").form(f"{order}/refunds")
    logged_out_elsewhere(keeper)
    keeper.send_form(form, {**form.values, "confirmed": "yes"})
    page = keeper.submit("/login", email=ADMIN_EMAIL, password=shop.admin_password)
    assert page.path.startswith(order)
    assert page.form(f"{order}/refunds").values["amount"] == "1.25"
    assert page.form(f"{order}/refunds").values["reason"] == "Chipped"
    assert "Refunded." not in page.text
    assert "is left to refund" in page.text


@pytest.mark.parametrize(
    ("page", "action", "typed"),
    [
        ("/admin/products/cup-32", "/admin/products/cup-32/stock", {"delta": "12", "reason": "Delivery"}),
        ("/admin/staff", "/admin/staff", {"email": "new.colleague@example.com", "role": "admin"}),
    ],
)
def test_stock_and_staff_forms_come_back(
    shop: Shop, keeper: Visitor, page: str, action: str, typed: dict[str, str]
) -> None:
    found = lose_and_come_back(shop, keeper, page, action, **typed)
    form = next(each for each in found.forms if each.action == action and each.method == "post")
    assert {name: form.values[name] for name in typed} == typed


def test_every_address_that_a_form_of_the_desk_goes_to_can_be_opened(keeper: Visitor, order: str) -> None:
    for path in (
        f"{order}/dispatch",
        f"{order}/delivery",
        f"{order}/refunds",
        "/admin/products/cup-32/stock",
        "/admin/products/cup-32/delete",
        "/admin/failures/some-letter/retry",
    ):
        assert keeper.get(path).status == 200, path
        assert keeper.get(f"{path}?orderid=x&productid=y&endpoint=z&form=none").status == 200, path
