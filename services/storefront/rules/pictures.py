"""Where a page loads a product's pictures from."""

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Any, Final, NamedTuple

KEPT = "/v1/pictures/"
"""The products service's addresses of pictures it keeps."""

WIDTHS: Final = (320, 640, 1280)
"""The widths that it keeps them in."""

_DIGEST = re.compile("[0-9a-f]{64}")
_OWN_PATH = re.compile(r"/(?:[^\s\\/][^\s\\]*)?")


class Source(NamedTuple):
    """The addresses of one picture; one that is kept elsewhere has but one size. `alt` says what it shows."""

    src: str
    srcset: str = ""
    webp: str = ""
    alt: str = ""


def first_source(product: dict[str, Any], origins: Sequence[str]) -> Source | None:
    """What lists show of a product; None when it has no picture that this page may show."""
    image = product.get("image") or ""
    if not product.get("pictures"):
        return _image_source(image, origins)
    found = sources(product, origins)
    return found[0] if found else None


def sources(product: dict[str, Any], origins: Sequence[str]) -> list[Source]:
    """All pictures of a product that a page may show, in their order; a variant's own `image` before its product's."""
    pictures = product.get("pictures") or ()
    kept = [_kept(each["id"])._replace(alt=each.get("alt", "")) for each in pictures if _is_kept(each)]
    first = _image_source(product.get("image") or "", origins)
    return kept if first is None or first.src in [each.src for each in kept] else [first, *kept]


def _image_source(image: str, origins: Sequence[str]) -> Source | None:
    if not image:
        return None
    if image.startswith(KEPT):
        digest = image.removeprefix(KEPT)
        return _kept(digest) if _DIGEST.fullmatch(digest) else None
    return Source(image) if _may_load(image, origins) else None


def picture_path(digest: str, width: int = 320) -> str:
    """The address on this site of a picture that is kept."""
    return f"/pictures/{digest}/{width}"


def _is_kept(picture: dict[str, Any]) -> bool:
    return bool(_DIGEST.fullmatch(picture["id"]))


@lru_cache(4096)
def _kept(digest: str) -> Source:
    paths = [(picture_path(digest, width), width) for width in WIDTHS]
    return Source(
        src=picture_path(digest, 640),
        srcset=", ".join(f"{path} {width}w" for path, width in paths),
        webp=", ".join(f"{path}.webp {width}w" for path, width in paths),
    )


def _may_load(image: str, origins: Iterable[str]) -> bool:
    """A path of this site or an address at `origins`."""
    return bool(_OWN_PATH.fullmatch(image)) or any(image.startswith(f"{origin}/") for origin in origins)
