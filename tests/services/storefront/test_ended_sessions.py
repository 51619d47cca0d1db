"""A session that ended somewhere else is over in every browser, on whatever page it opens next."""

from collections.abc import Callable

import orjson
import pytest
import requests
from itsdangerous import URLSafeTimedSerializer

from tests.bench.running import ADMIN_EMAIL, Shop
from tests.people import PASSWORD
from tests.services.storefront.conftest import log_in
from tests.services.storefront.visitor import Visitor
from tests.waiting import eventually

Join = Callable[..., Visitor]


def second_browser(visitor: Visitor) -> Visitor:
    """With the same cookies."""
    other = Visitor(visitor.base)
    for cookie in visitor.jar:
        other.jar.set_cookie(cookie)
    return other


def greets(visitor: Visitor, name: str) -> bool:
    return name in visitor.get("/").text


def admin_of(shop: Shop) -> requests.Session:
    """The admin, over the API."""
    admin = requests.Session()
    body = {"email": ADMIN_EMAIL, "password": shop.admin_password}
    tokens = admin.post(f"{shop.urls['users']}/v1/sessions", json=body, timeout=30).json()
    admin.headers["Authorization"] = f"Bearer {tokens['access_token']}"
    return admin


def userid_of(shop: Shop, admin: requests.Session, email: str) -> str:
    url = f"{shop.urls['users']}/v1/admin/users/lookup"
    return admin.post(url, json={"email": email}, timeout=30).json()["userid"]


def test_logging_out_in_one_browser_ends_the_session_in_its_copy(join: Join) -> None:
    visitor = join("Olga Out")
    copy = second_browser(visitor)
    assert greets(copy, "Olga Out")
    visitor.get("/account")
    visitor.submit("/logout")
    eventually(lambda: not greets(copy, "Olga Out"))
    assert copy.cookie("aisle_session") is None
    assert orjson.loads(copy.get("/device").body) == {"owner": "", "forget": True}
    assert copy.get("/account").path.startswith("/login")


@pytest.mark.parametrize("end", ["closure", "erasure"])
def test_an_account_that_is_closed_is_logged_out_on_its_next_page(shop: Shop, join: Join, end: str) -> None:
    name = f"Clara {end.title()}"
    visitor, admin = join(name), admin_of(shop)
    url = f"{shop.urls['users']}/v1/admin/users/{userid_of(shop, admin, f'clara.{end}@example.com')}"
    if end == "closure":
        done = admin.put(f"{url}/closure", json={"reason": "asked"}, timeout=30)
    else:
        done = admin.delete(url, timeout=30)
    assert done.ok
    eventually(lambda: not greets(visitor, name))
    assert visitor.cookie("aisle_session") is None


def test_a_browser_that_comes_back_later_is_not_greeted_by_an_ended_session(shop: Shop, join: Join) -> None:
    """Its access token has run out, so that what ended long ago shows when it is renewed; home needs no token otherwise."""
    visitor = join("Lara Late")
    signer = URLSafeTimedSerializer(
        next(shop.state.rglob("secret-key")).read_text().strip(), salt="storefront.session"
    )
    kept = signer.loads(visitor.cookie("aisle_session").value)
    stale = {"Cookie": f"aisle_session={signer.dumps({**kept, 'expires': 0})}"}
    visitor.get("/account")
    visitor.submit("/logout")
    late = Visitor(visitor.base)
    assert "Lara Late" not in late.get("/", **stale).text
    assert orjson.loads(late.get("/device").body) == {"owner": "", "forget": True}, (
        "it was ended, not run out"
    )


def test_the_desk_closes_for_whoever_lost_the_role_and_the_customer_stays(
    shop: Shop, join: Join, keeper: Visitor
) -> None:
    visitor = join("Dora Desk")
    keeper.get("/admin/staff")
    keeper.submit("/admin/staff", email="dora.desk@example.com", role="staff")
    visitor.get("/account")
    visitor.submit("/logout")
    log_in(visitor, "dora.desk@example.com", PASSWORD)
    assert visitor.get("/admin").status == 200
    keeper.get("/admin/staff")
    keeper.submit("/admin/staff", email="dora.desk@example.com", role="customer")
    eventually(lambda: visitor.get("/admin").status == 404)
    assert greets(visitor, "Dora Desk")
