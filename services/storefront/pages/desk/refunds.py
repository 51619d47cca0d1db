"""Paying money back at the desk: the amount is checked, shown once more with its order and customer, then refunded."""

from typing import Any

from flask import render_template, request
from werkzeug import Response as BaseResponse

from services.storefront import forms
from services.storefront.pages.context import services
from services.storefront.pages.desk import desk
from services.storefront.pages.desk.orders import add_errors, done, find_order, order_page
from services.storefront.pages.visitor import token
from services.storefront.rules import prices
from services.storefront.rules.refunds import parse_refund, refundable_amount
from services.storefront.translation import gettext as _
from shared.errors import Conflict, Invalid
from shared.money import Money


@desk.post("/orders/<orderid>/refunds")
def refund(orderid: str) -> str | BaseResponse:
    """Without `confirmed` nothing is paid: the page asks whether this amount is meant."""
    order = find_order(orderid)
    form = forms.Form(forms.REFUND).read(request.form)
    if not form.is_valid or "change" in request.form:
        return order_page(order, refund=form)
    try:
        if "confirmed" not in request.form:
            return _confirmation(order, form, parse_refund(form.values["amount"], _left(order)))
        _refund(order, form)
        return done(orderid, _("Refunded."))
    except (Conflict, Invalid) as error:
        add_errors(form, error)
    return order_page(find_order(orderid), refund=form)


def _left(order: dict[str, Any]) -> Money:
    left = refundable_amount(order)
    if left is None:
        raise Conflict(_("Nothing was paid for this order, so nothing can be refunded."))
    return left


def _refund(order: dict[str, Any], form: forms.Form) -> None:
    """How much is left is for the orders service to check: a form sent twice is answered as the first time."""
    amount = prices.parse(form.values["amount"], _left(order)["currency"], "amount")
    body = {"amount": amount, "reason": form.values["reason"], "notify": "notify" in request.form}
    if "store_credit" in request.form:
        body["to"] = "store_credit"
    try:
        services().orders.act(token(), order["orderid"], "refunds", body, forms.key(request.form))
    except Conflict as error:
        if error.code != "refund_too_large":
            raise
        left = prices.shown(_left(find_order(order["orderid"])))
        raise Conflict(
            _("%(left)s is left to refund, not %(amount)s.", left=left, amount=prices.shown(amount))
        ) from error


def _confirmation(order: dict[str, Any], form: forms.Form, amount: Money) -> str:
    return render_template(
        "desk/refund.html",
        order=order,
        amount=amount,
        left=_left(order),
        form=form,
        key=forms.key(request.form),
        to_store_credit="store_credit" in request.form,
        notify="notify" in request.form,
    )
