"""Who works here: staff and admins."""

from flask import flash, redirect, render_template, request, url_for
from werkzeug import Response as BaseResponse

from services.storefront import forms
from services.storefront.pages.context import services
from services.storefront.pages.desk import desk
from services.storefront.pages.saved_forms import restore
from services.storefront.pages.visitor import token
from services.storefront.rules.messages import message
from services.storefront.rules.wording import role_label
from services.storefront.translation import gettext as _
from shared.errors import BadRequest, Conflict, Forbidden, Invalid, NotFound, TooManyRequests


@desk.get("/staff")
def staff() -> str:
    return _page(restore(forms.Form(forms.STAFF), url_for("desk.set_role")))


@desk.post("/staff")
def set_role() -> str | BaseResponse:
    form = forms.Form(forms.STAFF).read(request.form)
    if form.is_valid:
        try:
            services().users.set_role(token(), form.values["email"], form.values["role"])
            flash(
                _(
                    "Saved. It counts at once for every change they make, and within a minute for all they see."
                ),
                "good",
            )
            return redirect(url_for("desk.staff"))
        except Invalid as error:
            form.add_errors(error)
        except (BadRequest, Conflict, Forbidden, NotFound) as error:
            form.general = message(error)
    return _page(form)


@desk.post("/staff/closure")
def close_account() -> str | BaseResponse:
    """Closes an account, or opens it again: two buttons of one form."""
    form = forms.Form(forms.CLOSURE).read(request.form)
    opens = "open" in request.form
    if not opens and not form.values["reason"]:
        form.errors["reason"] = [_("Say why: it stands in the list of what was done.")]
    if form.is_valid:
        try:
            _close_or_open(form, opens=opens)
            flash(_("The account is open again.") if opens else _("The account is closed."), "good")
            return redirect(url_for("desk.staff"))
        except Invalid as error:
            form.add_errors(error)
        except Forbidden as error:
            form.errors["password"] = [message(error)]
        except (BadRequest, Conflict, NotFound, TooManyRequests) as error:
            form.general = message(error)
    return _page(forms.Form(forms.STAFF), form)


@desk.post("/staff/group")
def set_group() -> str | BaseResponse:
    """Lets a customer pay the prices of a group."""
    form = forms.Form(forms.CUSTOMER_GROUP).read(request.form)
    if form.is_valid:
        try:
            services().users.set_group(token(), form.values["email"], form.values["group"])
            flash(
                _(
                    "Saved. It counts from the next renewal of their session on, at the latest after they log in again."
                ),
                "good",
            )
            return redirect(url_for("desk.staff"))
        except Invalid as error:
            form.add_errors(error)
        except (BadRequest, Conflict, NotFound) as error:
            form.general = message(error)
    return _page(forms.Form(forms.STAFF), group=form)


def _close_or_open(form: forms.Form, *, opens: bool) -> None:
    users, values = services().users, form.values
    if opens:
        users.open_account(token(), values["email"])
    else:
        users.close_account(token(), values["email"], values["reason"], values["password"])


@desk.get("/staff/closure")
@desk.get("/staff/group")
def back_to_staff() -> BaseResponse:
    """The addresses that forms go to, opened as pages: a form whose session was lost comes back here."""
    return redirect(url_for("desk.staff", form=request.args.get("form")))


def _page(form: forms.Form, closure: forms.Form | None = None, group: forms.Form | None = None) -> str:
    return render_template(
        "desk/staff.html",
        people=services().users.staff(token())["items"],
        form=form,
        closure=closure or restore(forms.Form(forms.CLOSURE), url_for("desk.close_account")),
        group=group or restore(forms.Form(forms.CUSTOMER_GROUP), url_for("desk.set_group")),
        role_label=role_label,
    )
