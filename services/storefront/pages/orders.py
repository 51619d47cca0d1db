"""A customer's orders: the history, one order with its live timeline, its invoice, cancelling and returning."""

import orjson
from flask import Blueprint, Response, flash, redirect, render_template, request, url_for
from werkzeug import Response as BaseResponse

from services.storefront import forms
from services.storefront.clients import Requester
from services.storefront.pages.context import services
from services.storefront.pages.pdf import pdf_response
from services.storefront.pages.visitor import needs_login, remember_order, requester_of, token
from services.storefront.rules import exchanges, invoices, parcels, progress
from services.storefront.rules.variants import line_key
from services.storefront.translation import gettext as _
from shared.errors import Conflict, Invalid, NotFound, Unavailable
from shared.types import Json

MAX_ALTERNATIVES = 20
orders = Blueprint("orders", __name__, url_prefix="/orders")


@orders.get("")
@needs_login
def history() -> str:
    found = services().orders.mine(token(), request.args.get("cursor", ""))
    return render_template(
        "orders.html", orders=found["items"], next=found["next"], later=bool(request.args.get("cursor"))
    )


@orders.get("/<orderid>")
def show(orderid: str) -> str | BaseResponse:
    """A guest's e-mail leads here with the order's token; a good one is kept and leaves the address bar."""
    if order_token := request.args.get("token"):
        services().orders.order(Requester(order_token=order_token), orderid)
        remember_order(orderid, order_token)
        return redirect(url_for("orders.show", orderid=orderid))
    return _page("order.html", services().orders.order(requester_of(orderid), orderid))


@orders.get("/<orderid>/invoice")
def invoice(orderid: str) -> str:
    """For whoever may see the order: its customer, and staff. All amounts are those that the order keeps."""
    requester = requester_of(orderid)
    order = services().orders.order(requester, orderid)
    if not order["payment"]:
        raise NotFound(_("There is no invoice before the order is paid."))
    issued = order["invoice"] or services().orders.invoice(requester, orderid)
    return render_template(
        "invoice.html",
        order=order,
        number=issued["number"],
        seller=[issued["seller"]["name"], *issued["seller"]["lines"]],
        receiver=invoices.receiver_lines(order),
        phone=invoices.phone_of(order),
    )


@orders.get("/<orderid>/invoice.pdf")
def invoice_pdf(orderid: str) -> Response:
    try:
        return pdf_response(services().orders.invoice_pdf(requester_of(orderid), orderid))
    except Conflict as error:
        if error.code == "not_issued":
            raise
        raise NotFound(_("There is no invoice before the order is paid.")) from None


@orders.get("/<orderid>/credit-notes/<int:number>.pdf")
def credit_note_pdf(orderid: str, number: int) -> Response:
    """Of the refund with this number."""
    return pdf_response(services().orders.credit_note_pdf(requester_of(orderid), orderid, number))


@orders.get("/<orderid>/returns/<int:number>/slip.pdf")
def return_slip_pdf(orderid: str, number: int) -> Response:
    """For the parcel of an approved return: for whoever may see the order."""
    return pdf_response(services().orders.return_slip_pdf(requester_of(orderid), orderid, number))


@orders.get("/<orderid>/returns/<int:number>/forms/<int:form>.pdf")
def return_label_form_pdf(orderid: str, number: int, form: int) -> Response:
    """What goes with the label across a customs border."""
    return pdf_response(services().orders.return_label_form_pdf(requester_of(orderid), orderid, number, form))


@orders.get("/<orderid>/returns/<int:number>/label.pdf")
def return_label_pdf(orderid: str, number: int) -> Response:
    """That the shop has bought for the parcel of a return: for whoever may see the order."""
    return pdf_response(services().orders.return_label_pdf(requester_of(orderid), orderid, number))


@orders.get("/<orderid>/timeline")
def timeline(orderid: str) -> str | Response:
    """What changes by itself on an open page; nothing (204) while nothing has happened since it was `seen`."""
    order = services().orders.order(requester_of(orderid), orderid)
    if request.args.get("seen") == str(len(order["timeline"])):
        return Response(status=204)
    return _page("parts/timeline_update.html", order)


def _page(template: str, order: Json) -> str:
    return render_template(
        template,
        order=order,
        failed=progress.failed(order),
        again=_items_text(order),
        steps=progress.steps(order),
        settled=progress.settled(order),
        returnable=(returnable := progress.returnable(order)),
        alternatives=_alternatives(order, returnable),
        cancellable=parcels.cancellable_parts(order),
        return_reasons=progress.RETURN_REASONS,
    )


def _items_text(order: Json) -> str:
    """What was ordered, as the checkout's forms carry it."""
    items = [{"productid": line_key(item), "quantity": item["quantity"]} for item in order["items"]]
    return orjson.dumps({"items": items}).decode()


def _alternatives(order: Json, returnable: dict[str, int]) -> dict[str, list[Json]]:
    """For each variant that can be sent back, what can be had instead; none while the products do not answer."""
    bought = {line_key(item): item["productid"] for item in order["items"]}
    wanted = [key for key in returnable if key != bought[key]][:MAX_ALTERNATIVES]
    try:
        products = {bought[key]: services().products.product(bought[key]) for key in wanted}
    except (NotFound, Unavailable):
        return {}
    return {key: exchanges.alternatives(products[bought[key]]) for key in wanted}


@orders.post("/<orderid>/cancellation")
def cancel(orderid: str) -> BaseResponse:
    try:
        services().orders.cancel(requester_of(orderid), orderid)
        flash(_("Your order is cancelled; the money goes back the way you paid."), "good")
    except Conflict as error:
        flash(forms.error_text(error), "bad")
    return redirect(url_for("orders.show", orderid=orderid))


@orders.post("/<orderid>/lines/cancellation")
def cancel_lines(orderid: str) -> BaseResponse:
    try:
        items = _chosen("cancel-")
        if not items:
            raise Invalid(_("Say how many of what you cancel."))
        services().orders.cancel(requester_of(orderid), orderid, items, key=forms.key(request.form))
        flash(_("This is cancelled; the money for it goes back the way you paid."), "good")
    except (Conflict, Invalid) as error:
        flash(forms.error_text(error), "bad")
    return redirect(url_for("orders.show", orderid=orderid))


def _chosen(prefix: str) -> list[Json]:
    """Fields `{prefix}{SKU}`: how many of each. Raises Invalid."""
    wanted = {
        name.removeprefix(prefix): forms.parse_integer(value or "0", name)
        for name, value in request.form.items()
        if name.startswith(prefix)
    }
    return [
        {"productid": productid, "quantity": quantity}
        for productid, quantity in wanted.items()
        if quantity > 0
    ]


@orders.post("/<orderid>/returns")
def request_return(orderid: str) -> BaseResponse:
    items = exchanges.with_wanted(_chosen("back-"), request.form)
    try:
        if not items:
            raise Invalid(_("Say how many of what you send back."))
        back = services().orders.request_return(
            requester_of(orderid),
            orderid,
            items,
            request.form.get("reason", "")[:500],
            request.form.get("note", "")[:1000],
            forms.key(request.form),
        )
        if back["status"] == "approved":
            flash(_("Your return is approved: please send the goods."), "good")
        else:
            flash(_("Your return is noted. We look at it and write to you."), "good")
    except (Conflict, Invalid) as error:
        flash(forms.error_text(error), "bad")
    return redirect(url_for("orders.show", orderid=orderid))
