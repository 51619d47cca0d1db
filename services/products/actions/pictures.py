"""Pictures of products, stored once by content in the sizes that pages show."""

import hashlib
import re
from typing import Any

from services.products.actions.catalogue import finish_moves, replace
from services.products.declarations.limits import DIGEST
from services.products.declarations.product import Product
from services.products.declarations.related_documents import Picture
from services.products.dependencies import Dependencies
from services.products.documents import PICTURE, picture_id
from services.products.imaging import NAMES, Busy, ImagingProcess, Rendered, TooManyPixels, Unreadable
from services.products.rules.pictures import address, media_type
from services.products.rules.product import Checked, content_of, content_tag
from shared.couch import NoSuchDocument
from shared.errors import Conflict, Invalid, NotFound, PreconditionFailed, TooLarge, Unavailable

_MAX_ATTEMPTS = 5
_DIGEST = re.compile(DIGEST)


class NoSuchPicture(NotFound):
    code, title = "no_such_picture", "No such picture"


class BadPicture(Invalid):
    code, title = "bad_picture", "This is no picture that can be shown"


def keep(deps: Dependencies, content: bytes, max_bytes: int, date: str) -> dict[str, Any]:
    """Stores a picture that products can name among their `pictures`. Raises TooLarge, BadPicture, Unavailable."""
    _check(content, max_bytes)
    digest = hashlib.sha256(content).hexdigest()
    doc = deps.pictures.complete(digest)
    if doc is None:
        doc = _store(deps, digest, _rendered(deps.imaging, content), date)
    return {
        "id": digest,
        "image": address(digest),
        "content_type": doc["content_type"],
        "size": doc["size"],
        "width": doc["width"],
        "height": doc["height"],
    }


def _store(deps: Dependencies, digest: str, rendered: Rendered, date: str) -> Picture:
    full = rendered.files[0]
    doc = PICTURE.build(
        picture_id(digest),
        digest=digest,
        content_type=full.content_type,
        size=len(full.content),
        date=date,
        width=rendered.width,
        height=rendered.height,
    )
    deps.pictures.add(doc, {each.name: (each.content_type, each.content) for each in rendered.files})
    return doc


def attach(deps: Dependencies, productid: str, content: bytes, max_bytes: int, date: str) -> Product:
    """Stores a picture and makes it the product's first; what is changed about the product meanwhile stays.

    Raises NoSuchProduct and what `keep` raises.
    """
    _check(content, max_bytes)
    product = finish_moves(deps, productid, date)
    image = keep(deps, content, max_bytes, date)["image"]
    for _ in range(_MAX_ATTEMPTS):
        try:
            return _with_image(deps, product, image, date)
        except PreconditionFailed:
            product = finish_moves(deps, productid, date)
    raise Conflict(f"Product {productid} is changing too often just now; try again.")


def _with_image(deps: Dependencies, product: Product, image: str, date: str) -> Product:
    changed = Checked(content_of(product) | {"image": image}, None, {})
    return replace(deps, product["productid"], changed, content_tag(product), date)


def _check(content: bytes, max_bytes: int) -> None:
    if len(content) > max_bytes:
        raise TooLarge(f"A picture may have {max_bytes} bytes.")
    if media_type(content) is None:
        raise _bad("This is not a JPEG, PNG, GIF, WebP or AVIF picture.")


def _rendered(imaging: ImagingProcess, content: bytes) -> Rendered:
    try:
        return imaging.convert(content)
    except TooManyPixels:
        raise _bad("This picture has too many pixels: save it at 4000 x 4000 or smaller.") from None
    except Unreadable:
        raise _bad("This picture is damaged or cut off: no program can show all of it.") from None
    except Busy:
        raise Unavailable(
            "Many pictures are being uploaded just now; try again shortly.", retry_after=5
        ) from None


def _bad(words: str) -> BadPicture:
    return BadPicture(words, errors={"_schema": [words]})


def picture(deps: Dependencies, digest: str, name: str) -> tuple[bytes, str]:
    """The bytes and their media type of one of its files. 1 read. Raises NoSuchPicture."""
    try:
        if _DIGEST.fullmatch(digest) and name in NAMES:
            return deps.pictures.get(digest, name)
    except NoSuchDocument:
        pass
    raise NoSuchPicture("There is no such picture.")
