"""Answers a page that is kept for everybody before the application is entered: nothing is routed, signed or drawn for it."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from services.storefront.caches.page_cache import SentPage
from services.storefront.dependencies import Dependencies
from services.storefront.pages.caching import CONDITIONAL_HEADERS
from services.storefront.pages.currency import CURRENCY_COOKIE
from services.storefront.pages.language import LANGUAGE_COOKIE
from services.storefront.pages.localized_templates import LocalizedEnvironment
from services.storefront.pages.public_pages import HIT, SENT, address_of
from shared.web.factory import ROUTE, Environ, Service

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse

COOKIE_PREFIX = "aisle_"
"""Of all cookies that a page may depend on."""


class Storefront(Service):
    """The storefront's application."""

    jinja_environment = LocalizedEnvironment

    def answer(self, environ: Environ, start_response: "StartResponse") -> Iterable[bytes]:
        deps: Dependencies = self.extensions["aisle.dependencies"]
        page = _kept_page(deps, environ)
        if page is None:
            return super().answer(environ, _noting(deps, environ, start_response))
        environ[ROUTE] = page.route
        deps.repeated_searches.note(environ)
        start_response("200 OK", [*page.headers, HIT])
        return [] if environ["REQUEST_METHOD"] == "HEAD" else [page.body]


def _kept_page(deps: Dependencies, environ: Environ) -> SentPage | None:
    """None for a browser that the shop knows, or that asks whether what it has is still good."""
    if environ["REQUEST_METHOD"] not in ("GET", "HEAD") or _is_known(environ.get("HTTP_COOKIE", "")):
        return None
    if any(name in environ for name in CONDITIONAL_HEADERS):
        return None
    return deps.public_pages.get_sent(deps.catalogue.menus, address_of(environ, deps))


def _is_known(cookies: str) -> bool:
    """Whether the shop has told this browser more than which currency and which language it chose."""
    return cookies.count(COOKIE_PREFIX) > cookies.count(f"{CURRENCY_COOKIE}=") + cookies.count(
        f"{LANGUAGE_COOKIE}="
    )


def _noting(deps: Dependencies, environ: Environ, start_response: "StartResponse") -> "StartResponse":
    """`start_response` that keeps the headers of a public page beside it."""

    def start(status: str, headers: list[tuple[str, str]], exc_info: Any = None) -> Any:
        if SENT in environ and status == "200 OK" and not any(name == "Set-Cookie" for name, _ in headers):
            address, etag = environ[SENT]
            rule = environ["werkzeug.request"].url_rule
            deps.public_pages.note_sent(address, etag, rule.rule, [each for each in headers if each != HIT])
        return start_response(status, headers, exc_info)

    return start
