"""Customers at the desk: the list with its search, and one customer with orders, what was spent, group, notes; their data handed out, or erased."""

from typing import Any

from flask import Response, flash, redirect, render_template, request, url_for
from werkzeug import Response as BaseResponse

from services.storefront import forms
from services.storefront.clients import attempt
from services.storefront.pages.context import services
from services.storefront.pages.desk import desk
from services.storefront.pages.saved_forms import restore
from services.storefront.pages.visitor import token
from services.storefront.rules.email_kinds import account_email_name
from services.storefront.rules.messages import message
from services.storefront.rules.wording import role_label
from services.storefront.translation import gettext as _
from shared.errors import Conflict, Forbidden, Invalid, NotFound, TooManyRequests
from shared.types import Json

MAX_EMAILS = 5
"""That the page of a customer lists; all are on a page of their own."""


@desk.get("/customers")
def customers() -> str:
    q, group = request.args.get("q", "").strip()[:200], request.args.get("group", "").strip()
    found: Json = {"items": [], "next": None}
    problem = ""
    try:
        found = services().users.customers(token(), q=q, group=group, cursor=request.args.get("cursor", ""))
    except Invalid as error:
        problem = forms.error_text(error)
    guest = q if "@" in q else ""
    return render_template("desk/customers.html", found=found, q=q, group=group, guest=guest, problem=problem)


@desk.get("/customers/<userid>")
def customer(userid: str) -> str:
    return customer_page(userid)


@desk.get("/customers/<userid>/notes")
@desk.get("/customers/<userid>/group")
@desk.get("/customers/<userid>/export")
def back_to_customer(userid: str) -> BaseResponse:
    """The addresses that forms go to, opened as pages: a form whose session was lost comes back here."""
    return redirect(url_for("desk.customer", userid=userid, form=request.args.get("form")))


@desk.post("/customers/<userid>/notes")
def note_customer(userid: str) -> str | BaseResponse:
    form = forms.Form(forms.NOTE).read(request.form)
    if form.is_valid:
        try:
            services().users.note_customer(token(), userid, form.values["text"], forms.key(request.form))
            return _done(userid, _("Noted."))
        except Invalid as error:
            form.add_errors(error)
    return customer_page(userid, note=form)


@desk.post("/customers/<userid>/group")
def set_customer_group(userid: str) -> str | BaseResponse:
    form = forms.Form(forms.GROUP).read(request.form)
    if form.is_valid:
        try:
            services().users.set_customer_group(token(), userid, form.values["group"])
            words = _(
                "Saved. It counts from the next renewal of their session on, at the latest after they log in again."
            )
            return _done(userid, words)
        except Invalid as error:
            form.add_errors(error)
        except (Conflict, Forbidden, NotFound) as error:
            form.general = message(error)
    return customer_page(userid, group=form)


@desk.post("/customers/<userid>/export")
def export_customer(userid: str) -> Response:
    answer = services().users.export_customer(token(), userid)
    headers = {"Content-Disposition": f'attachment; filename="customer-{userid}.json"'}
    return Response(answer.body, mimetype="application/json", headers=headers)


@desk.get("/customers/<userid>/erasure")
def ask_customer_erasure(userid: str) -> str:
    """Says what goes, and asks for the password of who is at the desk."""
    return _erasure_page(userid, forms.Form(forms.CUSTOMER_ERASURE))


@desk.post("/customers/<userid>/erasure")
def erase_customer(userid: str) -> str | BaseResponse:
    form = forms.Form(forms.CUSTOMER_ERASURE).read(request.form)
    if form.is_valid:
        try:
            services().users.erase_customer(token(), userid, form.values["password"])
            return _done(userid, _("The customer is erased."))
        except Invalid as error:
            form.add_errors(error)
        except Forbidden as error:
            form.errors["password"] = [message(error)]
        except (Conflict, TooManyRequests) as error:
            form.general = message(error)
    return _erasure_page(userid, form)


def find_customer(userid: str) -> Json:
    """Raises NotFound."""
    try:
        return services().users.customer(token(), userid)
    except NotFound:
        raise NotFound(_("There is no such customer.")) from None


def customer_page(userid: str, *, note: forms.Form | None = None, group: forms.Form | None = None) -> str:
    access, users, orders = token(), services().users, services().orders
    found = find_customer(userid)
    cursor = request.args.get("cursor", "")
    more: dict[str, Any] = services().together(
        orders=attempt(lambda: orders.of_customer(access, userid, cursor), None),
        spend=attempt(lambda: orders.spend(access, customer=userid), None),
        emails=lambda: users.account_emails(access, userid),
    )
    filled = forms.Form(forms.GROUP, {"group": found.get("group", "")})
    return render_template(
        "desk/customer.html",
        customer=found,
        **more,
        max_emails=MAX_EMAILS,
        note=note or restore(forms.Form(forms.NOTE), url_for("desk.note_customer", userid=userid)),
        group=group or restore(filled, url_for("desk.set_customer_group", userid=userid)),
        role_label=role_label,
        email_name=account_email_name,
    )


def _erasure_page(userid: str, form: forms.Form) -> str:
    found = find_customer(userid)
    if found["erased"]:
        raise NotFound(_("This customer is erased already."))
    return render_template("desk/customer_erasure.html", customer=found, form=form)


def _done(userid: str, words: str) -> BaseResponse:
    flash(words, "good")
    return redirect(url_for("desk.customer", userid=userid))
