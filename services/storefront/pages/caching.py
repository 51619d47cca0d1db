"""Who may keep a page: a page without anything of one person everybody, for seconds; a person's shop pages only the browser."""

from flask import Flask, Response, request

from services.storefront.pages.context import dependencies
from services.storefront.pages.csrf import mask_token
from services.storefront.pages.public_pages import is_public

PUBLIC = frozenset({"shop", "pictures", "files"})
CONDITIONAL_HEADERS = (
    "HTTP_IF_NONE_MATCH",
    "HTTP_IF_MODIFIED_SINCE",
    "HTTP_IF_MATCH",
    "HTTP_IF_UNMODIFIED_SINCE",
)


def register_caching(app: Flask) -> None:
    app.after_request(add_cache_headers)


def add_cache_headers(response: Response) -> Response:
    """The ETag is that of the page before its token is masked: a browser need not fetch the same page again."""
    if "Cache-Control" not in response.headers:
        _set_cache_control(response)
    mask_token(response)
    return response


def _set_cache_control(response: Response) -> None:
    readable = (
        request.method in ("GET", "HEAD") and response.status_code == 200 and request.blueprint in PUBLIC
    )
    if not readable:
        response.headers["Cache-Control"] = "no-store"
        return
    if is_public():
        seconds = dependencies().settings.page_seconds
        response.headers["Cache-Control"] = f"public, max-age=0, s-maxage={seconds}"
    else:
        response.headers["Cache-Control"] = "private, no-cache"
    response.add_etag(weak=True)
    if any(name in request.environ for name in CONDITIONAL_HEADERS):
        response.make_conditional(request)
