"""What pages say: no internals, nothing that is not so, errors where eyes and screen readers find them."""

import re
from collections.abc import Callable

import pytest

from tests.people import PASSWORD, place
from tests.services.storefront.conftest import import_goods, product
from tests.services.storefront.test_customer import put_in_basket
from tests.services.storefront.visitor import Page, Visitor
from tests.waiting import eventually

Join = Callable[..., Visitor]
GUEST = {"email": "words@example.com", "name": "Wendy", **place("1 Word Lane"), "card": "tok_ok"}
INTERNALS = re.compile(
    r"https?://127|localhost|Idempotency|[0-9] GBP|\bproductid\b|cup-[0-9]|mug-[a-z]|word-|minor units|`",
    re.I,
)


def title(page: Page) -> str:
    found = re.search(r"<title>(.*?)</title>", page.body.decode(), re.S)
    return found[1].strip() if found else ""


def has_focused_alert(page: Page) -> bool:
    alerts = re.findall(r'<div class="note bad[^>]*>', page.body.decode())
    return any('role="alert"' in each and "autofocus" in each and 'tabindex="-1"' in each for each in alerts)


@pytest.fixture(scope="module")
def wendy(join: Join) -> Visitor:
    visitor = join("Wendy Words")
    form = visitor.get("/account").form("/account/addresses")
    visitor.send_form(form, {**form.values, "name": "Home", **place()})
    return visitor


@pytest.fixture(scope="module", autouse=True)
def goods(keeper: Visitor) -> None:
    """Goods of these tests' own, since they change and go."""
    made = [
        product("word-price", "Word Lamp", ["Words"], 4900),
        product("word-gone", "Word Cup", ["Words"], 500),
    ]
    import_goods(keeper, made)
    eventually(lambda: all(keeper.get(f"/product/{each['productid']}").status == 200 for each in made))


def test_too_little_stock_is_said_with_the_products_name(visitor: Visitor, keeper: Visitor) -> None:
    put_in_basket(visitor, "cup-36", "3")
    visitor.get("/checkout")
    keeper.get("/admin/products/cup-36")
    keeper.submit("/admin/products/cup-36/stock", delta="-18", reason="broken")
    page = visitor.submit("/checkout", **GUEST)
    assert page.path.startswith("/checkout")
    assert "Of “Cup number 36”, only 2 can be had." in page.text
    assert not INTERNALS.search(page.text), INTERNALS.search(page.text)
    assert page.form("/checkout").values["line1"] == GUEST["line1"]
    assert title(page).startswith("Error: ")
    assert has_focused_alert(page)


def test_a_changed_price_is_said_as_people_write_money(visitor: Visitor, keeper: Visitor) -> None:
    put_in_basket(visitor, "word-price", "1")
    visitor.get("/checkout")
    keeper.get("/admin/products/word-price")
    keeper.submit("/admin/products/word-price", price="1249.00")
    page = visitor.submit("/checkout", **GUEST)
    assert "the total is £1,252.00 now, not £52.00" in page.text, page.text
    assert not INTERNALS.search(page.text), INTERNALS.search(page.text)


def test_what_is_not_for_sale_any_more_is_not_named_by_its_number(visitor: Visitor, keeper: Visitor) -> None:
    put_in_basket(visitor, "word-gone", "1")
    visitor.get("/checkout")
    keeper.get("/admin/products/word-gone")
    keeper.submit("/admin/products/word-gone/delete")
    page = visitor.submit("/checkout", **GUEST)
    assert "no longer for sale" in page.text, page.text
    assert "No longer in the shop" in page.text
    assert not INTERNALS.search(page.text), INTERNALS.search(page.text)
    page = visitor.get("/product/word-gone")
    assert page.status == 404
    assert not INTERNALS.search(page.text), INTERNALS.search(page.text)


def test_a_declined_attempt_is_no_order(wendy: Visitor) -> None:
    put_in_basket(wendy, "cup-38")
    wendy.get("/checkout")
    page = wendy.submit("/checkout", card="tok_declined")
    assert "nothing was charged" in page.text
    placed = wendy.submit("/checkout", card="tok_ok").path

    def listed() -> list[str]:
        return [href for href, _ in wendy.get("/orders").links if href.startswith("/orders/")]

    eventually(lambda: placed in listed())
    assert listed() == [placed]


def test_only_who_may_review_sees_the_form(wendy: Visitor, join: Join, visitor: Visitor) -> None:
    assert "Publish" not in visitor.get("/product/cup-39").text
    assert visitor.get("/product/cup-39/review").path.startswith("/login")
    page = wendy.get("/product/cup-39/review")
    assert "customers who bought this" in page.text
    assert not [form for form in page.forms if "reviews" in form.action]
    put_in_basket(wendy, "cup-39")
    wendy.get("/checkout")
    assert wendy.submit("/checkout", card="tok_ok").path.startswith("/orders/")
    eventually(lambda: "reviews" in str([form.action for form in wendy.get("/product/cup-39/review").forms]))
    form = wendy.page.form("/product/cup-39/reviews")
    assert form.values["stars"] == "", "no stars are chosen for the reviewer"
    page = wendy.submit("/product/cup-39/reviews", text="Holds tea well.")
    assert "Your rating is missing." in page.text
    assert page.form("/product/cup-39/reviews").values["text"] == "Holds tea well."
    page = wendy.submit("/product/cup-39/reviews", stars="4")
    assert (page.path, "Holds tea well." in page.text) == ("/product/cup-39", True)
    page = wendy.get("/product/cup-39/review")
    assert "reviewed this already" in page.text
    assert not [form for form in page.forms if "reviews" in form.action]


def test_a_page_with_errors_says_so_in_its_title_and_leads_to_the_fields(visitor: Visitor) -> None:
    visitor.get("/register")
    page = visitor.submit("/register", name="", email="nonsense", password="x")
    body = page.body.decode()
    assert title(page).startswith("Error: Create an account")
    assert has_focused_alert(page)
    for field in ("name", "email", "password"):
        assert ("#" + field) in [href for href, _ in page.links]
        assert re.search(
            rf'id="{field}"[^>]*aria-invalid="true"[^>]*aria-describedby="{field}-wrong', body
        ), field
        assert f'id="{field}-wrong"' in body
    assert not title(visitor.get("/register")).startswith("Error")
    assert not has_focused_alert(visitor.page)


def test_a_refusal_after_a_redirect_is_an_error_too(visitor: Visitor) -> None:
    put_in_basket(visitor, "mug-red")
    page = visitor.submit("/basket/mug-red", quantity="-1")
    assert title(page).startswith("Error: Basket")
    assert has_focused_alert(page)


def test_registered_claims_no_email_that_was_not_sent(visitor: Visitor, join: Join) -> None:
    page = visitor.get("/registered")
    assert "have sent" not in page.text
    assert page.form("/verify/resend")
    newcomer = Visitor(visitor.base)
    newcomer.get("/register")
    page = newcomer.submit("/register", name="New", email="new.comer@example.com", password=PASSWORD)
    assert "We have sent an e-mail to new.comer@example.com" in page.text
    member = join("Member Mel")
    assert member.get("/registered").path == "/account"


@pytest.mark.parametrize("link", ["/verify", "/verify?token=nonsense"])
def test_verify_says_what_is_so(visitor: Visitor, link: str) -> None:
    page = visitor.get(link)
    assert "your account is ready" not in page.text
    if "token" in link:
        page = visitor.submit("/verify")
        assert "used before, is too old or is not whole" in page.text
        assert title(page).startswith("Error: ")
    assert "/registered" in [href for href, _ in page.links]


def test_a_link_used_twice_says_so_and_does_no_harm(join: Join) -> None:
    visitor = join("Used Twice")
    email = "used.twice@example.com"
    links = [href for href, _ in visitor.get(f"/mailbox?to={email}").links if "verify" in href]
    visitor.get(links[0] if links else "/verify?token=used")
    page = visitor.submit("/verify")
    assert "used before" in page.text
