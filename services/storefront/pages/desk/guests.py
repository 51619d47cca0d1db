"""Who ordered without an account, found by e-mail: their orders, what they spent; their data handed out, or erased."""

import orjson
from flask import Response, flash, redirect, render_template, request, url_for
from werkzeug import Response as BaseResponse

from services.storefront import forms
from services.storefront.clients import attempt
from services.storefront.pages.context import services
from services.storefront.pages.desk import desk
from services.storefront.pages.visitor import token
from services.storefront.translation import ngettext
from shared.errors import Conflict, Invalid


@desk.get("/guests")
def guest() -> str | BaseResponse:
    email = _email(request.args.get("email", ""))
    if not email:
        return redirect(url_for("desk.customers"))
    access, orders, cursor = token(), services().orders, request.args.get("cursor", "")
    found = services().together(
        orders=lambda: orders.all(access, q=email, cursor=cursor, limit=25),
        spend=attempt(lambda: orders.spend(access, email=email), None),
    )
    return render_template("desk/guest.html", email=email, **found)


@desk.post("/guests/export")
def export_guest() -> BaseResponse:
    email = _email(request.form.get("email", ""))
    try:
        found = services().orders.export_guest(token(), email)
    except Invalid as error:
        return _refused(email, error)
    headers = {"Content-Disposition": 'attachment; filename="guest.json"'}
    return Response(orjson.dumps(found), mimetype="application/json", headers=headers)


@desk.get("/guests/export")
@desk.get("/guests/erasure")
def ask_guest_erasure() -> str | BaseResponse:
    """Says what goes, and asks once more."""
    email = _email(request.args.get("email", ""))
    if not email or request.path.endswith("export"):
        return redirect(url_for("desk.guest", email=email))
    return render_template("desk/guest_erasure.html", email=email)


@desk.post("/guests/erasure")
def erase_guest() -> BaseResponse:
    email = _email(request.form.get("email", ""))
    try:
        number = services().orders.erase_guest(token(), email)
    except (Conflict, Invalid) as error:
        return _refused(email, error)
    words = ngettext("%(num)s order has no name any more.", "%(num)s orders have no name any more.", number)
    flash(words, "good")
    return redirect(url_for("desk.customers"))


def _refused(email: str, error: Conflict | Invalid) -> BaseResponse:
    flash(forms.error_text(error), "bad")
    return redirect(url_for("desk.guest", email=email))


def _email(text: str) -> str:
    """What looks like an e-mail; "" for anything else."""
    text = text.strip()[:254]
    return text if "@" in text else ""
