"""The pictures of the product form: stored before the product is saved, so that a mistake elsewhere loses nothing."""

import re
from collections.abc import Mapping
from typing import Any

from flask import request
from werkzeug.datastructures import FileStorage

from services.storefront import forms
from services.storefront.pages.context import dependencies, services
from services.storefront.pages.desk import desk
from services.storefront.pages.visitor import token
from services.storefront.rules.messages import message
from services.storefront.rules.pictures import KEPT, picture_path
from services.storefront.rules.service_texts import service_text
from services.storefront.translation import gettext as _
from services.storefront.translation import number_text
from shared.couch.deadline import NO_LIMIT, time_limit
from shared.errors import AisleError, Invalid, TooLarge

MAX_PICTURES = 20
_PLACE = re.compile("[0-9]{1,3}")

Pictures = list[dict[str, str]]


@desk.post("/pictures")
@time_limit(NO_LIMIT)
def upload_picture() -> dict[str, str] | tuple[dict[str, str], int]:
    """A picture that the page sends as soon as it is chosen, so that the form itself stays small. Body: the file."""
    try:
        digest = _keep(request.stream.read(_max_bytes() + 1))
    except (Invalid, TooLarge) as error:
        return {"problem": service_text(error.detail)}, error.status
    return {"id": digest, "src": picture_path(digest)}


def take_pictures(form: forms.Form) -> Pictures:
    """The pictures of a product form that was sent: those of its rows in their order, then the files that came with it."""
    pictures = rows_of(request.form)
    for file in request.files.getlist("pictures"):
        if not file.filename:
            continue
        try:
            digest = _keep(file.stream.read(_max_bytes() + 1))
        except (Invalid, TooLarge) as error:
            form.errors.setdefault("pictures", []).append(f"{_name(file)}: {service_text(error.detail)}")
            continue
        if digest not in [each["id"] for each in pictures]:
            pictures.append({"id": digest, "alt": ""})
    if len(pictures) > MAX_PICTURES:
        form.errors.setdefault("pictures", []).append(
            _("A product has at most %(count)s pictures.", count=MAX_PICTURES)
        )
    return pictures


def take_picture(form: forms.Form, name: str) -> str:
    """The address of the picture that came with a form, "" without one."""
    file = request.files.get(name)
    if file is None or not file.filename:
        return ""
    try:
        return KEPT + _keep(file.stream.read(_max_bytes() + 1))
    except (Invalid, TooLarge) as error:
        form.errors.setdefault(name, []).append(f"{_name(file)}: {service_text(error.detail)}")
        return ""


def rows_of(sent: Mapping[str, str]) -> Pictures:
    """The rows of a form in the order of their places, without those that are to go."""
    rows = []
    for number in range(1, 2 * MAX_PICTURES + 1):
        digest = sent.get(f"picture-{number}-id", "")
        if digest and not sent.get(f"picture-{number}-remove"):
            place = sent.get(f"picture-{number}-place", "").strip()
            rows.append((int(place) if _PLACE.fullmatch(place) else 999, number, digest))
    return [
        {"id": digest, "alt": sent.get(f"picture-{number}-alt", "").strip()}
        for _, number, digest in sorted(rows)
    ]


def pictures_of(product: Mapping[str, Any] | None) -> Pictures:
    return [{"id": each["id"], "alt": each["alt"]} for each in (product or {}).get("pictures", ())]


def _keep(content: bytes) -> str:
    """The id of a stored picture. Raises TooLarge and Invalid in words for the page."""
    too_large = _(
        "This picture is too large: at most %(size)s MB are taken. Save it smaller and choose it again.",
        size=number_text(_max_bytes() / 1_000_000, "0.##"),
    )
    if len(content) > _max_bytes():
        raise TooLarge(too_large)
    try:
        digest: str = services().products.add_picture(token(), content)["id"]
    except TooLarge:
        raise TooLarge(too_large) from None
    except AisleError as error:
        if error.status >= 500:
            raise
        raise Invalid(message(error)) from None
    return digest


def _name(file: FileStorage) -> str:
    return (file.filename or "")[-80:]


def _max_bytes() -> int:
    return dependencies().settings.picture_bytes
