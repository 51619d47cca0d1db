"""E-mails when a product is in stock again: asked for on its page, confirmed and ended by links of e-mails."""

from flask import Blueprint, flash, redirect, render_template, request, url_for
from werkzeug import Response as BaseResponse

from services.storefront import forms
from services.storefront.pages.context import services
from services.storefront.pages.visitor import logged_in, own_path, token
from services.storefront.translation import gettext as _
from shared.errors import BadRequest, Conflict, Invalid, NotFound, TooManyRequests

stock_alerts = Blueprint("stock_alerts", __name__, url_prefix="/stock-alerts")


@stock_alerts.get("")
def back() -> BaseResponse:
    """Where the form of a product's page is sent, opened as a page."""
    return redirect(url_for("shop.home"))


@stock_alerts.post("")
def ask() -> BaseResponse:
    sku, email = request.form.get("sku", "")[:64], request.form.get("email", "").strip()[:254]
    try:
        if logged_in() is None and not email:
            raise Invalid(_("Write your e-mail address, so that we can write to you."))
        services().users.ask_stock_alert(
            token() if logged_in() else "", sku, email, request.remote_addr or ""
        )
        asked = _("We write to you once when it is back.")
        confirm_it = _("Look into your mailbox and confirm it.")
        flash(f"{confirm_it} {asked}" if email else asked, "good")
    except (Conflict, Invalid, NotFound, TooManyRequests) as error:
        flash(forms.error_text(error), "bad")
    return redirect(own_path(request.form.get("back", ""), url_for("shop.home")))


@stock_alerts.get("/confirm")
@stock_alerts.get("/cancel")
def link() -> str:
    """What the link of an e-mail opens: programs open it too, so a button does it."""
    verb = request.path.rpartition("/")[2]
    return render_template(
        "stock_alert.html", verb=verb, token=request.args.get("token", "")[:400], problem=""
    )


@stock_alerts.post("/confirm")
def confirm() -> str | BaseResponse:
    sent = request.form.get("token", "")[:400]
    try:
        sku = services().users.confirm_stock_alert(sent)
    except (BadRequest, Invalid) as error:
        return render_template("stock_alert.html", verb="confirm", token="", problem=forms.error_text(error))
    flash(_("Thank you. We write to you once when it is back."), "good")
    return redirect(url_for("shop.product", productid=sku))


@stock_alerts.post("/cancel")
def cancel() -> str | BaseResponse:
    try:
        services().users.cancel_stock_alert(request.form.get("token", "")[:400])
    except (BadRequest, Invalid) as error:
        return render_template("stock_alert.html", verb="cancel", token="", problem=forms.error_text(error))
    flash(_("It is ended: we do not write to you about it."), "good")
    return redirect(url_for("shop.home"))
