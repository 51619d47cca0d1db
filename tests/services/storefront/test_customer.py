"""A customer's way: account, checkout, orders, data; all without JavaScript."""

import json
import threading
from collections.abc import Callable

import pytest
from itsdangerous import URLSafeTimedSerializer

from tests.bench.running import Shop
from tests.people import PASSWORD, place
from tests.services.storefront.conftest import link_in_email, log_in
from tests.services.storefront.test_shop import asked
from tests.services.storefront.visitor import Page, Visitor
from tests.waiting import eventually

Join = Callable[..., Visitor]


@pytest.fixture(scope="module")
def ann(join: Join) -> Visitor:
    visitor = join("Ann Buyer")
    visitor.get("/account")
    visitor.submit("/account/addresses", name="Home", **place())
    return visitor


def put_in_basket(visitor: Visitor, productid: str, quantity: str = "1") -> Page:
    visitor.get(f"/product/{productid}")
    return visitor.submit("/basket", quantity=quantity)


def buy(visitor: Visitor, productid: str, **values: str) -> Page:
    put_in_basket(visitor, productid)
    visitor.get("/checkout")
    return visitor.submit("/checkout", **values)


def test_a_guests_basket_comes_along_to_the_account(join: Join, visitor: Visitor) -> None:
    put_in_basket(visitor, "cup-01", "3")
    join("Carry Along", visitor=visitor)
    page = visitor.get("/basket")
    assert page.form("/basket/cup-01").values["quantity"] == "3"


def test_registering_badly_is_answered_at_the_fields(join: Join, ann: Visitor, visitor: Visitor) -> None:
    visitor.get("/register")
    page = visitor.submit("/register", name="", email="nonsense", password="short")
    assert "Your name is missing." in page.text
    assert "looks like name@example.com" in page.text
    assert "At least 8 characters" in page.text
    assert page.form("/register").values["password"] == ""


def test_a_wrong_password_is_refused_and_says_no_more(ann: Visitor, visitor: Visitor) -> None:
    texts = []
    for email in ("ann.buyer@example.com", "nobody@example.com"):
        visitor.get("/login")
        page = visitor.submit("/login", email=email, password="wrong wrong")
        assert page.path == "/login"
        texts.append(page.text)
    assert texts[0] == texts[1]
    assert "E-mail or password is wrong, or the e-mail is not verified." in texts[0]


def test_a_verification_link_works_once(shop: Shop, visitor: Visitor) -> None:
    visitor.get("/register")
    visitor.submit("/register", name="Once Only", email="once@example.com", password=PASSWORD)
    link = link_in_email(visitor, "once@example.com")
    visitor.get(link)
    assert visitor.submit("/verify").path == "/login"
    visitor.get(link)
    assert "good once" in visitor.submit("/verify").text


def test_a_forgotten_password_is_set_anew(join: Join) -> None:
    visitor = join("Forgetful Fred")
    visitor.get("/account")
    visitor.submit("/logout")
    visitor.get("/reset")
    assert "an e-mail with a link" in visitor.submit("/reset", email="forgetful.fred@example.com").text
    eventually(lambda: "/reset" in link_in_email(visitor, "forgetful.fred@example.com"))
    visitor.get(link_in_email(visitor, "forgetful.fred@example.com"))
    assert visitor.submit("/reset/confirm", password="a brand new password").path == "/login"
    log_in(visitor, "forgetful.fred@example.com", "a brand new password")


def test_an_order_is_bought_and_followed(ann: Visitor) -> None:
    page = put_in_basket(ann, "cup-02", "2")
    page = ann.get("/checkout")
    assert "£5.02" in page.text or "£10.04" in page.text
    page = ann.submit("/checkout", card="tok_ok")
    assert page.path.startswith("/orders/"), page.text
    assert "Your order is placed" in page.text
    assert "Cup number 02" in page.text
    assert "Paid" in page.text
    history = ann.get("/orders")
    assert page.path in [href for href, _ in history.links]
    assert ann.get("/basket").text.count("Cup number 02") == 0


def test_sending_the_checkout_twice_buys_once(ann: Visitor) -> None:
    put_in_basket(ann, "cup-03")
    form = ann.get("/checkout").form("/checkout")
    first = ann.send_form(form, {**form.values, "card": "tok_ok"})
    second = ann.send_form(form, {**form.values, "card": "tok_ok"})
    assert first.path == second.path
    assert first.path.startswith("/orders/")


@pytest.mark.parametrize(
    ("card", "ends", "productid"),
    [
        ("tok_timeout", "/orders/", "cup-10"),
        ("tok_error", "/orders/", "cup-11"),
        ("tok_declined", "/checkout", "cup-12"),
    ],
)
def test_cards_end_as_the_bank_says(ann: Visitor, card: str, ends: str, productid: str) -> None:
    page = buy(ann, productid, card=card)
    assert page.path.startswith(ends), page.text
    if card == "tok_declined":
        assert "declined" in page.text
        page = ann.submit("/checkout", card="tok_ok")
        assert page.path.startswith("/orders/"), page.text


@pytest.mark.parametrize("order", ["", "{", "[]", "1", '{"items": []}', '{"items": [{"productid": 1}]}'])
def test_a_checkout_form_that_was_tampered_with_buys_nothing(ann: Visitor, order: str) -> None:
    put_in_basket(ann, "cup-13")
    form = ann.get("/checkout").form("/checkout")
    page = ann.send_form(form, {**form.values, "order": order})
    assert page.status < 500
    assert not page.path.startswith("/orders/")


def test_a_new_address_can_be_given_at_checkout(join: Join) -> None:
    visitor = join("New Place")
    put_in_basket(visitor, "cup-05")
    visitor.get("/checkout")
    page = visitor.submit("/checkout", address_id="new", card="tok_ok")
    assert page.path == "/checkout"
    assert "is missing" in page.text
    page = visitor.submit("/checkout", address_id="new", name="Cabin", **place("2 Lake Road"), card="tok_ok")
    assert page.path.startswith("/orders/"), page.text
    assert "2 Lake Road" in page.text
    assert "Cabin" in visitor.get("/account").text


def test_an_order_can_be_cancelled_before_it_leaves(ann: Visitor) -> None:
    page = buy(ann, "cup-06", card="tok_ok")
    page = ann.submit(f"{page.path}/cancellation")
    assert "Cancelled" in page.text
    assert not [form for form in page.forms if "cancellation" in form.action]


def test_somebody_elses_order_is_not_found(ann: Visitor, join: Join) -> None:
    path = buy(ann, "cup-07", card="tok_ok").path
    assert join("Nosy Ned").get(path).status == 404


def test_a_new_name_is_greeted_at_once(join: Join) -> None:
    visitor = join("Old Name")
    form = next(form for form in visitor.get("/account").forms if form.action == "/account")
    page = visitor.send_form(form, {**form.values, "name": "New Name"})
    assert page.link("New Name") == "/account"
    assert "Old Name" not in page.text


def test_pages_of_a_person_are_not_kept(ann: Visitor) -> None:
    for path in ("/account", "/orders", "/login"):
        assert ann.get(path).headers["Cache-Control"] == "no-store"


def test_addresses_can_be_added_made_default_and_removed(join: Join) -> None:
    visitor = join("Two Homes")
    for name in ("Town", "Country"):
        visitor.get("/account")
        form = next(form for form in visitor.page.forms if form.action == "/account/addresses")
        visitor.send_form(form, {**form.values, "name": name, **place(f"1 {name} Street")})
    page = visitor.get("/account")
    assert page.text.count("default") >= 1
    form = next(
        form
        for form in page.forms
        if "default" in form.names and form.action.startswith("/account/addresses/")
    )
    page = visitor.send_form(form, {"_csrf": form.values["_csrf"], "default": "1"})
    assert "Saved." in page.text
    assert page.text.index("Country") < page.text.index("default", page.text.index("Country"))
    removals = [form for form in page.forms if "remove" in form.names]
    page = visitor.send_form(removals[0], {"_csrf": removals[0].values["_csrf"], "remove": "1"})
    assert "1 Town Street" not in page.text


def test_everything_held_can_be_downloaded(ann: Visitor) -> None:
    page = ann.get("/account/export")
    assert "attachment" in page.headers["Content-Disposition"]
    assert "ann.buyer@example.com" in json.dumps(json.loads(page.body))


def test_an_account_is_erased_only_with_its_password(join: Join) -> None:
    visitor = join("Going Away")
    visitor.get("/account")
    page = visitor.submit("/account/erase", password="not the password")
    assert "not your password" in page.text
    page = visitor.submit("/account/erase", password=PASSWORD)
    assert "erased" in page.text
    assert visitor.get("/account").path.startswith("/login")
    visitor.get("/login")
    assert visitor.submit("/login", email="going.away@example.com", password=PASSWORD).path == "/login"


def test_only_a_buyer_reviews_and_only_once(ann: Visitor, join: Join) -> None:
    stranger = join("Never Bought")
    form = stranger.get("/product/cup-08").form("/basket")
    form.action = "/product/cup-08/reviews"
    page = stranger.send_form(form, {**form.values, "stars": "5", "text": "Lovely"})
    assert "customers who bought this" in page.text
    assert "Lovely" not in Visitor(ann.base).get("/product/cup-08").text
    buy(ann, "cup-08", card="tok_ok")
    eventually(lambda: "Publish" in ann.get("/product/cup-08/review").text)
    form = ann.page.form("/product/cup-08/reviews")
    page = ann.submit("/product/cup-08/reviews", stars="4", title="Good cup", text="Holds tea.")
    assert "Holds tea." in page.text, page.text
    again = {**form.values, "key": "another-form", "stars": "1", "text": "Again."}
    assert "reviewed this already" in ann.send_form(form, again).text
    assert "Again." not in Visitor(ann.base).get("/product/cup-08").text


def test_logging_out_ends_the_session_here(join: Join) -> None:
    visitor = join("Short Visit")
    old = visitor.cookie("aisle_session").value
    visitor.get("/account")
    assert visitor.submit("/logout").path == "/"
    assert visitor.cookie("aisle_session") is None
    assert visitor.get("/account").path.startswith("/login")
    assert old


def test_the_session_cookie_is_signed_and_closed_to_scripts(ann: Visitor) -> None:
    cookie = ann.cookie("aisle_session")
    assert cookie.has_nonstandard_attr("HttpOnly")
    assert cookie.get_nonstandard_attr("SameSite") == "Lax"
    middle = len(cookie.value) // 3
    forged = (
        cookie.value[:middle] + ("A" if cookie.value[middle] != "A" else "B") + cookie.value[middle + 1 :]
    )
    assert Visitor(ann.base).get("/account", Cookie=f"aisle_session={forged}").path.startswith("/login")


def test_many_requests_at_once_with_an_old_token_renew_it_once(shop: Shop, join: Join) -> None:
    """Access tokens are renewed 30 s before they end; here the cookie says that it ended long ago."""
    visitor = join("Parallel Pat")
    signer = URLSafeTimedSerializer(_secret(shop), salt="storefront.session")
    kept = signer.loads(visitor.cookie("aisle_session").value)
    stale = signer.dumps({**kept, "expires": 0})
    answers: list[Page] = []

    def ask() -> None:
        answers.append(Visitor(shop.urls["storefront"]).get("/account", Cookie=f"aisle_session={stale}"))

    threads = [threading.Thread(target=ask) for _ in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [page.path for page in answers] == ["/account"] * 12
    renewed = {
        page.headers["Set-Cookie"].split(";")[0]
        for page in answers
        if "aisle_session" in page.headers.get("Set-Cookie", "")
    }
    access = {signer.loads(cookie.partition("=")[2])["access"] for cookie in renewed}
    assert len(access) == 1
    assert access != {kept["access"]}


def _secret(shop: Shop) -> str:
    return next(shop.state.rglob("secret-key")).read_text().strip()


@pytest.mark.parametrize(
    ("path", "cost"),
    [
        ("/basket", {"users": 1, "products": 1}),
        ("/checkout", {"users": 1, "orders": 1}),
        ("/orders", {"orders": 1}),
        ("/account", {"users": 1}),
        ("/account/export", {"users": 1}),
    ],
)
def test_an_own_page_asks_each_service_once_at_most(ann: Visitor, path: str, cost: dict[str, int]) -> None:
    put_in_basket(ann, "cup-09")
    services = dict.fromkeys(("users", "products", "orders"), 0)
    assert {name: asked(ann.get(path))[name] for name in services} == services | cost


def test_a_guest_buys_without_an_account_and_follows_the_order(visitor: Visitor) -> None:
    put_in_basket(visitor, "cup-14")
    page = visitor.get("/checkout")
    assert "Log in" in [text for _, text in page.links]
    page = visitor.submit("/checkout", email="guest@example.com", card="tok_ok")
    assert "Name is missing." in page.text
    assert page.form("/checkout").values["email"] == "guest@example.com"
    page = visitor.submit("/checkout", name="Gus Guest", **place("3 Passing Street"), card="tok_ok")
    assert page.path.startswith("/orders/"), page.text
    assert "3 Passing Street" in page.text
    address = page.path
    assert "Your basket is empty" in visitor.get("/basket").text
    seen = visitor.get(f"{address}/timeline?seen=2")
    assert (seen.status, seen.body) == (204, b"")
    fresh = visitor.get(f"{address}/timeline?seen=1")
    assert "Paid" in fresh.text
    assert fresh.form(f"{address}/cancellation"), "what can be done changes with the status"
    assert Visitor(visitor.base).get(address).path.startswith("/login"), "another browser does not see it"
    visitor.get(address)
    assert "Cancelled" in visitor.submit(f"{address}/cancellation").text


def test_what_came_into_the_basket_meanwhile_stays(visitor: Visitor) -> None:
    put_in_basket(visitor, "cup-16")
    shown = visitor.get("/checkout").form("/checkout")
    put_in_basket(visitor, "cup-17")
    bought = {"email": "two.tabs@example.com", "name": "Tia", **place("5 Tab Row"), "card": "tok_ok"}
    assert visitor.send_form(shown, {**shown.values, **bought}).path.startswith("/orders/")
    assert "1 in it" in visitor.page.text
    basket = visitor.get("/basket").text
    assert "Cup number 17" in basket
    assert "Cup number 16" not in basket


def test_a_guests_email_opens_the_order_in_any_browser(visitor: Visitor) -> None:
    put_in_basket(visitor, "cup-15")
    visitor.get("/checkout")
    page = visitor.submit(
        "/checkout", email="email.guest@example.com", name="Lena", **place("4 Post Street"), card="tok_ok"
    )
    link = link_in_email(visitor, "email.guest@example.com")
    other = Visitor(visitor.base)
    opened = other.get(link)
    assert opened.path == page.path, "the token has left the address"
    assert "4 Post Street" in opened.text
    wrong = Visitor(visitor.base).get(f"{page.path}?token=wrong")
    assert "4 Post Street" not in wrong.text
    assert other.get(f"{page.path}?token=wrong").status == 404
    assert "4 Post Street" in other.get(page.path).text, "a wrong token does not take the good one's place"


def test_a_wish_list_is_kept_and_moved_to_the_basket(join: Callable[..., Visitor], visitor: Visitor) -> None:
    visitor.get("/product/spade")
    assert visitor.submit("/wishes").path.startswith("/login")
    wisher = join("Wisher")
    for each in ("spade", "mug-gone"):
        wisher.get(f"/product/{each}")
        page = wisher.submit("/wishes")
        assert "is on your wish list." in page.text
        assert page.path == f"/product/{each}"
    page = wisher.get(wisher.get("/account").link("See your wish list"))
    assert "Garden Spade" in page.text
    assert "Sold out" in page.text
    assert "Moved to your basket." in wisher.submit("/wishes/spade").text
    assert "Garden Spade" in wisher.get("/basket").text
    wisher.get("/wishes")
    page = wisher.submit("/wishes/mug-gone", remove="1")
    assert "Nothing yet." in page.text


def test_a_guest_is_written_to_when_a_product_is_back(keeper: Visitor, visitor: Visitor) -> None:
    """The whole shop runs here: the worker sends the e-mail."""
    email = "waiting.guest@example.com"
    keeper.get("/admin/products/new")
    lamp = {"taxonomy": "Waiting", "price": "5.00", "currency": "GBP", "stock": "0"}
    keeper.submit("/admin/products/new", productid="await-1", name="Awaited Lamp", **lamp)
    visitor.get("/product/await-1")
    page = visitor.submit("/stock-alerts", email=email)
    assert "Look into your mailbox" in page.text
    visitor.get(link_in_email(visitor, email))
    assert "We write to you once when it is back." in visitor.submit("/stock-alerts/confirm").text
    keeper.get("/admin/products/await-1")
    keeper.submit("/admin/products/await-1/stock", delta="2", reason="delivery")
    eventually(lambda: "Awaited Lamp is back" in visitor.get(f"/mailbox?to={email}").text, 120)
    visitor.get("/stock-alerts/cancel?token=none")
    assert "that is good no more" in visitor.submit("/stock-alerts/cancel").text
