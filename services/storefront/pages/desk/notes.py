"""Notes of staff on an order and on a product, at the desk."""

from flask import flash, redirect, request, url_for
from werkzeug import Response as BaseResponse

from services.storefront import forms
from services.storefront.pages.context import services
from services.storefront.pages.desk import desk
from services.storefront.pages.desk.orders import done
from services.storefront.pages.visitor import token
from services.storefront.translation import gettext as _
from shared.errors import Invalid


@desk.get("/orders/<orderid>/notes")
def back_to_notes(orderid: str) -> BaseResponse:
    """The address that the form goes to, opened as a page."""
    return redirect(url_for("desk.order", orderid=orderid, form=request.args.get("form")))


@desk.post("/orders/<orderid>/notes")
def add_note(orderid: str) -> BaseResponse:
    form = forms.Form(forms.NOTE).read(request.form)
    try:
        if not form.is_valid:
            raise Invalid(" ".join(form.errors["text"]))
        services().orders.act(token(), orderid, "notes", form.values, forms.key(request.form))
    except Invalid as error:
        flash(forms.error_text(error), "bad")
        return redirect(url_for("desk.order", orderid=orderid))
    return done(orderid, _("Noted."))


@desk.get("/products/<productid>/notes")
def back_to_product_notes(productid: str) -> BaseResponse:
    return redirect(url_for("desk.product", productid=productid, form=request.args.get("form")))


@desk.post("/products/<productid>/notes")
def note_product(productid: str) -> BaseResponse:
    form = forms.Form(forms.NOTE).read(request.form)
    try:
        if not form.is_valid:
            raise Invalid(" ".join(form.errors["text"]))
        services().products.add_note(token(), productid, form.values["text"], forms.key(request.form))
        flash(_("Noted."), "good")
    except Invalid as error:
        flash(forms.error_text(error), "bad")
    return redirect(url_for("desk.product", productid=productid))
