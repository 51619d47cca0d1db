"""Deliveries from suppliers at the desk: what is to come, and what came."""

from flask import flash, redirect, render_template, request, url_for
from werkzeug import Response as BaseResponse

from services.storefront import forms
from services.storefront.pages.context import services
from services.storefront.pages.desk import desk
from services.storefront.pages.desk.orders import add_errors
from services.storefront.pages.saved_forms import restore
from services.storefront.pages.visitor import token
from services.storefront.rules.moments import moment_of
from services.storefront.rules.stock_lines import received_rows, stock_changes
from services.storefront.translation import gettext as _
from shared.errors import Conflict, Invalid
from shared.types import Json


@desk.get("/supplier-deliveries")
def supplier_deliveries() -> str:
    return _list(restore(forms.Form(forms.SUPPLIER_DELIVERY), url_for("desk.expect_supplier_delivery")))


@desk.post("/supplier-deliveries")
def expect_supplier_delivery() -> str | BaseResponse:
    form = forms.Form(forms.SUPPLIER_DELIVERY).read(request.form)
    if form.is_valid:
        try:
            found = services().products.expect_delivery(token(), _content(form), forms.key(request.form))
            return redirect(url_for("desk.supplier_delivery", deliveryid=found["deliveryid"]))
        except Invalid as error:
            form.add_errors(error)
    return _list(form)


@desk.get("/supplier-deliveries/<deliveryid>")
def supplier_delivery(deliveryid: str) -> str:
    return _one(
        deliveryid,
        restore(forms.Form(forms.RECEIPT), url_for("desk.receive_supplier_delivery", deliveryid=deliveryid)),
    )


@desk.post("/supplier-deliveries/<deliveryid>")
def receive_supplier_delivery(deliveryid: str) -> str | BaseResponse:
    """The form names the receipt's number: if somebody else was quicker, they are told what was received."""
    form = forms.Form(forms.RECEIPT).read(request.form)
    try:
        body = {
            "number": forms.parse_integer(form.values["number"], "number"),
            "items": received_rows(request.form),
            "complete": bool(form.values["complete"]),
        }
        services().products.receive_delivery(token(), deliveryid, body, forms.key(request.form))
        flash(_("Received, and in stock."), "good")
        return redirect(url_for("desk.supplier_delivery", deliveryid=deliveryid))
    except (Conflict, Invalid) as error:
        add_errors(form, error)
    return _one(deliveryid, form)


def _content(form: forms.Form) -> Json:
    """Raises Invalid."""
    changes = stock_changes(form.values["lines"], "lines")
    if any(each.get("delta", 0) < 1 for each in changes):
        words = _("Write a SKU and how many are to come on each line, such as mug-1 12.")
        raise Invalid(words, errors={"lines": [words]})
    return {
        "supplier": form.values["supplier"],
        "reference": form.values["reference"],
        "expected": moment_of(form.values["expected"], "expected"),
        "note": form.values["note"],
        "items": [{"sku": each["sku"], "quantity": each["delta"]} for each in changes],
    }


def _list(form: forms.Form) -> str:
    page = services().products.deliveries(token(), request.args.get("cursor", ""))
    later = url_for("desk.supplier_deliveries", cursor=page["next"])
    return render_template(
        "desk/supplier_deliveries.html", form=form, deliveries=page["items"], next=page["next"], later=later
    )


def _one(deliveryid: str, form: forms.Form) -> str:
    found = services().products.delivery(token(), deliveryid)
    return render_template("desk/supplier_delivery.html", form=form, delivery=found, typed=request.form)
