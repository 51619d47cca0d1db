"""Bookmarks: where the last answer ended, opaque to the client."""

import base64
import binascii
from typing import Any

import orjson

from .errors import invalid_bookmark


def pack(*parts: Any) -> str:
    return base64.urlsafe_b64encode(orjson.dumps(parts)).decode().rstrip("=")


def unpack(bookmark: str, size: int) -> list[Any]:
    """The parts. Errors: 400 when it is none of ours."""
    try:
        raw = base64.urlsafe_b64decode(bookmark + "=" * (-len(bookmark) % 4))
        parts = orjson.loads(raw)
    except (binascii.Error, ValueError):
        parts = None
    if not isinstance(parts, list) or len(parts) != size or not isinstance(parts[0], str):
        raise invalid_bookmark(bookmark)
    return parts
