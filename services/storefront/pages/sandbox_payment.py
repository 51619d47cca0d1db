"""The payment page of the provider `sandbox`: what a provider's own page is to a real shop, with test cards."""

from flask import Blueprint, redirect, render_template, request, url_for
from werkzeug import Response as BaseResponse

from services.storefront.pages.context import services
from services.storefront.rules.messages import message
from services.storefront.rules.payments import SANDBOX_CARDS
from shared.errors import Conflict, Invalid, PaymentRequired

sandbox_payment = Blueprint("sandbox_payment", __name__, url_prefix="/checkout/sandbox")


@sandbox_payment.get("/<orderid>")
def show(orderid: str) -> str:
    return _page(orderid, request.args.get("key", ""))


@sandbox_payment.post("/<orderid>")
def pay(orderid: str) -> str | BaseResponse:
    key = request.args.get("key", "")
    try:
        found = services().orders.pay_at_sandbox(orderid, key, request.form.get("card", ""))
    except (Conflict, Invalid, PaymentRequired) as error:
        return _page(orderid, key, message(error))
    if not found["paid"]:
        return _page(orderid, key)
    return redirect(url_for("payment.returned", orderid=orderid), 303)


def _page(orderid: str, key: str, problem: str = "") -> str:
    found = services().orders.sandbox_page(orderid, key)
    return render_template("sandbox_payment.html", page=found, key=key, problem=problem, cards=SANDBOX_CARDS)
