"""Product pictures: the sample shop's drawings, and those that the products service keeps."""

from pathlib import Path

from flask import Blueprint, Response, request, send_from_directory

from services.storefront.pages.context import dependencies, services
from services.storefront.translation import gettext as _
from shared.errors import NotFound

pictures = Blueprint("pictures", __name__)

# A drawing opened on its own may style itself and do nothing else.
ALONE = "default-src 'none'; style-src 'unsafe-inline'; sandbox"


@pictures.get("/media/<path:name>")
def media(name: str) -> Response:
    folder = dependencies().settings.media_dir
    if not folder:
        raise NotFound(_("This shop keeps its pictures elsewhere."))
    response = send_from_directory(Path(folder).resolve(), name, max_age=86400)
    response.headers["Content-Security-Policy"] = ALONE
    return response


@pictures.get("/pictures/<digest>")
@pictures.get("/pictures/<digest>/<name>")
def kept(digest: str, name: str = "") -> Response:
    """A picture under the hash of its content, in one of its sizes: browsers and CDNs keep it for a year."""
    answer = services().products.picture(digest, name, request.headers.get("If-None-Match", ""))
    kind = answer.headers.get("Content-Type", "")
    if answer.status == 200 and not kind.startswith("image/"):
        raise NotFound(_("There is no such picture."))
    response = Response(answer.body, answer.status)
    for header in ("Content-Type", "ETag", "Cache-Control"):
        if header in answer.headers:
            response.headers[header] = answer.headers[header]
    response.headers["Content-Security-Policy"] = ALONE
    return response
