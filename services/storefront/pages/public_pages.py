"""Pages that are the same for everybody, drawn once for each of the answers that they show.

No page is older for it: the services are asked for every view, and a page is used again only for the very same answers, byte for
byte. What a page of one person would show besides (name, basket, notes, tokens) is not among them, so nothing is looked up
or kept here without a PublicAddress, and only a request without a session has one.
"""

import hashlib
from collections.abc import Callable

from flask import Response, g, request, session

from services.storefront.pages.compression import encoded, preferred_encoding
from services.storefront.pages.dependencies import dependencies
from services.storefront.pages.page_cache import PublicAddress, PublicPage
from services.storefront.pages.visitor import is_anonymous


def public_address() -> PublicAddress | None:
    """Where this request's page may be kept; None for a browser with a session."""
    if request.method not in ("GET", "HEAD") or not is_anonymous():
        return None
    environ = request.environ
    site = (
        f"{request.scheme}://{environ.get('HTTP_HOST', '')} {environ['SERVER_NAME']}:{environ['SERVER_PORT']}"
    )
    return PublicAddress(site, request.path, request.query_string, preferred_encoding())


def is_public() -> bool:
    """Whether the page that was drawn for this request holds nothing of one person, and nothing that is good only once."""
    changed = session.modified or g.get("session_changed") or g.get("one_time_key_shown")
    return is_anonymous() and not changed


def public_page(answers: tuple[object, ...], draw: Callable[[], str]) -> Response | str:
    """The page that `draw` makes of `answers` (bytes of services, the objects behind kept ones), the menu, and this request's address."""
    address = public_address()
    if address is None:
        return draw()
    pages = dependencies().public_pages
    menu, shown = dependencies().catalogue.menu(), tuple(map(_version, answers))
    page = pages.get(menu, address, shown)
    if page is None:
        text = draw()
        if not is_public():
            return text
        page = _finished(text.encode(), address.encoding)
        pages.put(menu, address, shown, page)
    return page.response()


def _version(answer: object) -> object:
    return hashlib.sha256(answer).digest() if isinstance(answer, bytes) else answer


def _finished(text: bytes, encoding: str | None) -> PublicPage:
    etag = f'W/"{hashlib.sha1(text, usedforsecurity=False).hexdigest()}"'
    body = encoded(text, encoding)
    return PublicPage(text, etag, None) if body is None else PublicPage(body, etag, encoding)
