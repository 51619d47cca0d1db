"""Pages that are the same for everybody: kept while nothing that they show changes, and drawn once for the same answers.

A view that is `kept_for` its tags is sent again without asking any service, by every replica only as long as the tags' versions
stay what they are, and for `redraw_seconds` at most. When it has to ask, a page is drawn again only for other answers. What a
page of one person would show besides (name, basket, notes, tokens) is not among them, so nothing is looked up or kept
here without a PublicAddress, and only a request without a session has one.
"""

import hashlib
import time
from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from typing import Any, NamedTuple, TypeVar, cast

from flask import Response, g, request, session
from flask.typing import ResponseReturnValue

from services.storefront.caches.page_cache import PublicAddress, PublicPage
from services.storefront.dependencies import Dependencies
from services.storefront.pages.compression import encoded, preferred_encoding
from services.storefront.pages.context import dependencies
from services.storefront.pages.currency import currency_of_cookie
from services.storefront.pages.language import language_of
from services.storefront.pages.visitor import is_anonymous
from shared.cache_tags import CATALOGUE, SHOP, is_settled
from shared.couch.deadline import READ_SECONDS, time_for
from shared.errors import AisleError

View = Callable[..., ResponseReturnValue]
Shown = TypeVar("Shown")
SENT = "aisle.public_page"
"""In a request's environment: the address and the ETag of the page that answers it."""
HIT = ("Cache-Status", "aisle; hit")
"""Of a page for which no service was asked (RFC 9211)."""


class SameVersions(NamedTuple):
    """What a page shows has the versions (see `shared.cache_tags`) that it had at this moment, before anything was asked for it."""

    deps: Dependencies
    tags: tuple[str, ...]
    versions: tuple[str, ...]
    read_at: float

    def is_current(self) -> bool:
        age = time.monotonic() - self.read_at
        return (
            age < self.deps.settings.redraw_seconds
            and current_versions(self.deps, self.tags) == self.versions
        )


class SameObject(NamedTuple):
    """A page shows nothing but the menu and this object, which follow the catalogue by themselves."""

    deps: Dependencies
    get: Callable[[], object]
    shown: object

    def is_current(self) -> bool:
        try:
            follows = current_versions(self.deps, ()) is not None
            return follows and self.get() is self.shown
        except AisleError:
            return False


def public_address() -> PublicAddress | None:
    """Where this request's page may be kept; None for a browser with a session."""
    if request.method not in ("GET", "HEAD") or not is_anonymous():
        return None
    return address_of(request.environ, dependencies())


def address_of(environ: Mapping[str, Any], deps: Dependencies) -> PublicAddress:
    """Where a page for everybody who chose the same of a shop's currencies and languages is kept."""
    site = f"{environ['wsgi.url_scheme']}://{environ.get('HTTP_HOST', '')} {environ['SERVER_NAME']}:{environ['SERVER_PORT']}"
    return PublicAddress(
        site,
        environ["PATH_INFO"],
        environ["QUERY_STRING"],
        preferred_encoding(environ),
        currency_of_cookie(environ, deps.settings.currencies),
        language_of(environ, deps.settings.languages),
    )


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
            shown = tuple(tags(**arguments))
            versions = current_versions(dependencies(), shown) if address is not None else None
            if address is None or versions is None:
                return view(**arguments)
            found = _current_page(address)
            if found is not None:
                return _response_again(address, found)
            if not is_settled(versions):
                return view(**arguments)
            g.freshness = SameVersions(dependencies(), shown, versions, began)
            return _coalesced(address, versions, lambda: view(**arguments))

        return cast(View, kept)

    return decorate


def followed(get: Callable[[], Shown]) -> Shown:
    """What `get` tells of the catalogue: all that the page of this request shows besides the menu, and it is kept as long as it tells the same."""
    versions = current_versions(dependencies(), ()) if public_address() is not None else None
    shown = get()
    if versions is not None:
        g.freshness = SameObject(dependencies(), get, shown)
    return shown


def is_outdated() -> None:
    """What this page shows is being made again: the next one asks for it."""
    g.freshness = None


def current_versions(deps: Dependencies, tags: Sequence[str]) -> tuple[str, ...] | None:
    """Of these tags and of what all pages show; None when nothing may be kept, or Redis cannot tell."""
    if not deps.settings.page_seconds:
        return None
    versions = deps.cache_tags.versions((CATALOGUE, SHOP, *tags))
    if versions is None:
        return None
    deps.catalogue.follow(versions[0])
    return versions[1:]


def _current_page(address: PublicAddress) -> PublicPage | None:
    return dependencies().public_pages.get_current(dependencies().catalogue.menus, address)


def _coalesced(
    address: PublicAddress, versions: tuple[str, ...], view: Callable[[], ResponseReturnValue]
) -> ResponseReturnValue:
    """The page that somebody else is just asking for, or one of our own."""
    coalescing, key = dependencies().coalescing, (address, versions)
    running = coalescing.begin(key)
    if running is not None:
        running.wait(time_for(READ_SECONDS) / 2)
        found = _current_page(address)
        return view() if found is None else _response_again(address, found)
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
    menus, shown = dependencies().catalogue.menus(), tuple(map(_version, answers))
    page = pages.get(menus, address, shown, freshness)
    if page is None:
        text = draw()
        if not is_public():
            return text
        page = _finished(text.encode(), address.encoding)
        pages.put(menus, address, shown, page, freshness)
    return _response(address, page)


def _response(address: PublicAddress, page: PublicPage) -> Response:
    """What is sent for it may be sent again (see `kept_answers`)."""
    request.environ[SENT] = (address, page.etag)
    return page.response()


def _response_again(address: PublicAddress, page: PublicPage) -> Response:
    dependencies().repeated_searches.note(request.environ)
    response = _response(address, page)
    response.headers.add(*HIT)
    return response


def _version(answer: object) -> object:
    return hashlib.sha256(answer).digest() if isinstance(answer, bytes) else answer


def _finished(text: bytes, encoding: str | None) -> PublicPage:
    etag = f'W/"{hashlib.sha1(text, usedforsecurity=False).hexdigest()}"'
    body = encoded(text, encoding)
    return PublicPage(text, etag, None) if body is None else PublicPage(body, etag, encoding)
