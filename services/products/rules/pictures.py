"""What counts as a picture, and which ones a product has: `image`, the one that it had before it could have several, is the first."""

import re
from collections.abc import Mapping
from typing import Any, Final

from services.products.declarations.limits import DIGEST

PATH: Final = "/v1/pictures/"
_KEPT = re.compile(PATH + f"({DIGEST})")

_BEGINNINGS = (
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
)


def media_type(content: bytes) -> str | None:
    """The media type, told by the first bytes, whatever a name says; None for anything that browsers might run instead of show."""
    for beginning, kind in _BEGINNINGS:
        if content.startswith(beginning):
            return kind
    if content[:4] == b"RIFF" and content[8:12] == b"WEBP":
        return "image/webp"
    return "image/avif" if content[4:12] in (b"ftypavif", b"ftypavis") else None


def address(digest: str) -> str:
    return PATH + digest


def pictures_of(doc: Mapping[str, Any]) -> list[dict[str, str]]:
    """The pictures of a product; one that was written when it had but one `image` has that."""
    return doc.get("pictures") or _only(doc.get("image", ""))


class Contradiction(ValueError):
    """`image` and `pictures` were both sent and name different first pictures."""


def settled(content: dict[str, Any], before: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """The content with `image` and `pictures` (None: not sent) saying the same; `before` is the product that it replaces.

    Clients that know only `image` go on as they did: what they leave alone stays, what they change is the first picture.
    Raises Contradiction.
    """
    image, pictures = content["image"], content["pictures"]
    old_image, old = (before.get("image", ""), pictures_of(before)) if before else ("", [])
    if pictures:
        pictures = _agreeing(image, pictures, old_image, old)
        image = address(pictures[0]["id"])
    elif image != old_image:
        pictures = _only(image)
    elif pictures is None:
        pictures = old
    elif old:
        image = ""
    return content | {"image": image, "pictures": pictures}


def _agreeing(
    image: str, pictures: list[dict[str, str]], old_image: str, old: list[dict[str, str]]
) -> list[dict[str, str]]:
    """`pictures`, unless it is `image` alone that was changed. An `image` elsewhere is for pages that know no others."""
    named = _only(image)
    if not named or named[0]["id"] in {each["id"] for each in pictures} or image == old_image:
        return pictures
    if pictures != old:
        raise Contradiction
    return [*named, *pictures[1:]]


def _only(image: str) -> list[dict[str, str]]:
    """The picture behind an `image` that is kept here."""
    found = _KEPT.fullmatch(image)
    return [{"id": found[1], "alt": ""}] if found else []
