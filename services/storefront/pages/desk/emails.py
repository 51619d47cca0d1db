"""The e-mails of an order at the desk: what went out, how each reads in every language, and one sent again."""

from flask import Response, redirect, render_template, request, url_for
from werkzeug import Response as BaseResponse

from services.storefront import forms
from services.storefront.pages.context import services
from services.storefront.pages.desk import desk
from services.storefront.pages.desk.orders import add_errors, done, find_order, order_page
from services.storefront.pages.visitor import token
from services.storefront.rules.email_kinds import kind_name
from services.storefront.translation import gettext as _
from shared.errors import Conflict, Invalid

ALONE = "default-src 'none'; style-src 'unsafe-inline'; img-src 'self'; sandbox"
"""An e-mail opened on its own may style itself and show the shop's pictures, and do nothing else."""


@desk.get("/orders/<orderid>/emails")
def order_emails(orderid: str) -> str:
    order = find_order(orderid)
    sent = services().orders.emails(token(), orderid)
    kinds = list(dict.fromkeys(each["kind"] for each in sent))
    return render_template("desk/emails.html", order=order, sent=sent, kinds=kinds, kind_name=kind_name)


@desk.post("/orders/<orderid>/emails")
def send_email_again(orderid: str) -> BaseResponse:
    body = {"kind": request.form.get("kind", "")}
    try:
        services().orders.act(token(), orderid, "emails", body, forms.key(request.form))
    except (Conflict, Invalid) as error:
        return done(orderid, forms.error_text(error))
    return done(orderid, _("The e-mail was sent again."))


@desk.get("/orders/<orderid>/gift-recipient")
def back_to_gift_recipient(orderid: str) -> BaseResponse:
    """The address that the form goes to, opened as a page."""
    return redirect(url_for("desk.order", orderid=orderid, form=request.args.get("form")))


@desk.post("/orders/<orderid>/gift-recipient")
def correct_gift_recipient(orderid: str) -> str | BaseResponse:
    form = forms.Form(forms.GIFT_RECIPIENT).read(request.form)
    if form.is_valid:
        try:
            key, body = forms.key(request.form), form.values
            order = services().orders.correct_gift_recipient(token(), orderid, body, key)
            if order["gift_card_delivery"]["sent"]:
                return done(orderid, _("The gift cards were sent to %(email)s.", email=body["email"]))
            return done(orderid, _("Saved."))
        except (Conflict, Invalid) as error:
            add_errors(form, error)
    return order_page(find_order(orderid), recipient=form)


@desk.get("/orders/<orderid>/emails/<kind>")
def email_preview(orderid: str, kind: str) -> str:
    """What it reads like in a language: the subject, the text, and the page that most mail programs show."""
    found = services().orders.email(token(), orderid, kind, request.args.get("in", ""))
    return render_template(
        "desk/email.html", order=find_order(orderid), kind=kind, email=found, name=kind_name(kind)
    )


@desk.get("/orders/<orderid>/emails/<kind>/page")
def email_page(orderid: str, kind: str) -> Response:
    found = services().orders.email(token(), orderid, kind, request.args.get("in", ""))
    response = Response(found["html"], mimetype="text/html")
    response.headers["Content-Security-Policy"] = ALONE
    return response
