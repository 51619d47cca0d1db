"""A picture chosen at the product form: stored before the product is saved, so that a mistake elsewhere loses nothing."""

from flask import request

from services.storefront import forms
from services.storefront.pages.context import context, services
from services.storefront.pages.visitor import token
from shared.errors import Invalid, TooLarge

NO_PICTURE = "This file is no picture that browsers show. Choose a JPEG, PNG, GIF, WebP or AVIF file."


def take_picture(form: forms.Form) -> None:
    """Stores the picture that was sent with a product form, if any, and puts its address into the form's `image`."""
    if request.form.get("remove_picture"):
        form.values["image"] = ""
    sent = request.files.get("picture")
    if sent is None or not sent.filename:
        return
    max_bytes = context().settings.picture_bytes
    content = sent.stream.read(max_bytes + 1)
    if len(content) > max_bytes:
        form.errors["picture"] = [too_large(max_bytes)]
        return
    try:
        form.values["image"] = services().products.add_picture(token(), content)["image"]
    except TooLarge:
        form.errors["picture"] = [too_large(max_bytes)]
    except Invalid:
        form.errors["picture"] = [NO_PICTURE]


def too_large(max_bytes: int) -> str:
    return f"This picture is too large: at most {max_bytes / 1_000_000:g} MB are taken. Save it smaller and choose it again."
