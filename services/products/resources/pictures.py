"""Pictures of products."""

from flask import Response, request

from services.products.actions import pictures as act
from services.products.imaging import FULL, WIDTHS
from services.products.resources.context import dependencies, price_context
from services.products.rules.product import public_json
from services.products.schemas import answers
from shared.clock import timestamp
from shared.errors import TooLarge
from shared.web import Blueprint, audited, json_answer, json_bytes, not_modified, require_role

pictures = Blueprint("pictures", __name__, description="Pictures, named by their content")

_NAMES = [f"{width}{ending}" for width in WIDTHS for ending in ("", ".webp")]
_NAME = {"in": "path", "name": "name", "required": True, "schema": {"type": "string", "enum": _NAMES}}
_BODY = {"required": True, "content": {"image/*": {"schema": {"type": "string", "format": "binary"}}}}


@pictures.put("/v1/products/<productid>/picture")
@require_role("admin")
@pictures.response(200, answers.Product)
@pictures.alt_response(404, "NOT_FOUND")
@pictures.alt_response(413, "REQUEST_ENTITY_TOO_LARGE")
@pictures.doc(requestBody=_BODY)
@audited("set picture", "productid")
def attach(productid: str) -> Response:
    """Give a product its first picture (JPEG, PNG, GIF, WebP, AVIF)"""
    deps = dependencies()
    max_bytes = deps.settings.picture_bytes
    doc = act.attach(deps.bulk, productid, _body(max_bytes), max_bytes, timestamp())
    body, tag = public_json(doc, price_context())
    return json_bytes(body, etag=tag)


@pictures.post("/v1/pictures")
@require_role("admin")
@pictures.response(201, answers.Picture)
@pictures.alt_response(413, "REQUEST_ENTITY_TOO_LARGE")
@pictures.doc(requestBody=_BODY)
@audited("upload picture")
def add() -> Response:
    """Store a picture (JPEG, PNG, GIF, WebP, AVIF); the answer's `id` is for a product's `pictures`

    It is decoded and written anew in three sizes, upright and without metadata; of an animation the first frame. The same
    file again is the same picture."""
    deps = dependencies()
    max_bytes = deps.settings.picture_bytes
    kept = act.keep(deps.bulk, _body(max_bytes), max_bytes, timestamp())
    return json_answer(kept, 201, headers={"Location": kept["image"]})


def _body(max_bytes: int) -> bytes:
    """The picture that was sent, read only when it is not too large."""
    request.max_content_length = max_bytes + 1
    if (request.content_length or 0) > max_bytes:
        raise TooLarge(f"A picture may have {max_bytes} bytes.")
    return request.get_data(cache=False)


@pictures.get("/v1/pictures/<digest>")
@pictures.response(200, {"type": "string", "format": "binary"}, content_type="image/*")
@pictures.alt_response(404, "NOT_FOUND")
def picture(digest: str) -> Response:
    """A picture in its largest size; it never changes under its name"""
    return _file(digest, FULL, f'"{digest}"')


@pictures.get("/v1/pictures/<digest>/<name>")
@pictures.response(200, {"type": "string", "format": "binary"}, content_type="image/*")
@pictures.alt_response(404, "NOT_FOUND")
@pictures.doc(parameters=[_NAME])
def resized(digest: str, name: str) -> Response:
    """A picture in one of its widths, in its own format (`640`) or as WebP (`640.webp`)"""
    return _file(digest, FULL if name == str(WIDTHS[0]) else name, f'"{digest}-{name}"')


def _file(digest: str, name: str, tag: str) -> Response:
    content, kind = act.picture(dependencies(), digest, name)
    response = not_modified(tag) or Response(content, content_type=kind)
    response.headers["ETag"] = tag
    response.headers["Cache-Control"] = "public, max-age=31536000, immutable"
    response.headers["Content-Security-Policy"] = "default-src 'none'; sandbox"
    return response
