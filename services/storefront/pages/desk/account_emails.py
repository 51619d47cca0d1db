"""The e-mails of an account at the desk: which went out, how each reads in every language, and one sent again."""

from typing import Final

from flask import Response, flash, redirect, render_template, request, url_for
from werkzeug import Response as BaseResponse

from services.storefront import forms
from services.storefront.pages.context import services
from services.storefront.pages.desk import desk
from services.storefront.pages.desk.customers import find_customer
from services.storefront.pages.desk.emails import ALONE
from services.storefront.pages.visitor import token
from services.storefront.rules.email_kinds import ACCOUNT_EMAILS, account_email_name
from services.storefront.translation import gettext as _
from shared.errors import Conflict, Invalid, NotFound, TooManyRequests
from shared.types import Json

VERIFICATION, NEW_PASSWORD, CHANGE_OF_EMAIL = "verification", "new-password", "change-of-email"
RESENDABLE: Final = (VERIFICATION, NEW_PASSWORD, CHANGE_OF_EMAIL)


@desk.get("/customers/<userid>/emails")
def account_emails(userid: str) -> str:
    customer = find_customer(userid)
    return render_template(
        "desk/customer_emails.html",
        customer=customer,
        sent=services().users.account_emails(token(), userid),
        kinds=ACCOUNT_EMAILS,
        resendable=_resendable(customer),
        email_name=account_email_name,
    )


@desk.post("/customers/<userid>/emails")
def send_account_email(userid: str) -> BaseResponse:
    kind = request.form.get("kind", "")
    try:
        services().users.send_account_email(token(), userid, kind, forms.key(request.form))
        flash(_("The e-mail was sent, with a new link."), "good")
    except (Conflict, Invalid, NotFound, TooManyRequests) as error:
        flash(forms.error_text(error), "bad")
    return redirect(url_for("desk.account_emails", userid=userid))


@desk.get("/customers/<userid>/emails/<kind>")
def account_email(userid: str, kind: str) -> str:
    """What it reads like in a language: the subject, the text, and the page that most mail programs show."""
    found = services().users.account_email(token(), userid, kind, request.args.get("in", ""))
    return render_template(
        "desk/customer_email.html",
        customer=find_customer(userid),
        kind=kind,
        email=found,
        name=account_email_name(kind),
    )


@desk.get("/customers/<userid>/emails/<kind>/page")
def account_email_page(userid: str, kind: str) -> Response:
    found = services().users.account_email(token(), userid, kind, request.args.get("in", ""))
    response = Response(found["html"], mimetype="text/html")
    response.headers["Content-Security-Policy"] = ALONE
    return response


def _resendable(customer: Json) -> list[str]:
    """The kinds that this customer could ask for now."""
    if customer["erased"] or not customer["active"]:
        return []
    wanted = {
        VERIFICATION: not customer["email_verified"],
        NEW_PASSWORD: True,
        CHANGE_OF_EMAIL: bool(customer.get("pending_email")),
    }
    return [kind for kind in RESENDABLE if wanted[kind]]
