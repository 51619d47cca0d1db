"""Where a page loads a product's picture from."""

import re
from collections.abc import Iterable

STORED_PATH = "/v1/pictures/"
"""The products service's addresses of pictures it keeps."""

_DIGEST = re.compile("[0-9a-f]{64}")
_OWN_PATH = re.compile(r"/(?:[^\s\\/][^\s\\]*)?")


def picture_src(image: str, origins: Iterable[str]) -> str:
    """The address to put into a page: a path of this site or one at `origins`; "" for any other."""
    if image.startswith(STORED_PATH):
        digest = image.removeprefix(STORED_PATH)
        return f"/pictures/{digest}" if _DIGEST.fullmatch(digest) else ""
    if _OWN_PATH.fullmatch(image) or any(image.startswith(f"{origin}/") for origin in origins):
        return image
    return ""
