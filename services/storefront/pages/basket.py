"""The basket: a guest's lives in the cookie, a customer's with the users service."""

from flask import Blueprint, Response, flash, redirect, render_template, request, session, url_for

from services.storefront import forms
from services.storefront.actions.basket import MOST_OF_ONE, priced, wanted_of, with_guest_line
from services.storefront.pages.context import enhanced, services
from services.storefront.pages.visitor import basket_count, guest_basket, logged_in, own_path, token
from shared.errors import Conflict, NotFound

basket = Blueprint("basket", __name__)


@basket.get("/basket")
def show() -> str:
    found = priced(services().products, _wanted())
    session["count"] = found.count
    return render_template("basket.html", basket=found)


@basket.post("/basket")
def add() -> str | Response:
    """Puts something in, on top of what is in already."""
    productid = request.form["productid"]
    quantity = forms.whole(request.form.get("quantity", "1"), "quantity")
    before = _wanted().get(productid, 0)
    after = min(before + max(1, quantity), MOST_OF_ONE)
    _set(productid, after)
    session["count"] = basket_count() + after - before
    if enhanced():
        return render_template("parts/added.html", name=request.form.get("name", "")[:200])
    flash("Added to your basket.", "good")
    return redirect(own_path(request.form.get("back", ""), url_for("basket.show")))


@basket.post("/basket/<productid>")
def change(productid: str) -> Response:
    """Sets a line's quantity; 0, or the button "Remove", takes it out."""
    quantity = 0 if "remove" in request.form else forms.whole(request.form["quantity"], "quantity")
    try:
        _set(productid, min(max(0, quantity), MOST_OF_ONE))
    except Conflict as error:
        flash(error.detail, "bad")
    return redirect(url_for("basket.show"))


def _wanted() -> dict[str, int]:
    if logged_in() is None:
        return guest_basket()
    return wanted_of(services().users.me(token()))


def _set(productid: str, quantity: int) -> None:
    if logged_in() is None:
        before = guest_basket()
        if quantity and productid not in before and not services().products.lookup([productid])["found"]:
            raise NotFound("There is no such product.")
        session["basket"] = with_guest_line(before, productid, quantity)
        session.permanent = True
    elif quantity:
        services().users.put_in_basket(token(), productid, quantity)
    else:
        services().users.take_from_basket(token(), productid)
