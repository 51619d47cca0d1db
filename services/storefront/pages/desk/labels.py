"""Labels at the desk for parcels that go out: bought, printed, handed over, cancelled."""

from flask import Response, flash, redirect, request, url_for
from werkzeug import Response as BaseResponse

from services.storefront import forms
from services.storefront.pages.context import services
from services.storefront.pages.desk import desk
from services.storefront.pages.desk.orders import done, find_order, order_page
from services.storefront.pages.desk.parcels import chosen_items
from services.storefront.pages.pdf import pdf_response
from services.storefront.pages.visitor import token
from services.storefront.rules import prices
from services.storefront.translation import gettext as _
from shared.errors import Conflict, Invalid, NotFound
from shared.types import Json

_LABEL = "/orders/<orderid>/labels/<int:number>"


@desk.get("/orders/<orderid>/labels")
@desk.get(f"{_LABEL}/dispatch")
@desk.get(f"{_LABEL}/cancellation")
def back_to_labels(orderid: str, number: int = 0) -> BaseResponse:
    """The addresses that forms go to, opened as pages."""
    return redirect(url_for("desk.order", orderid=orderid, form=request.args.get("form")))


@desk.get(f"{_LABEL}/label.pdf")
def label_pdf(orderid: str, number: int) -> Response:
    return pdf_response(services().orders.label_pdf(token(), orderid, number))


@desk.get(f"{_LABEL}/forms/<int:form>.pdf")
def label_form_pdf(orderid: str, number: int, form: int) -> Response:
    """What goes with a label across a customs border."""
    return pdf_response(services().orders.label_form_pdf(token(), orderid, number, form))


@desk.post("/orders/<orderid>/labels")
def buy_label(orderid: str) -> str | BaseResponse:
    """For a parcel with what `label-{SKU}` say; what it weighs may be left out where its goods have a weight. Refused, the form keeps what was
    typed."""
    try:
        label = services().orders.buy_label(token(), orderid, _parcel(), forms.key(request.form))
    except (Conflict, Invalid) as error:
        return refused_label(orderid, error)
    except NotFound as error:
        return _problem(orderid, error)
    cost, carrier = prices.shown(label["cost"]), label["carrier"]
    return done(orderid, _("Bought for %(cost)s from %(carrier)s.", cost=cost, carrier=carrier))


def refused_label(orderid: str, error: Conflict | Invalid) -> str:
    """The order's page with what is wrong, and links to the products of which customs want to know more."""
    flash(forms.error_text(error), "bad")
    return order_page(find_order(orderid), undeclared=error.extra.get("products", ()))


@desk.post(f"{_LABEL}/dispatch")
def dispatch_label(orderid: str, number: int) -> BaseResponse:
    return _acted(orderid, f"labels/{number}/dispatch", _("Dispatched."))


@desk.post(f"{_LABEL}/cancellation")
def cancel_label(orderid: str, number: int) -> BaseResponse:
    return _acted(orderid, f"labels/{number}/cancellation", _("Cancelled; its money is asked back."))


def _acted(orderid: str, step: str, words: str) -> BaseResponse:
    try:
        services().orders.act(token(), orderid, step, {})
    except (Conflict, Invalid, NotFound) as error:
        return _problem(orderid, error)
    return done(orderid, words)


def _parcel() -> Json:
    """Raises Invalid for what is no number, and for nothing in the parcel."""
    body: Json = {"items": chosen_items(request.form, "label-")}
    if text := request.form.get("weight_grams", "").strip():
        body["weight_grams"] = forms.parse_integer(text, "weight_grams")
    return body | ({"cheapest": True} if request.form.get("cheapest") else {})


def _problem(orderid: str, error: Conflict | Invalid | NotFound) -> BaseResponse:
    flash(forms.error_text(error), "bad")
    return redirect(url_for("desk.order", orderid=orderid))
