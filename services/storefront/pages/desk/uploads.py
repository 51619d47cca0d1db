"""How much the desk's forms with files may hold."""

from flask import request

from services.storefront.pages.context import dependencies
from services.storefront.pages.visitor import logged_in

IMPORT_BYTES = 32 * 1024 * 1024
"""At once: half of what a container's /tmp holds."""

TEXT_BYTES = 1024 * 1024
"""What the other fields of a form may have beside its file."""

IMPORTS = frozenset({"desk.import_file", "desk.import_piece", "desk.import_customers"})
PICTURES_BYTES = 20_000_000
"""Several pictures in one form, where the page does not send each by itself."""

WITH_PICTURES = frozenset({"desk.create_product", "desk.replace_product"})


def allow_large_files() -> None:
    """Before a form is read: what one of the shop's people uploads may be larger than other forms."""
    limits = dict.fromkeys(IMPORTS, IMPORT_BYTES) | dict.fromkeys(WITH_PICTURES, PICTURES_BYTES + TEXT_BYTES)
    one_picture = ("desk.upload_picture", "desk.save_category", "desk.save_shop_settings")
    limits |= dict.fromkeys(one_picture, dependencies().settings.picture_bytes + TEXT_BYTES)
    if request.endpoint not in limits:
        return
    visitor = logged_in()
    if visitor and visitor.staff:
        request.max_content_length = limits[request.endpoint]
