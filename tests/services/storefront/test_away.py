"""The storefront alone, every service away: kind pages, quick, and nothing that needs nobody is lost."""

from copy import copy
from urllib.parse import urlencode

import pytest
from itsdangerous import URLSafeTimedSerializer

from tests.processes import free_port, start_service
from tests.services.storefront.visitor import Page, Visitor


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory):
    """The storefront with addresses nobody listens on."""
    nobody = f"http://127.0.0.1:{free_port()}"
    env = {
        "AISLE_ENV": "local",
        "SECRET_KEY": "cookie secret",
        "SERVICE_SECRET": "service secret",
        "USERS_URL": nobody,
        "PRODUCTS_URL": nobody,
        "ORDERS_URL": nobody,
        "REDIS_URL": f"redis://127.0.0.1:{free_port()}/0",
    }
    process, url = start_service("storefront", tmp_path_factory.mktemp("alone") / "storefront.log", env)
    yield url
    process.stop()


@pytest.mark.parametrize("path", ["/", "/search?q=mug", "/category/Home", "/product/p1", "/suggest?q=mu"])
def test_a_page_whose_service_is_away_says_so(alone: str, path: str) -> None:
    page = Visitor(alone).get(path)
    assert page.status == 503
    assert int(page.headers["Retry-After"]) >= 1
    assert "unavailable at the moment" in page.text
    assert "127.0.0.1" not in page.body.decode(), "where our services are is nobody's business"


@pytest.mark.parametrize(
    "path", ["/login", "/register", "/reset", "/basket", "/departments", "/verify?token=x"]
)
def test_pages_that_need_no_service_stay_up(alone: str, path: str) -> None:
    assert Visitor(alone).get(path).status == 200


def test_a_form_that_cannot_be_taken_now_is_answered_kindly(alone: str) -> None:
    visitor = Visitor(alone)
    visitor.get("/login")
    page = visitor.submit("/login", email="ann@example.com", password="correct horse")
    assert page.status == 503
    assert "unavailable at the moment" in page.text


@pytest.mark.parametrize("expires", [0, 2**40])
def test_who_logs_out_now_is_out_here_and_told_of_the_rest(alone: str, expires: int) -> None:
    """An access token that has run out would be renewed first, for which Redis is needed."""
    kept = {"access": "a", "refresh": "r", "expires": expires, "name": "Ann", "userid": "u", "roles": []}
    cookie = URLSafeTimedSerializer("cookie secret", salt="storefront.session").dumps(kept)
    visitor = Visitor(alone)
    visitor.get("/login")
    session = copy(visitor.cookie("aisle_visit"))
    session.name, session.value = "aisle_session", cookie
    visitor.jar.set_cookie(session)
    assert visitor.get("/departments").link("Ann") == "/account"
    token = visitor.get("/reset").form("/reset").values["_csrf"]
    body = f"_csrf={token}".encode()
    page = visitor.send("POST", "/logout", body, {"Content-Type": "application/x-www-form-urlencoded"})
    assert "could not be ended elsewhere" in page.text
    assert visitor.get("/departments").link("Log in") == "/login"


def test_health_tells_who_is_away(alone: str) -> None:
    visitor = Visitor(alone)
    assert visitor.get("/health/live").status == 200
    ready = visitor.get("/health/ready")
    assert ready.status == 503
    assert all(name in ready.body.decode() for name in ("users", "products", "orders", "redis"))


@pytest.mark.parametrize(
    "path",
    ["/", "/login", "/nothing", "/account", "/admin", "/assets/x/shop.css", "/mailbox", "/media/x.svg"],
)
def test_every_answer_carries_the_security_headers(alone: str, path: str) -> None:
    page = Visitor(alone).get(path)
    policy = page.headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert "frame-ancestors 'none'" in policy
    assert page.headers["X-Content-Type-Options"] == "nosniff"
    assert page.headers["Referrer-Policy"] == "same-origin"
    assert page.headers["X-Request-ID"]


@pytest.mark.parametrize("path", ["/login", "/register", "/basket", "/nothing", "/"])
def test_pages_hold_no_inline_code_and_nothing_from_elsewhere(alone: str, path: str) -> None:
    page = Visitor(alone).get(path)
    assert page.inline == []
    assert page.sources
    assert all(source.startswith("/") and not source.startswith("//") for source in page.sources)


def test_static_files_are_kept_for_ever_under_the_address_of_their_release(alone: str) -> None:
    visitor = Visitor(alone)
    sheet = next(source for source in visitor.get("/login").sources if source.endswith("shop.css"))
    kept = visitor.get(sheet)
    assert kept.headers["Cache-Control"] == "public, max-age=31536000, immutable"
    assert "immutable" not in visitor.get("/assets/older/shop.css").headers["Cache-Control"]
    assert visitor.get("/assets/older/../app.py").status == 404


def test_a_form_without_its_token_is_refused(alone: str) -> None:
    visitor = Visitor(alone)
    visitor.get("/login")
    form = visitor.page.form("/login")
    values = {"email": "ann@example.com", "password": "correct horse"}
    for token in ({}, {"_csrf": "x" * 24}, {"_csrf": ".\u00e9"}):
        assert _sent_without_a_page(visitor, values | token).status == 403
        assert visitor.send_form(form, values | token).path.startswith("/login?form="), (
            "shown again, not done"
        )
    stranger = Visitor(alone)
    assert stranger.send_form(form, {**values, "_csrf": form.values["_csrf"]}).status == 403


def _sent_without_a_page(visitor: Visitor, values: dict[str, str]) -> Page:
    headers = {"Content-Type": "application/x-www-form-urlencoded"}
    return visitor.send("POST", "/login", urlencode(values).encode(), headers)


def test_a_form_sent_from_another_site_is_refused(alone: str) -> None:
    visitor = Visitor(alone)
    token = visitor.get("/login").form("/login").values["_csrf"]
    body = f"_csrf={token}&email=ann@example.com&password=x".encode()
    headers = {"Content-Type": "application/x-www-form-urlencoded", "Sec-Fetch-Site": "cross-site"}
    assert visitor.send("POST", "/login", body, headers).status == 403


def test_every_form_that_changes_something_carries_a_token(alone: str) -> None:
    visitor = Visitor(alone)
    for path in ("/login", "/register", "/registered", "/reset", "/reset/confirm?token=x", "/verify?token=x"):
        posts = [form for form in visitor.get(path).forms if form.method == "post"]
        assert posts
        assert all(form.values.get("_csrf") for form in posts), path


@pytest.mark.parametrize("cookie", ["", "rubbish", "eyJhIjoxfQ.aaaa.bbbb", "x" * 4000])
def test_a_damaged_session_cookie_is_a_visitor_who_is_not_logged_in(alone: str, cookie: str) -> None:
    page = Visitor(alone).get("/account", Cookie=f"aisle_session={cookie}; aisle_visit={cookie}")
    assert page.status == 200
    assert page.path == "/login?next=/account"


@pytest.mark.parametrize(
    "target",
    [
        "//evil.example",
        "https://evil.example",
        "/\\evil.example",
        "javascript:alert(1)",
        "/%09/evil.example",
        "/%0D%0A/x",
    ],
)
def test_login_never_leads_to_another_site(alone: str, target: str) -> None:
    page = Visitor(alone).get(f"/login?next={target}")
    assert page.form("/login").values["next"] == ""


def test_a_long_form_is_refused_without_being_read(alone: str) -> None:
    visitor = Visitor(alone)
    visitor.get("/register")
    assert visitor.submit("/register", name="x" * 2_000_000).status == 413


def test_the_visit_cookie_cannot_be_read_by_scripts(alone: str) -> None:
    visitor = Visitor(alone)
    visitor.get("/login")
    cookie = visitor.cookie("aisle_visit")
    assert cookie.has_nonstandard_attr("HttpOnly")
    assert cookie.get_nonstandard_attr("SameSite") == "Lax"
