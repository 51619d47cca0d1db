"""A picture chosen at the product form: stored before the product is saved, so that a mistake elsewhere loses nothing."""

from flask import request

from services.storefront import forms
from services.storefront.pages.dependencies import dependencies, services
from services.storefront.pages.desk import desk
from services.storefront.pages.visitor import token
from shared.errors import Invalid, TooLarge

NO_PICTURE = "This file is no picture that browsers show. Choose a JPEG, PNG, GIF, WebP or AVIF file."


@desk.post("/pictures")
def upload_picture() -> dict[str, str]:
    """A picture that the page sends as soon as it is chosen, so that the form itself stays small. Body: the file."""
    return {"image": _keep(request.stream.read(_max_bytes() + 1))}


def take_picture(form: forms.Form) -> None:
    """Stores the picture that was sent with a product form, if any, and puts its address into the form's `image`."""
    if request.form.get("remove_picture"):
        form.values["image"] = ""
    sent = request.files.get("picture")
    if sent is None or not sent.filename:
        return
    try:
        form.values["image"] = _keep(sent.stream.read(_max_bytes() + 1))
    except (Invalid, TooLarge) as error:
        form.errors["picture"] = [error.detail]


def _keep(content: bytes) -> str:
    """The address of a stored picture. Raises TooLarge and Invalid in words for the page."""
    too_large = f"This picture is too large: at most {_max_bytes() / 1_000_000:g} MB are taken. Save it smaller and choose it again."
    if len(content) > _max_bytes():
        raise TooLarge(too_large)
    try:
        image: str = services().products.add_picture(token(), content)["image"]
    except TooLarge:
        raise TooLarge(too_large) from None
    except Invalid:
        raise Invalid(NO_PICTURE) from None
    return image


def _max_bytes() -> int:
    return dependencies().settings.picture_bytes
