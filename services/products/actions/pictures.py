"""Pictures of products, stored once by content."""

import hashlib
import re

from services.products.actions.catalogue import finish_moves, replace
from services.products.documents import PICTURE, picture_id
from services.products.rules.pictures import media_type
from services.products.rules.product import content_of, etag
from services.products.store import Store
from shared.couch import Doc, NoSuchDocument
from shared.errors import Conflict, Invalid, NotFound, PreconditionFailed, TooLarge

PATH = "/v1/pictures/"
_TRIES = 5
_DIGEST = re.compile("[0-9a-f]{64}")


class NoSuchPicture(NotFound):
    code, title = "no_such_picture", "No such picture"


def attach(store: Store, productid: str, content: bytes, most: int, date: str) -> Doc:
    """Stores a picture and shows it on the product; what is changed about it meanwhile stays.

    Raises NoSuchProduct, TooLarge, Invalid for what is no picture.
    """
    if len(content) > most:
        raise TooLarge(f"A picture may have {most} bytes.")
    kind = media_type(content)
    if kind is None:
        raise Invalid(
            "The body is not a JPEG, PNG, GIF, WebP or AVIF picture.",
            errors={"_schema": ["Unknown picture format."]},
        )
    product = finish_moves(store, productid, date)
    digest = hashlib.sha256(content).hexdigest()
    store.pictures.add(
        PICTURE.new(picture_id(digest), digest=digest, content_type=kind, size=len(content), date=date),
        content,
    )
    for _ in range(_TRIES):
        try:
            return replace(
                store, productid, content_of(product) | {"image": PATH + digest}, etag(product), date
            )
        except PreconditionFailed:
            product = finish_moves(store, productid, date)
    raise Conflict(f"Product {productid} is changing too often just now; try again.")


def picture(store: Store, digest: str) -> tuple[bytes, str]:
    """The bytes and their media type. 1 read. Raises NoSuchPicture."""
    try:
        if _DIGEST.fullmatch(digest):
            return store.pictures.get(digest)
    except NoSuchDocument:
        pass
    raise NoSuchPicture("There is no such picture.")
