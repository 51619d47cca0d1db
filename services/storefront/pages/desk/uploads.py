"""How much the desk's forms with files may hold."""

from flask import request

from services.storefront.pages.dependencies import dependencies
from services.storefront.pages.visitor import logged_in

IMPORT_BYTES = 32 * 1024 * 1024
"""At once: half of what a container's /tmp holds."""

TEXT_BYTES = 1024 * 1024
"""What the other fields of a form may have beside its file."""

IMPORTS = frozenset({"desk.import_file", "desk.import_piece"})
WITH_PICTURE = frozenset({"desk.create_product", "desk.replace_product", "desk.upload_picture"})


def allow_large_files() -> None:
    """Before a form is read: what one of the shop's people uploads may be larger than other forms."""
    if request.endpoint not in IMPORTS | WITH_PICTURE:
        return
    visitor = logged_in()
    if visitor and visitor.staff:
        picture = dependencies().settings.picture_bytes + TEXT_BYTES
        request.max_content_length = IMPORT_BYTES if request.endpoint in IMPORTS else picture
