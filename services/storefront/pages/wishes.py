"""The wish list: of people who are logged in; a guest is asked to log in, and comes back."""

from flask import Blueprint, flash, redirect, render_template, request, session, url_for
from werkzeug import Response as BaseResponse

from services.storefront import forms
from services.storefront.pages.context import services
from services.storefront.pages.currency import chosen_currency
from services.storefront.pages.language import goods_language
from services.storefront.pages.visitor import basket_count, needs_login, own_path, token
from services.storefront.rules.variants import line_key
from services.storefront.translation import gettext as _
from shared.errors import Conflict, Invalid, NotFound

wishes = Blueprint("wishes", __name__)


@wishes.get("/wishes")
@needs_login
def show() -> str:
    found = services().users.wishes(
        token(), request.args.get("cursor", ""), chosen_currency(), goods_language()
    )
    rows = [(line_key(each), each) for each in found["items"]]
    return render_template("wishes.html", rows=rows, next=found["next"])


@wishes.post("/wishes")
@needs_login
def add() -> BaseResponse:
    back = own_path(request.form.get("back", ""), url_for("wishes.show"))
    try:
        wish = services().users.add_wish(token(), request.form.get("productid", "")[:100] or "-")
        flash(_("“%(name)s” is on your wish list.", name=wish["name"]), "good")
    except (Conflict, NotFound) as error:
        flash(forms.error_text(error), "bad")
    return redirect(back)


@wishes.get("/wishes/<productid>")
def back_to_wishes(productid: str) -> BaseResponse:
    """Where an entry's buttons lead, opened as a page."""
    return redirect(url_for("wishes.show", form=request.args.get("form")))


@wishes.post("/wishes/<productid>")
@needs_login
def change(productid: str) -> BaseResponse:
    """Into the basket, or with the button "Remove" off the list."""
    try:
        if "remove" in request.form:
            services().users.remove_wish(token(), productid)
        else:
            services().users.move_wish(token(), productid)
            session["count"] = basket_count() + 1
            flash(_("Moved to your basket."), "good")
    except (Conflict, Invalid, NotFound) as error:
        flash(forms.error_text(error), "bad")
    return redirect(url_for("wishes.show"))
