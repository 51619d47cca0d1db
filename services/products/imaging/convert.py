"""A picture decoded with Pillow and written again in each size: upright, in sRGB, without metadata, its first frame alone."""

import io
from typing import Final, NamedTuple

from PIL import Image, ImageCms, ImageOps

from services.products.imaging.errors import TooManyPixels
from services.products.imaging.names import WEBP, WIDTHS, name_of

LARGEST: Final = WIDTHS[0]
MAX_PIXELS: Final = 24_000_000
MAX_PNG: Final = 1_500_000
"""Bytes: a photograph saved as PNG becomes a JPEG file, a transparent one WebP."""
FORMATS: Final = ("JPEG", "PNG", "GIF", "WEBP", "AVIF")
TYPES: Final = {"JPEG": "image/jpeg", "PNG": "image/png", "WEBP": WEBP}
_KEPT: Final = {"JPEG": "JPEG", "MPO": "JPEG", "PNG": "PNG", "GIF": "PNG", "WEBP": "WEBP", "AVIF": "WEBP"}

Image.MAX_IMAGE_PIXELS = MAX_PIXELS


class File(NamedTuple):
    name: str
    content_type: str
    content: bytes


class Converted(NamedTuple):
    """The files of a picture, and the size of the largest of them."""

    width: int
    height: int
    files: list[File]


def convert(content: bytes) -> Converted:
    """Raises TooManyPixels, and whatever Pillow raises for a file that it cannot read."""
    with _opened(content) as opened:
        kept = _KEPT[opened.format or "PNG"]
        full = _upright(opened)
    files, smaller, pair = [], full, _encoded_twice(full, kept)
    for width in WIDTHS:
        if max(smaller.size) > width:
            smaller = _fitted(smaller, width)
            pair = _encoded_twice(smaller, pair[0][0])
        files += [
            File(name_of(width, webp=webp), TYPES[kind], data)
            for webp, (kind, data) in zip((False, True), pair, strict=True)
        ]
    return Converted(full.width, full.height, files)


def _opened(content: bytes) -> Image.Image:
    """What the file's head says; nothing is decoded yet."""
    try:
        opened = Image.open(io.BytesIO(content), formats=FORMATS)
    except Image.DecompressionBombError:
        raise TooManyPixels from None
    if opened.width * opened.height > MAX_PIXELS:
        raise TooManyPixels
    return opened


def _upright(opened: Image.Image) -> Image.Image:
    """The first frame as it is looked at, at most LARGEST wide and high, in one of two modes: RGB, or RGBA where it is transparent."""
    opened.draft("RGB", (LARGEST, LARGEST))
    opened.load()
    profile = opened.info.get("icc_profile")
    picture = _plain(opened)
    if max(picture.size) > LARGEST:
        picture.thumbnail((LARGEST, LARGEST), Image.Resampling.LANCZOS)
    picture = _in_srgb(picture, profile) if profile else picture
    turned = ImageOps.exif_transpose(picture)
    if turned.mode == "RGBA" and turned.getchannel("A").getextrema() == (255, 255):
        turned = turned.convert("RGB")
    turned.info.clear()
    return turned


def _plain(opened: Image.Image) -> Image.Image:
    """RGB or RGBA; the EXIF data that say how it lies stay beside it."""
    if opened.mode.startswith("I;16"):
        return opened.convert("I").point(lambda level: level * (1 / 256)).convert("RGB")
    mode = "RGBA" if opened.has_transparency_data else "RGB"
    return opened if opened.mode == mode else opened.convert(mode)


def _in_srgb(picture: Image.Image, profile: bytes) -> Image.Image:
    """A profile that is none of RGB, or broken, says nothing: the colours stay as they are."""
    try:
        source = ImageCms.ImageCmsProfile(io.BytesIO(profile))
        converted = ImageCms.profileToProfile(picture, source, ImageCms.createProfile("sRGB"))
    except (ImageCms.PyCMSError, OSError):
        return picture
    return picture if converted is None else converted


def _fitted(picture: Image.Image, width: int) -> Image.Image:
    smaller = picture.copy()
    smaller.thumbnail((width, width), Image.Resampling.LANCZOS)
    return smaller


def _encoded_twice(picture: Image.Image, kept: str) -> tuple[tuple[str, bytes], tuple[str, bytes]]:
    """In its own format and as WebP."""
    encoded = _encoded(picture, kept)
    return encoded, encoded if encoded[0] == "WEBP" else ("WEBP", _saved(picture, "WEBP"))


def _encoded(picture: Image.Image, kept: str) -> tuple[str, bytes]:
    """In the format that it came in, unless that makes a large file of it."""
    encoded = _saved(picture, kept)
    if kept == "PNG" and len(encoded) > MAX_PNG:
        kept = "WEBP" if picture.mode == "RGBA" else "JPEG"
        encoded = _saved(picture, kept)
    return kept, encoded


def _saved(picture: Image.Image, kind: str) -> bytes:
    options: dict[str, dict[str, object]] = {
        "JPEG": {"quality": 82, "progressive": True, "optimize": True},
        "PNG": {},
        "WEBP": {"quality": 80, "method": 2},
    }
    target = io.BytesIO()
    picture.save(target, kind, **options[kind])
    return target.getvalue()
