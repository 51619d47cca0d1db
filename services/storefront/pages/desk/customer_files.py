"""Customers from a file, with progress, and all of them in one."""

from flask import Response, redirect, render_template, request, url_for
from werkzeug import Response as BaseResponse

from services.storefront import forms
from services.storefront.pages.context import services
from services.storefront.pages.desk import desk
from services.storefront.pages.desk.imports import SHOWN_FAILURES
from services.storefront.pages.visitor import token
from services.storefront.rules.messages import message
from services.storefront.translation import gettext as _
from shared.couch.deadline import NO_LIMIT, time_limit
from shared.errors import BadRequest, Invalid
from shared.types import Json

CSV, NDJSON = "text/csv", "application/x-ndjson"


@desk.get("/customers/import")
def customer_import() -> str:
    return _page()


@desk.post("/customers/import")
@time_limit(NO_LIMIT)
def import_customers() -> str:
    """The whole file at once; meanwhile a page with JavaScript asks how far it is."""
    form = forms.Form(forms.CUSTOMER_IMPORT).read(request.form)
    sent = request.files.get("file")
    if sent is None or not sent.filename:
        return _page(form=form, problem=_("Choose a file first."))
    if not form.is_valid:
        return _page(form=form)
    kind = form.values["format"]
    media_type = NDJSON if kind == "ndjson" else CSV
    query = {"format": kind if kind == "shopify" else "", "id": request.form.get("id", "")[:60]}
    try:
        result = services().users.import_customers(token(), sent.stream.read(), media_type, **query)
    except (Invalid, BadRequest) as error:
        return _page(form=form, problem=message(error))
    return _page(result, form)


@desk.get("/customers/import/progress/<name>")
def customer_import_progress(name: str) -> Json:
    """How far an import is whose answer the page waits for."""
    return services().users.customers_import_progress(token(), name)


@desk.get("/customers/export")
def back_to_customers() -> BaseResponse:
    """The address that a form goes to, opened as a page: a form whose session was lost comes back here."""
    return redirect(url_for("desk.customers"))


@desk.post("/customers/export")
@time_limit(NO_LIMIT)
def export_customers() -> Response:
    answer = services().users.export_customers(token())
    headers = {"Content-Disposition": 'attachment; filename="customers.csv"'}
    return Response(answer.body, mimetype=CSV, headers=headers)


def _page(result: Json | None = None, form: forms.Form | None = None, problem: str = "") -> str:
    return render_template(
        "desk/customer_import.html",
        result=result,
        shown=SHOWN_FAILURES,
        problem=problem,
        form=form or forms.Form(forms.CUSTOMER_IMPORT, {"format": "csv"}),
    )
