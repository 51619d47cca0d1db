"""Pictures of products, stored once by content."""

import hashlib
import re

from services.products.actions.catalogue import finish_moves, replace
from services.products.dependencies import Dependencies
from services.products.documents import PICTURE, picture_id
from services.products.rules.pictures import media_type
from services.products.rules.product import content_of, etag
from shared.couch import Doc, NoSuchDocument
from shared.errors import Conflict, Invalid, NotFound, PreconditionFailed, TooLarge

PATH = "/v1/pictures/"
_MAX_ATTEMPTS = 5
_DIGEST = re.compile("[0-9a-f]{64}")


class NoSuchPicture(NotFound):
    code, title = "no_such_picture", "No such picture"


def keep(deps: Dependencies, content: bytes, max_bytes: int, date: str) -> Doc:
    """Stores a picture that products can name as their `image`. Raises TooLarge, Invalid for what is no picture."""
    kind = _checked_type(content, max_bytes)
    digest = hashlib.sha256(content).hexdigest()
    doc = PICTURE.new(picture_id(digest), digest=digest, content_type=kind, size=len(content), date=date)
    deps.pictures.add(doc, content)
    return {"image": PATH + digest, "content_type": kind, "size": len(content)}


def attach(deps: Dependencies, productid: str, content: bytes, max_bytes: int, date: str) -> Doc:
    """Stores a picture and shows it on the product; what is changed about it meanwhile stays.

    Raises NoSuchProduct, TooLarge, Invalid for what is no picture.
    """
    _checked_type(content, max_bytes)
    product = finish_moves(deps, productid, date)
    image = keep(deps, content, max_bytes, date)["image"]
    for _ in range(_MAX_ATTEMPTS):
        try:
            return replace(deps, productid, content_of(product) | {"image": image}, etag(product), date)
        except PreconditionFailed:
            product = finish_moves(deps, productid, date)
    raise Conflict(f"Product {productid} is changing too often just now; try again.")


def _checked_type(content: bytes, max_bytes: int) -> str:
    if len(content) > max_bytes:
        raise TooLarge(f"A picture may have {max_bytes} bytes.")
    kind = media_type(content)
    if kind is None:
        raise Invalid(
            "The body is not a JPEG, PNG, GIF, WebP or AVIF picture.",
            errors={"_schema": ["Unknown picture format."]},
        )
    return kind


def picture(deps: Dependencies, digest: str) -> tuple[bytes, str]:
    """The bytes and their media type. 1 read. Raises NoSuchPicture."""
    try:
        if _DIGEST.fullmatch(digest):
            return deps.pictures.get(digest)
    except NoSuchDocument:
        pass
    raise NoSuchPicture("There is no such picture.")
