"""Checkout: where to, how to pay, one button. The form holds the whole order, so that sending it twice buys once."""

import secrets

import orjson
from flask import Blueprint, Response, flash, redirect, render_template, request, session, url_for

from services.storefront import forms
from services.storefront.actions.basket import take_out, wanted_of
from services.storefront.clients import NOBODY
from services.storefront.pages.context import context, services
from services.storefront.pages.visitor import basket_count, guest_basket, keep_order, logged_in, token
from services.storefront.rules.payments import CARDS
from shared.errors import AisleError, BadRequest, Conflict, Invalid

checkout = Blueprint("checkout", __name__)


@checkout.get("/checkout")
def show() -> str | Response:
    return _page(_form(), "")


@checkout.post("/checkout")
def place() -> str | Response:
    form = _form()
    try:
        body = _order(form)
        order = services().orders.place(_token(), body, request.form["key"][:64])
    except Invalid as error:
        form.blame(error)
        return _page(form, form.general)
    except AisleError as error:
        if error.status not in (402, 409):
            raise
        return _page(form, error.detail)
    _put_away(order, body)
    flash("Thank you! Your order is placed.", "good")
    return redirect(url_for("orders.show", orderid=order["orderid"]))


def _form() -> forms.Form:
    """A customer chooses an address or gives a new one, a guest says who and where."""
    return forms.Form(forms.ADDRESS if logged_in() else forms.GUEST)


def _token() -> str:
    return token() if logged_in() else NOBODY


def _order(form: forms.Form) -> dict:
    """What was bought, as the page showed it. Raises Invalid for an address that is not complete."""
    try:
        body = orjson.loads(request.form["order"])
        orjson.dumps(body)  # which takes less deep nesting than `loads` does
    except (orjson.JSONDecodeError, orjson.JSONEncodeError):
        body = None
    if not isinstance(body, dict):
        raise BadRequest("Load the checkout page again.")
    provider = context().settings.payment_provider
    body["payment"] = {"provider": provider, "token": request.form.get("card", "")}
    chosen = request.form.get("address_id", "new")
    if logged_in() and chosen != "new":
        return body | {"address_id": chosen}
    form.read(request.form)
    if not form.ok:
        raise Invalid("The address is not complete.", errors={})
    return body | ({"address_id": _kept_address(form)} if logged_in() else form.values)


def _kept_address(form: forms.Form) -> str:
    values = form.values
    known = {(each["name"], each["address"]): each["id"] for each in services().users.addresses(token())}
    if (values["name"], values["address"]) in known:
        return known[values["name"], values["address"]]
    body = {"name": values["name"], "address": values["address"], "default": bool(values["default"])}
    return services().users.add_address(token(), body)["id"]


def _put_away(order: dict, body: dict) -> None:
    """What was bought leaves the basket, what came in meanwhile stays; a guest's browser keeps the order's token."""
    bought = {item["productid"]: item["quantity"] for item in body["items"]}
    session["count"] = max(0, basket_count() - sum(bought.values()))
    if logged_in():
        take_out(services(), token(), bought)
    else:
        session["basket"] = {each: n for each, n in guest_basket().items() if each not in bought}
        keep_order(order["orderid"], order["guest_token"])


def _page(form: forms.Form, problem: str) -> str | Response:
    me = services().users.me(token()) if logged_in() else None
    wanted = wanted_of(me) if me else guest_basket()
    items = [{"productid": productid, "quantity": quantity} for productid, quantity in wanted.items()]
    if not items:
        flash("Your basket is empty.", "warn")
        return redirect(url_for("basket.show"))
    try:
        quote = services().orders.quote(_token(), items)
    except (Conflict, Invalid) as error:
        flash(problem or forms.complaint(error), "warn")
        return redirect(url_for("basket.show"))
    cards = CARDS[context().settings.payment_provider]
    return render_template(
        "checkout.html", me=me, quote=quote, form=form, problem=problem, cards=cards, key=secrets.token_urlsafe(18),
        order=orjson.dumps({"items": items, "expected_total": quote["total"]}).decode(),
        chosen=request.form.get("address_id", ""), card=request.form.get("card", cards[0].token),
    )  # fmt: skip
