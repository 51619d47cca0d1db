"""Compressed answers: Brotli or gzip, whichever the browser prefers; not for what is small, or compressed already."""

import gzip
from collections.abc import Mapping
from functools import lru_cache, partial
from typing import Any, Final

import brotli
from flask import Flask, Response, request
from werkzeug.datastructures import Accept
from werkzeug.http import parse_accept_header

MIN_BYTES: Final = 500
MAX_HEADER: Final = 200
"""Of an Accept-Encoding, what is read."""
TYPES: Final = frozenset(
    {
        "application/javascript",
        "application/json",
        "application/manifest+json",
        "application/xml",
        "image/svg+xml",
        "text/css",
        "text/csv",
        "text/html",
        "text/javascript",
        "text/plain",
        "text/xml",
    }
)
QUICK: Final = {
    "br": partial(brotli.compress, quality=4),
    "gzip": partial(gzip.compress, compresslevel=5, mtime=0),
}
"""For answers made anew each time."""
SMALL: Final = {
    "br": partial(brotli.compress, quality=11),
    "gzip": partial(gzip.compress, compresslevel=9, mtime=0),
}
"""For files, which are compressed once."""


def register_compression(app: Flask) -> None:
    app.after_request(compress)


def preferred_encoding(environ: Mapping[str, Any]) -> str | None:
    """The browser's choice among ours; None when it takes neither."""
    accepted = environ.get("HTTP_ACCEPT_ENCODING", "")
    return _preferred(accepted[:MAX_HEADER]) if accepted else None


@lru_cache(256)
def _preferred(accept_encoding: str) -> str | None:
    accepted = parse_accept_header(accept_encoding, Accept)
    return max((name for name in QUICK if accepted.quality(name) > 0), key=accepted.quality, default=None)


def add_vary(response: Response, header: str) -> None:
    """Notes that the answer depends on this header of the request."""
    known = response.headers.get("Vary")
    response.headers["Vary"] = f"{known}, {header}" if known else header


def encoded(body: bytes, encoding: str | None) -> bytes | None:
    """`body` in this encoding; None for none, and for what is small."""
    return None if encoding is None or len(body) < MIN_BYTES else QUICK[encoding](body)


def compress(response: Response) -> Response:
    if response.mimetype not in TYPES:
        return response
    add_vary(response, "Accept-Encoding")
    if response.is_streamed or response.direct_passthrough or "Content-Encoding" in response.headers:
        return response
    if response.status_code in (204, 206, 304) or (encoding := preferred_encoding(request.environ)) is None:
        return response
    body = encoded(response.get_data(), encoding)
    if body is not None:
        response.set_data(body)
        response.headers["Content-Encoding"] = encoding
    return response
