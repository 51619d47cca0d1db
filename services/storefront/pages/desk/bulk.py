"""Many products at the desk at once: publish, archive, move, price, stock."""

from flask import flash, redirect, render_template, request, url_for
from werkzeug import Response as BaseResponse

from services.storefront import forms
from services.storefront.pages.context import dependencies, services
from services.storefront.pages.desk import desk
from services.storefront.pages.visitor import own_path, token
from services.storefront.rules import publishing
from services.storefront.rules.messages import message
from services.storefront.translation import gettext as _
from shared.errors import Invalid

CHOSEN = "product-"


@desk.post("/products/bulk-edit")
def bulk_edit() -> str | BaseResponse:
    """Changes the chosen products; what could not be changed is listed with its reason."""
    chosen = [value for name, value in request.form.items() if name.startswith(CHOSEN)]
    back = own_path(request.form.get("back", ""), url_for("desk.products"))
    try:
        if not chosen:
            raise Invalid(_("Choose some products first."))
        change = publishing.change_of(request.form.get("change", ""), request.form.get("value", "").strip())
        report = services().products.bulk_edit(
            token(), {"productids": chosen, **change}, forms.key(request.form)
        )
    except Invalid as error:
        flash(message(error), "bad")
        return redirect(back)
    dependencies().catalogue.invalidate()
    if report["failed"]:
        return render_template("desk/bulk_report.html", report=report, back=back)
    flash(
        _(
            "%(changed)s changed, %(unchanged)s were so already.",
            changed=report["changed"],
            unchanged=report["unchanged"],
        ),
        "good",
    )
    return redirect(back)


@desk.get("/products/bulk-edit")
def back_to_products() -> BaseResponse:
    """Where the chosen products are sent, opened as a page: a form whose session was lost comes back here."""
    return redirect(url_for("desk.products"))
