"""Static files under an address that names their content: kept for a year, compressed once."""

import hashlib
import mimetypes
from functools import cache
from pathlib import Path

from flask import Blueprint, Response, request, send_from_directory
from werkzeug.exceptions import NotFound

from services.storefront.pages.compression import MIN_BYTES, SMALL, TYPES, preferred_encoding

STATIC = Path(__file__).parent.parent / "static"
IMMUTABLE = "public, max-age=31536000, immutable"

files = Blueprint("files", "services.storefront", template_folder="templates")


@cache
def release() -> str:
    """One hash over all static files: part of their addresses, so that browsers keep them for ever."""
    digest = hashlib.sha256()
    for path in sorted(STATIC.rglob("*")):
        if path.is_file():
            digest.update(path.relative_to(STATIC).as_posix().encode() + path.read_bytes())
    return digest.hexdigest()[:12]


@cache
def asset(name: str) -> str:
    return f"/assets/{release()}/{name}"


@files.get("/assets/<version>/<path:name>")
def static_file(version: str, name: str) -> Response:
    encoding = preferred_encoding(request.environ)
    body = compressed(name, encoding) if encoding and name in compressible() else None
    if body is None:
        response = send_from_directory(STATIC, name)
    else:
        response = Response(body, mimetype=mimetypes.guess_type(name)[0])
        response.headers["Content-Encoding"] = encoding
        response.set_etag(f"{release()}-{encoding}", weak=True)
        response.make_conditional(request)
    response.headers["Cache-Control"] = IMMUTABLE if version == release() else "public, max-age=60"
    return response


@cache
def compressible() -> frozenset[str]:
    """The names of the files that are worth it."""
    return frozenset(
        path.relative_to(STATIC).as_posix()
        for path in STATIC.rglob("*")
        if path.is_file() and mimetypes.guess_type(path.name)[0] in TYPES and path.stat().st_size >= MIN_BYTES
    )


@cache
def compressed(name: str, encoding: str) -> bytes:
    if name not in compressible():
        raise NotFound
    packed: bytes = SMALL[encoding]((STATIC / name).read_bytes())
    return packed
