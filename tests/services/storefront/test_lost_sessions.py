"""A session that ends while a form is open: log in, come back, nothing lost; and nothing is done without pressing again."""

import copy
from collections.abc import Callable

import pytest
from itsdangerous import URLSafeTimedSerializer
from redis import Redis

from services.storefront.actions.saved_forms import SavedForm, SavedForms, savable
from tests.bench.running import ADMIN_EMAIL, Shop
from tests.people import PASSWORD, place
from tests.services.storefront.conftest import log_in
from tests.services.storefront.test_customer import put_in_basket
from tests.services.storefront.visitor import Form, Page, Visitor

Join = Callable[..., Visitor]
NEW = {"address_id": "new", "name": "Lake house", **place("7 Shore Road"), "card": "tok_ok"}


def logged_out_elsewhere(visitor: Visitor, secret: str = "") -> None:
    """In another window of the same browser."""
    visitor.get("/account")
    visitor.submit("/logout")


def ended(visitor: Visitor, secret: str) -> None:
    """By another device; this browser's cookie is still there, and its access token has run out."""
    other = Visitor(visitor.base)
    for cookie in visitor.jar:
        other.jar.set_cookie(copy.copy(cookie))
    logged_out_elsewhere(other)
    cookie = visitor.cookie("aisle_session")
    signer = URLSafeTimedSerializer(secret, salt="storefront.session")
    cookie.value = signer.dumps({**signer.loads(cookie.value), "expires": 0})


def session_cookie_gone(visitor: Visitor, secret: str) -> None:
    visitor.jar.clear(visitor.cookie("aisle_session").domain, "/", "aisle_session")


@pytest.fixture(scope="module")
def secret(shop: Shop) -> str:
    return next(shop.state.rglob("secret-key")).read_text().strip()


LOSSES = [logged_out_elsewhere, ended, session_cookie_gone]


def log_in_here(visitor: Visitor, email: str) -> Page:
    assert visitor.page.path.startswith("/login"), visitor.page.text
    return visitor.submit("/login", email=email, password=PASSWORD)


@pytest.mark.parametrize("lose", LOSSES)
def test_a_session_lost_at_checkout_loses_nothing(
    join: Join, secret: str, lose: Callable[[Visitor, str], None]
) -> None:
    name = f"Lost {lose.__name__.replace('_', ' ')}"
    email = f"lost.{lose.__name__}@example.com"
    visitor = join(name, email=email)
    put_in_basket(visitor, "cup-20", "2")
    form = visitor.get("/checkout").form("/checkout")
    lose(visitor, secret)
    page = visitor.send_form(form, {**form.values, **NEW})
    assert "nothing has been sent" in page.text
    page = log_in_here(visitor, email)
    assert page.path.startswith("/checkout"), page.text
    assert "Cup number 20" in page.text
    again = page.form("/checkout")
    assert (again.values["name"], again.values["line1"]) == (NEW["name"], NEW["line1"])
    assert again.values["address_id"] == "new"
    assert "card" not in again.values, "payment data is not kept"
    assert "No orders yet" in visitor.get("/orders").text, "nothing is ordered before it is sent again"
    visitor.page = page
    assert visitor.submit("/checkout", card="tok_ok").path.startswith("/orders/")
    assert "7 Shore Road" in visitor.page.text


def test_a_saved_form_is_of_one_browser_and_one_user(join: Join) -> None:
    visitor = join("Saved Sam")
    put_in_basket(visitor, "cup-21")
    form = visitor.get("/checkout").form("/checkout")
    logged_out_elsewhere(visitor)
    visitor.send_form(form, {**form.values, **NEW})
    page = log_in_here(visitor, "saved.sam@example.com")
    address = page.path
    stranger = join("Stranger Sid")
    put_in_basket(stranger, "cup-21")
    assert "7 Shore Road" not in str(stranger.get(address).form("/checkout").values)
    visitor.get("/account")
    visitor.submit("/logout")
    log_in(visitor, "stranger.sid@example.com", PASSWORD)
    assert "7 Shore Road" not in str(visitor.get(address).form("/checkout").values), (
        "another user of this browser"
    )


def test_what_is_kept_in_redis_cannot_be_read_there_and_ends(redis_url: str) -> None:
    redis = Redis.from_url(redis_url)
    others = set(redis.keys("storefront:form:*"))
    typed = {"address": "7 Shore Road", "password": "a secret", "card": "tok_ok", "_csrf": "x", "key": "y"}
    saved = SavedForms(redis, "the secret key")
    form_id = saved.save(SavedForm("/checkout", savable(typed.items()), "owner"))
    assert saved.load(form_id) == SavedForm("/checkout", {"address": "7 Shore Road"}, "owner")
    [name] = set(redis.keys("storefront:form:*")) - others
    assert form_id.encode() not in name
    assert b"Shore" not in redis.get(name)
    assert 0 < redis.ttl(name) <= 3600
    assert SavedForms(redis, "another key").load(form_id) is None
    redis.delete(name)
    assert saved.load(form_id) is None


def test_a_form_of_the_account_comes_back_as_it_was_typed(join: Join, secret: str) -> None:
    visitor = join("Addy Typed")
    visitor.get("/account")
    form = next(each for each in visitor.page.forms if each.action == "/account/addresses")
    ended(visitor, secret)
    visitor.send_form(form, {**form.values, "name": "Cabin", **place(), "default": "yes"})
    page = log_in_here(visitor, "addy.typed@example.com")
    assert page.path.startswith("/account")
    again = next(each for each in page.forms if each.action == "/account/addresses")
    assert (again.values["name"], again.values["line1"], again.values["default"]) == (
        "Cabin",
        place()["line1"],
        "yes",
    )
    assert "No address yet" in page.text


def test_a_password_is_never_kept(join: Join, secret: str) -> None:
    visitor = join("Pass Less")
    visitor.get("/account")
    form = visitor.page.form("/account/erase")
    ended(visitor, secret)
    visitor.send_form(form, {**form.values, "password": PASSWORD})
    page = log_in_here(visitor, "pass.less@example.com")
    assert page.path.startswith("/account")
    assert PASSWORD.encode() not in page.body
    assert page.form("/account/erase").values["password"] == ""


def test_a_guests_form_survives_a_log_in_in_another_window(join: Join) -> None:
    join("Late Login")
    visitor = Visitor(join("Late Other").base)
    put_in_basket(visitor, "cup-23")
    form = visitor.get("/checkout").form("/checkout")
    log_in(visitor, "late.login@example.com", PASSWORD)
    typed = {
        "email": "late.login@example.com",
        "name": "Lateral",
        **place("9 Side Street"),
        "card": "tok_ok",
    }
    page = visitor.send_form(form, {**form.values, **typed})
    assert page.path.startswith("/checkout"), page.text
    assert page.form("/checkout").values["line1"] == "9 Side Street"
    assert "Nothing has been sent yet" in page.text
    assert "Cup number 23" in page.text


def test_a_form_of_another_site_is_refused_and_not_kept(join: Join) -> None:
    visitor = join("Cross Site")
    form = visitor.get("/account").form("/account")
    form.page = "https://evil.example/"
    headers = {"Content-Type": "application/x-www-form-urlencoded", "Referer": "https://evil.example/"}
    page = visitor.send("POST", "/account", b"_csrf=x&name=Evil", headers)
    assert page.status == 403
    page = visitor.send("POST", "/account", b"_csrf=x&name=Evil", {**headers, "Sec-Fetch-Site": "cross-site"})
    assert page.status == 403


def test_a_log_in_page_that_was_open_for_too_long_keeps_the_address_typed(shop: Shop) -> None:
    visitor = Visitor(shop.urls["storefront"])
    form = visitor.get("/login?next=/orders").form("/login")
    visitor.get("/")
    values = {
        **form.values,
        "_csrf": ".an-older-token",
        "email": ADMIN_EMAIL,
        "password": shop.admin_password,
    }
    page = visitor.send_form(form, values)
    assert page.path.startswith("/login")
    assert (page.form("/login").values["email"], page.form("/login").values["password"]) == (ADMIN_EMAIL, "")
    assert visitor.submit("/login", password=shop.admin_password).path == "/orders"


def test_logging_out_twice_in_two_windows_ends_at_the_front(join: Join) -> None:
    visitor = join("Out Twice")
    form: Form = visitor.get("/account").form("/logout")
    visitor.submit("/logout")
    assert visitor.send_form(form, form.values).path == "/"


@pytest.mark.parametrize(
    "path", ["/account/addresses", "/account/erase", "/product/cup-24/reviews", "/basket/cup-24"]
)
def test_an_address_that_a_form_went_to_can_be_opened(join: Join, path: str, visitor: Visitor) -> None:
    assert visitor.get(path).status == 200
    assert visitor.get(f"{path}?endpoint=x&productid=y&form=none").status == 200
