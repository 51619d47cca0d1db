"""Pages that are the same for everybody: kept for seconds while nothing that they show changes, and drawn once for the same answers.

A view that is `kept_for` its tags is sent again without asking any service, by every replica only as long as the tags' versions
stay what they are, and for `page_seconds` at most. When it has to ask, a page is drawn again only for other answers. What a
page of one person would show besides (name, basket, notes, tokens) is not among them, so nothing is looked up or kept
here without a PublicAddress, and only a request without a session has one.
"""

import hashlib
import time
from collections.abc import Callable, Sequence
from functools import wraps
from typing import cast

from flask import Response, g, request, session
from flask.typing import ResponseReturnValue

from services.storefront.pages.compression import encoded, preferred_encoding
from services.storefront.pages.dependencies import dependencies
from services.storefront.pages.page_cache import Freshness, PublicAddress, PublicPage
from services.storefront.pages.visitor import is_anonymous
from shared.cache_tags import CATALOGUE, SHOP, is_settled
from shared.couch.deadline import READ_SECONDS, time_for

View = Callable[..., ResponseReturnValue]


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


def kept_for(tags: Callable[..., Sequence[str]]) -> Callable[[View], View]:
    """A view that shows what has these tags, told from its arguments, besides the menu; it answers with `public_page`."""

    def decorate(view: View) -> View:
        @wraps(view)
        def kept(**arguments: str) -> ResponseReturnValue:
            began, address = time.monotonic(), public_address()
            versions = _versions(tags(**arguments)) if address is not None else None
            if address is None or versions is None:
                return view(**arguments)
            found = _fresh(address, versions)
            if found is not None:
                return found.response()
            if not is_settled(versions):
                return view(**arguments)
            g.freshness = Freshness(versions, began)
            return _coalesced(address, versions, lambda: view(**arguments))

        return cast(View, kept)

    return decorate


def follow_catalogue() -> None:
    """For a page made of nothing but the menu and the goods in the window: a change shows at once."""
    if public_address() is not None:
        _versions(())


def is_outdated() -> None:
    """What this page shows is being made again: the next one asks for it."""
    g.freshness = None


def _versions(tags: Sequence[str]) -> tuple[str, ...] | None:
    """Of these tags and of what all pages show; None when nothing may be kept, or Redis cannot tell."""
    if not dependencies().settings.page_seconds:
        return None
    versions = dependencies().cache_tags.versions((CATALOGUE, SHOP, *tags))
    if versions is None:
        return None
    dependencies().catalogue.follow(versions[0])
    return versions[1:]


def _fresh(address: PublicAddress, versions: tuple[str, ...]) -> PublicPage | None:
    seconds, menu = dependencies().settings.page_seconds, dependencies().catalogue.menu()
    return dependencies().public_pages.get_fresh(menu, address, versions, seconds)


def _coalesced(
    address: PublicAddress, versions: tuple[str, ...], view: Callable[[], ResponseReturnValue]
) -> ResponseReturnValue:
    """The page that somebody else is just asking for, or one of our own."""
    coalescing, key = dependencies().coalescing, (address, versions)
    running = coalescing.begin(key)
    if running is not None:
        running.wait(time_for(READ_SECONDS) / 2)
        found = _fresh(address, versions)
        return view() if found is None else found.response()
    try:
        return view()
    finally:
        coalescing.end(key)


def public_page(answers: tuple[object, ...], draw: Callable[[], str]) -> Response | str:
    """The page that `draw` makes of `answers` (bytes of services, the objects behind kept ones), the menu, and this request's address."""
    address = public_address()
    if address is None:
        return draw()
    pages, freshness = dependencies().public_pages, g.get("freshness")
    menu, shown = dependencies().catalogue.menu(), tuple(map(_version, answers))
    page = pages.get(menu, address, shown, freshness)
    if page is None:
        text = draw()
        if not is_public():
            return text
        page = _finished(text.encode(), address.encoding)
        pages.put(menu, address, shown, page, freshness)
    return page.response()


def _version(answer: object) -> object:
    return hashlib.sha256(answer).digest() if isinstance(answer, bytes) else answer


def _finished(text: bytes, encoding: str | None) -> PublicPage:
    etag = f'W/"{hashlib.sha1(text, usedforsecurity=False).hexdigest()}"'
    body = encoded(text, encoding)
    return PublicPage(text, etag, None) if body is None else PublicPage(body, etag, encoding)
