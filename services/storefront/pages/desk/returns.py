"""Returns at the desk: approved or refused, and received line by line with the condition of the goods."""

from collections.abc import Mapping

from flask import flash, redirect, request, url_for
from werkzeug import Response as BaseResponse

from services.storefront import forms
from services.storefront.pages.context import services
from services.storefront.pages.desk import desk
from services.storefront.pages.desk.labels import refused_label
from services.storefront.pages.desk.orders import done, find_order
from services.storefront.pages.visitor import token
from services.storefront.rules import exchanges, prices
from services.storefront.translation import gettext as _
from shared.errors import Conflict, Invalid, NotFound
from shared.types import Json

CONDITIONS = ("resaleable", "damaged")
_RETURN = "/orders/<orderid>/returns/<int:number>"


@desk.get(f"{_RETURN}/approval")
@desk.get(f"{_RETURN}/refusal")
@desk.get(f"{_RETURN}/receipt")
@desk.get(f"{_RETURN}/label")
def back_to_return(orderid: str, number: int) -> BaseResponse:
    """The addresses that forms go to, opened as pages."""
    return redirect(url_for("desk.order", orderid=orderid, form=request.args.get("form")))


@desk.post(f"{_RETURN}/approval")
def approve_return(orderid: str, number: int) -> BaseResponse:
    found = find_order(orderid)
    lines: list[Json] = next((back["lines"] for back in found["returns"] if back["number"] == number), [])
    chosen = exchanges.approved(lines, request.form)
    body = {} if chosen is None else {"exchange": chosen}
    return _act(orderid, number, "approval", body, _("Approved; the customer gets an e-mail."))


@desk.post(f"{_RETURN}/refusal")
def refuse_return(orderid: str, number: int) -> BaseResponse:
    form = forms.Form(forms.RETURN_REFUSAL).read(request.form)
    if not form.is_valid:
        return _problem(orderid, " ".join(form.errors["reason"]))
    return _act(orderid, number, "refusal", form.values, _("Refused; the customer gets an e-mail."))


@desk.post(f"{_RETURN}/receipt")
def receive_return(orderid: str, number: int) -> BaseResponse:
    try:
        items = received_items(request.form)
    except Invalid as error:
        return _problem(orderid, forms.error_text(error))
    return _act(orderid, number, "receipt", {"items": items}, _("Received; the money is on its way back."))


@desk.post(f"{_RETURN}/label")
def buy_return_label(orderid: str, number: int) -> str | BaseResponse:
    """By the cheapest service; what the parcel weighs may be left out where its goods have a weight."""
    try:
        text = request.form.get("weight_grams", "").strip()
        body = {"weight_grams": forms.parse_integer(text, "weight_grams")} if text else {}
        label = services().orders.buy_return_label(token(), orderid, number, body)
    except (Conflict, Invalid) as error:
        return refused_label(orderid, error)
    except NotFound as error:
        return _problem(orderid, forms.error_text(error))
    words = _(
        "Bought for %(cost)s from %(carrier)s; the customer gets an e-mail.",
        cost=prices.shown(label["cost"]),
        carrier=label["carrier"],
    )
    return done(orderid, words)


def received_items(sent: Mapping[str, str]) -> list[Json]:
    """Fields `resaleable-{SKU}` and `damaged-{SKU}`: how many of each came. Raises Invalid when nothing did."""
    items = []
    for name, text in sent.items():
        condition, _dash, key = name.partition("-")
        if condition not in CONDITIONS or not key:
            continue
        quantity = forms.parse_integer(text or "0", name)
        if quantity > 0:
            items.append({"productid": key, "quantity": quantity, "condition": condition})
    if not items:
        raise Invalid(_("Say how many of what has come back."))
    return items


def _act(orderid: str, number: int, verb: str, body: Json, words: str) -> BaseResponse:
    try:
        services().orders.act(token(), orderid, f"returns/{number}/{verb}", body)
    except (Conflict, Invalid, NotFound) as error:
        return _problem(orderid, forms.error_text(error))
    return done(orderid, words)


def _problem(orderid: str, words: str) -> BaseResponse:
    flash(words, "bad")
    return redirect(url_for("desk.order", orderid=orderid))
