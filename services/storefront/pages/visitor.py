"""The browser at hand: who it is (a signed cookie with its tokens), and its guest basket."""

from collections.abc import Callable
from dataclasses import asdict
from functools import wraps
from typing import Any, TypeVar, cast
from urllib.parse import quote

from flask import Flask, Request, Response, g, request, session, url_for
from flask.sessions import SecureCookieSession, SecureCookieSessionInterface
from itsdangerous import BadSignature, URLSafeTimedSerializer

from services.storefront.actions.sessions import Session
from services.storefront.clients import Requester
from services.storefront.pages.compression import add_vary
from services.storefront.pages.context import dependencies
from services.storefront.pages.csrf import SAFE_METHODS, check_form
from services.storefront.translation import gettext as _
from shared.errors import NotFound, Unauthorized
from shared.sessions import SessionEnded

COOKIE = "aisle_session"
DEVICE_COOKIE, DEVICE_DAYS = "aisle_device", 365
MAX_ORDERS = 5


def register_visitor(app: Flask) -> None:
    app.before_request(check_access)
    app.after_request(write_cookie)


class Sessions(SecureCookieSessionInterface):
    """Flask's own, without the work of reading a cookie that was not sent."""

    def open_session(self, app: Flask, request: Request) -> SecureCookieSession | None:
        if self.get_cookie_name(app) not in request.cookies:
            return self.session_class()
        return super().open_session(app, request)


def logged_in() -> Session | None:
    """The session of this browser, or None: one that has ended elsewhere is over here, too. For its access token see `token`."""
    if "session" not in g:
        found = g.session = _read_cookie()
        live = _live(found) if found else None
        if live is not found:
            remember(live)
    current: Session | None = g.session
    return current


def _live(found: Session) -> Session | None:
    try:
        return dependencies().refresher.live(found)
    except SessionEnded:
        session["forget"] = session.permanent = True
    except Unauthorized:
        pass  # it has only run out
    return None


def token() -> str:
    """A valid access token of this browser, renewed when it has run out. Raises Unauthorized when logged out."""
    found = logged_in()
    if found is None:
        raise Unauthorized(_("Log in first."))
    fresh = dependencies().refresher.fresh(found)
    if fresh is not found:
        remember(fresh)
    return fresh.access


def remember(found: Session | None) -> None:
    """Logs this browser in (or out, with None): written into the cookie with the answer."""
    g.session, g.session_changed = found, True
    g.owner = owner()


def enter(found: Session, count: int) -> None:
    """After a log-in: no form that was handed out before it is good any more."""
    _forget("orders", "forms", "payments")
    session["count"] = count
    remember(found)


def leave(*, forget: bool = True) -> None:
    """Logs this browser out; it stays known as one that was here, so that a form still open in it can be kept. `forget`: nothing of
    who was here stays on the device, also no order that waits, for the session was ended on purpose."""
    _forget("forms")
    session["known"] = True
    if forget:
        session["forget"] = True
    remember(None)


def is_anonymous() -> bool:
    """Whether a page for this browser is a page for everybody: nobody is logged in, nothing is in a basket, nothing to say."""
    return not session and logged_in() is None


def _forget(*but: str) -> None:
    """Empties the visit, `but` these."""
    kept = {name: session[name] for name in but if name in session}
    session.clear()
    session.update(kept)
    session.permanent = True


def owner() -> str:
    """Whom pages are shown to, as their forms carry it: "" for a guest."""
    found = logged_in()
    return found.owner if found else ""


def was_ended() -> bool:
    """Whether the last session of this browser was ended on purpose (a log-out, an erasure, a new password, a closed account); one that
    only ran out was not."""
    return bool(session.get("forget"))


def customer_group() -> str:
    """Whose prices pages show; "" for those that everybody pays."""
    if "customer_group" not in g:
        found = logged_in()
        g.customer_group = found.user.group if found else ""
    group: str = g.customer_group
    return group


def guest_basket() -> dict[str, int]:
    return dict(session.get("basket", {}))


def basket_count() -> int:
    return int(session.get("count", 0))


def remember_order(orderid: str, order_token: str) -> None:
    """Remembers the token of an order that a guest placed, or followed from an e-mail."""
    kept = {**session.get("orders", {}), orderid: order_token}
    session["orders"] = dict(list(kept.items())[-MAX_ORDERS:])
    session.permanent = True


def requester_of(orderid: str) -> Requester:
    """Who asks for an order: the guest who placed it here, else the user who is logged in. Raises Unauthorized."""
    known = session.get("orders", {}).get(orderid)
    return Requester(order_token=known) if known else Requester(token())


def check_access() -> None:
    """Rejects an unauthorised request before anything of the body is read: a body may be large, and slow."""
    g.owner = owner()
    if request.blueprint == "desk":
        needs_staff()
    if request.method not in SAFE_METHODS:
        check_form()


def device_token() -> str:
    """What shows the users service that a user logged in with this browser before; "" for a new one."""
    return request.cookies.get(DEVICE_COOKIE, "")[:300]


def remember_device(text: str) -> None:
    """Outlasts the session, so that nobody keeps its owner out by guessing at the password elsewhere."""
    g.device_token = text


def write_cookie(response: Response) -> Response:
    """Sets or deletes the session cookie when this request changed it."""
    options: dict[str, Any] = {
        "secure": dependencies().settings.secure_cookies,
        "httponly": True,
        "samesite": "Lax",
    }
    if g.get("session_changed"):
        if g.session is None:
            response.delete_cookie(COOKIE, **options)
        else:
            value = _signer().dumps(asdict(g.session))
            response.set_cookie(
                COOKIE, value, max_age=dependencies().settings.session_days * 86400, **options
            )
    if g.get("device_token"):
        response.set_cookie(
            DEVICE_COOKIE, g.device_token, max_age=DEVICE_DAYS * 86400, path="/login", **options
        )
    add_vary(response, "Cookie")
    return response


Page = TypeVar("Page", bound=Callable[..., Any])


def needs_login(page: Page) -> Page:
    """Sends a visitor to the log-in page, and back here afterwards; a form that was sent is kept."""

    @wraps(page)
    def checked(*args: Any, **kwargs: Any) -> Any:
        if logged_in() is None:
            raise Unauthorized(_("Log in first."))
        return page(*args, **kwargs)

    return cast(Page, checked)


def needs_staff() -> None:
    """For the desk: a visitor who is not logged in goes to the log-in page, a customer finds no desk."""
    found = logged_in()
    if found is None:
        raise Unauthorized(_("Log in as one of the shop's people."))
    if not found.staff:
        raise NotFound(_("There is no such page."))


def login_url() -> str:
    return url_for("auth.login", next=here()) if request.method == "GET" else url_for("auth.login")


def here() -> str:
    """This page's address as a browser would send it again."""
    query = request.query_string.decode("latin-1")
    return quote(request.path, safe="/") + (f"?{query}" if query else "")


def own_path(target: str, otherwise: str) -> str:
    """`target` when it is a path of this site, never another site's address."""
    own = target.startswith("/") and not target.startswith(("//", "/\\"))
    return target if own and target.isprintable() else otherwise  # browsers leave tabs out: /<tab>/ is //


def _signer() -> URLSafeTimedSerializer:
    return URLSafeTimedSerializer(dependencies().settings.secret_key, salt="storefront.session")


def _read_cookie() -> Session | None:
    text = request.cookies.get(COOKIE, "")
    if not text:
        return None
    try:
        kept = _signer().loads(text, max_age=dependencies().settings.session_days * 86400)
        return Session(**{**kept, "roles": tuple(kept["roles"])})
    except (BadSignature, TypeError, KeyError):
        return None
