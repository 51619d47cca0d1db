"""Parcels at the desk: what goes out in each, its arrival; goods that are cancelled or paid back by line."""

from collections.abc import Mapping

from flask import flash, redirect, request, url_for
from werkzeug import Response as BaseResponse

from services.storefront import forms
from services.storefront.clients import Requester
from services.storefront.pages.context import services
from services.storefront.pages.desk import desk
from services.storefront.pages.desk.orders import add_errors, done, find_order, order_page
from services.storefront.pages.visitor import token
from services.storefront.rules.parcels import left_to_send
from services.storefront.translation import gettext as _
from shared.errors import Conflict, Invalid, NotFound
from shared.types import Json


@desk.get("/orders/<orderid>/parcels/<int:number>/delivery")
@desk.get("/orders/<orderid>/lines/cancellation")
@desk.get("/orders/<orderid>/lines/refund")
def back_to_lines(orderid: str, number: int = 0) -> BaseResponse:
    """The addresses that forms go to, opened as pages."""
    return redirect(url_for("desk.order", orderid=orderid, form=request.args.get("form")))


@desk.post("/orders/<orderid>/dispatch")
def dispatch(orderid: str) -> str | BaseResponse:
    """All that is left, or what `send-{SKU}` say."""
    form = forms.Form(forms.DISPATCH).read(request.form)
    if form.is_valid:
        try:
            body = {name: text for name, text in form.values.items() if text}
            services().orders.act(token(), orderid, "dispatch", body | _parcel(orderid))
            return done(orderid, _("Dispatched."))
        except (Conflict, Invalid) as error:
            add_errors(form, error)
    return order_page(find_order(orderid), dispatch=form)


@desk.post("/orders/<orderid>/parcels/<int:number>/delivery")
def deliver_parcel(orderid: str, number: int) -> BaseResponse:
    try:
        services().orders.act(token(), orderid, f"parcels/{number}/delivery", {})
    except (Conflict, Invalid, NotFound) as error:
        return _problem(orderid, forms.error_text(error))
    return done(orderid, _("Delivered."))


@desk.post("/orders/<orderid>/lines/cancellation")
def cancel_lines(orderid: str) -> BaseResponse:
    try:
        items = chosen_items(request.form, "cancel-")
        services().orders.cancel(
            Requester(token()),
            orderid,
            items,
            request.form.get("reason", "")[:500],
            forms.key(request.form),
        )
    except (Conflict, Invalid) as error:
        return _problem(orderid, forms.error_text(error))
    return done(orderid, _("Cancelled; the customer gets an e-mail."))


@desk.post("/orders/<orderid>/lines/refund")
def refund_lines(orderid: str) -> BaseResponse:
    try:
        body = {
            "items": chosen_items(request.form, "refund-"),
            "reason": request.form.get("reason", "")[:300],
            "notify": "notify" in request.form,
        }
        services().orders.act(token(), orderid, "refunds", body, forms.key(request.form))
    except (Conflict, Invalid) as error:
        return _problem(orderid, forms.error_text(error))
    return done(orderid, _("Refunded."))


def chosen_items(sent: Mapping[str, str], prefix: str) -> list[Json]:
    """Fields `{prefix}{SKU}`: how many of each. Raises Invalid when it is nothing."""
    items = []
    for name, text in sent.items():
        quantity = forms.parse_integer(text or "0", name) if name.startswith(prefix) else 0
        if quantity > 0:
            items.append({"productid": name.removeprefix(prefix), "quantity": quantity})
    if not items:
        raise Invalid(_("Say how many of what."))
    return items


def _parcel(orderid: str) -> Json:
    """The items of a parcel that does not hold all that is left."""
    if not any(name.startswith("send-") for name in request.form):
        return {}
    items = chosen_items(request.form, "send-")
    everything = left_to_send(find_order(orderid))
    return {} if {each["productid"]: each["quantity"] for each in items} == everything else {"items": items}


def _problem(orderid: str, words: str) -> BaseResponse:
    flash(words, "bad")
    return redirect(url_for("desk.order", orderid=orderid))
