"""The files that each picture is stored as: three widths, each in the picture's own format and as WebP."""

from typing import Final

WIDTHS: Final = (1280, 640, 320)
"""A file is at most so wide and high; a picture that is smaller is not enlarged."""
WEBP: Final = "image/webp"
FULL: Final = "picture"
"""The largest in the picture's own format, called as when there was no other."""


def name_of(width: int, *, webp: bool) -> str:
    """ "640" or "640.webp", and FULL for the largest."""
    if webp:
        return f"{width}.webp"
    return FULL if width == WIDTHS[0] else str(width)


NAMES: Final = frozenset(name_of(width, webp=webp) for width in WIDTHS for webp in (False, True))
