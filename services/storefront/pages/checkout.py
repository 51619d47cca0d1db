"""Checkout: where to, how to pay, one button. The form holds the whole order, so that sending it twice buys once."""

import secrets

import orjson
from flask import Blueprint, Response, flash, redirect, render_template, request, session, url_for

from services.storefront import actions, forms
from services.storefront.pages.context import context, services
from services.storefront.pages.visitor import needs_login, token
from shared.errors import AisleError, BadRequest, Conflict, Invalid

checkout = Blueprint("checkout", __name__)

# The sandbox provider's test cards (api.md).
CARDS = (
    ("tok_ok", "Test card ending 4242", "Pays at once."),
    ("tok_declined", "Test card ending 0002", "The bank declines it."),
    ("tok_timeout", "Test card ending 0119", "Pays, but the bank's answer is lost on the way."),
    ("tok_error", "Test card ending 0341", "Fails at the first try and then pays."),
)


@checkout.get("/checkout")
@needs_login
def show() -> str | Response:
    return _page(forms.Form(forms.ADDRESS), "")


@checkout.post("/checkout")
@needs_login
def place() -> str | Response:
    form = forms.Form(forms.ADDRESS)
    try:
        body = _order(form)
        order = services().orders.place(token(), body, request.form["key"][:64])
    except Invalid as error:
        form.blame(error)
        return _page(form, form.general)
    except AisleError as error:
        if error.status not in (402, 409):
            raise
        return _page(form, error.detail)
    session["count"] = 0
    actions.take_out(services(), token(), [item["productid"] for item in body["items"]])
    flash("Thank you! Your order is placed.", "good")
    return redirect(url_for("orders.show", orderid=order["orderid"]))


def _order(form: forms.Form) -> dict:
    """What was bought, as the page showed it. Raises Invalid for an address that is not complete."""
    try:
        body = orjson.loads(request.form["order"])
    except orjson.JSONDecodeError:
        body = None
    if not isinstance(body, dict):
        raise BadRequest("Load the checkout page again.")
    chosen = request.form.get("address_id", "")
    if chosen == "new":
        form.read(request.form)
        if not form.ok:
            raise Invalid("The new address is not complete.", errors={})
        body["address_id"] = _kept_address(form)
    else:
        body["address_id"] = chosen
    body["payment"] = {"provider": context().settings.payment_provider, "token": request.form.get("card", "")}
    return body


def _kept_address(form: forms.Form) -> str:
    values = form.values
    known = {(each["name"], each["address"]): each["id"] for each in services().users.addresses(token())}
    if (values["name"], values["address"]) in known:
        return known[values["name"], values["address"]]
    body = {"name": values["name"], "address": values["address"], "default": bool(values["default"])}
    return services().users.add_address(token(), body)["id"]


def _page(form: forms.Form, problem: str) -> str | Response:
    me = services().users.me(token())
    items = [
        {"productid": productid, "quantity": quantity}
        for productid, quantity in actions.wanted_of(me).items()
    ]
    if not items:
        flash("Your basket is empty.", "warn")
        return redirect(url_for("basket.show"))
    try:
        quote = services().orders.quote(token(), items)
    except (Conflict, Invalid) as error:
        flash(problem or error.detail, "warn")
        return redirect(url_for("basket.show"))
    order = {"items": items, "expected_total": quote["total"]}
    return render_template(
        "checkout.html", me=me, quote=quote, form=form, problem=problem, cards=CARDS, key=secrets.token_urlsafe(18),
        order=orjson.dumps(order).decode(), chosen=request.form.get("address_id", ""), card=request.form.get("card", "tok_ok"),
    )  # fmt: skip
