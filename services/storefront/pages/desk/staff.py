"""Who works here: staff and admins, and what they did."""

from flask import Response, flash, redirect, render_template, request, url_for

from services.storefront import forms
from services.storefront.pages.context import services
from services.storefront.pages.desk import desk
from services.storefront.pages.saved_forms import restore
from services.storefront.pages.visitor import token
from services.storefront.rules import wording
from services.storefront.rules.messages import message
from shared.errors import BadRequest, Conflict, Forbidden, Invalid, NotFound


@desk.get("/staff")
def staff() -> str:
    return _page(restore(forms.Form(forms.STAFF), url_for("desk.set_role")))


@desk.post("/staff")
def set_role() -> str | Response:
    form = forms.Form(forms.STAFF).read(request.form)
    if form.ok:
        try:
            services().users.set_role(token(), form.values["email"], form.values["role"])
            flash(
                "Saved. It counts at once for every change they make, and within a minute for all they see.",
                "good",
            )
            return redirect(url_for("desk.staff"))
        except Invalid as error:
            form.blame(error)
        except (BadRequest, Conflict, Forbidden, NotFound) as error:
            form.general = message(error)
    return _page(form)


def _page(form: forms.Form) -> str:
    """The people, and what they did this month (or the one asked for)."""
    access, users, args = token(), services().users, request.args
    found = services().together(
        people=lambda: users.staff(access),
        done=lambda: users.audit(access, args.get("month", ""), args.get("cursor", "")),
    )
    people = found["people"]["items"]
    return render_template(
        "desk/staff.html", people=people, names={each["userid"]: each["name"] for each in people}, done=found["done"],
        form=form, month=args.get("month", ""), action_word=wording.action_word, details=wording.details,
    )  # fmt: skip
