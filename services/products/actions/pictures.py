"""Pictures of products, stored once by content."""

import hashlib
import re

from services.products.actions.catalogue import NoSuchProduct, replace
from services.products.documents import PICTURE, picture_id
from services.products.rules.pictures import media_type
from services.products.rules.product import content_of
from services.products.store import Store
from shared.couch import Doc, NoSuchDocument
from shared.errors import Invalid, NotFound, TooLarge

PATH = "/v1/pictures/"
_DIGEST = re.compile("[0-9a-f]{64}")


class NoSuchPicture(NotFound):
    code, title = "no_such_picture", "No such picture"


def attach(store: Store, productid: str, content: bytes, most: int, date: str) -> Doc:
    """Stores a picture and shows it on the product. Raises NoSuchProduct, TooLarge, Invalid for what is no picture."""
    if len(content) > most:
        raise TooLarge(f"A picture may have {most} bytes.")
    kind = media_type(content)
    if kind is None:
        raise Invalid(
            "The body is not a JPEG, PNG, GIF, WebP or AVIF picture.",
            errors={"_schema": ["Unknown picture format."]},
        )
    try:
        product = store.catalogue.by_productid(productid)
    except NoSuchDocument:
        raise NoSuchProduct(f"There is no product {productid}.") from None
    digest = hashlib.sha256(content).hexdigest()
    store.pictures.add(
        PICTURE.new(picture_id(digest), digest=digest, content_type=kind, size=len(content), date=date),
        content,
    )
    return replace(store, productid, content_of(product) | {"image": PATH + digest}, None, date)


def picture(store: Store, digest: str) -> tuple[bytes, str]:
    """The bytes and their media type. 1 read. Raises NoSuchPicture."""
    try:
        if _DIGEST.fullmatch(digest):
            return store.pictures.get(digest)
    except NoSuchDocument:
        pass
    raise NoSuchPicture("There is no such picture.")
