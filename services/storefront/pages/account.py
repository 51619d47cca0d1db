"""A customer's account: name, addresses, everything the shop holds (export), and leaving for good (erasure)."""

from dataclasses import replace

from flask import Blueprint, Response, flash, redirect, render_template, request, url_for
from werkzeug import Response as BaseResponse

from services.storefront import address_forms, forms
from services.storefront.pages.context import services
from services.storefront.pages.delivery import delivery_form
from services.storefront.pages.saved_forms import restore, restored, save_values, updated, with_saved
from services.storefront.pages.visitor import leave, logged_in, needs_login, remember, token
from services.storefront.translation import gettext as _
from shared.addresses import PARTS
from shared.errors import Conflict, Forbidden, Invalid, TooManyRequests

account = Blueprint("account", __name__, url_prefix="/account")


@account.get("")
@needs_login
def show() -> str:
    return _page()


@account.post("")
@needs_login
def save() -> str | BaseResponse:
    form = forms.Form(forms.PROFILE).read(request.form)
    if form.is_valid:
        try:
            services().users.change(token(), {"name": form.values["name"]})
            if current := logged_in():
                remember(replace(current, name=form.values["name"]))
            flash(_("Saved."), "good")
            return redirect(url_for("account.show"))
        except Invalid as error:
            form.add_errors(error)
    return _page(profile=form)


@account.get("/addresses")
@account.get("/addresses/<address_id>")
@account.get("/erase")
def back_to_account(address_id: str = "") -> BaseResponse:
    """The addresses that forms go to, opened as pages: an address bar keeps them after an answer to a form."""
    return redirect(url_for("account.show", form=request.args.get("form")))


@account.post("/addresses")
@needs_login
def add_address() -> str | BaseResponse:
    if "update" in request.form:
        return _in_country(url_for("account.add_address"))
    form = address_forms.read(delivery_form(request.form), request.form)
    if form.is_valid:
        body = {**address_forms.parts_of(form.values), "default": bool(form.values.get("default"))}
        try:
            services().users.add_address(token(), body, forms.key(request.form))
            flash(_("Address added."), "good")
            return redirect(url_for("account.show") + "#addresses")
        except Invalid as error:
            form.add_errors(error)
    return _page(address=form)


@account.post("/addresses/<address_id>")
@needs_login
def change_address(address_id: str) -> BaseResponse:
    """One of four buttons: another country's form, make it the default, save its parts, take it away."""
    if "update" in request.form:
        return _in_country(url_for("account.change_address", address_id=address_id))
    try:
        if "remove" in request.form:
            services().users.drop_address(token(), address_id)
        elif "default" in request.form:
            services().users.change_address(token(), address_id, {"default": True})
        else:
            services().users.change_address(token(), address_id, _changes())
        flash(_("Saved."), "good")
    except (Conflict, Invalid) as error:
        flash(forms.error_text(error), "bad")
    return redirect(url_for("account.show") + "#addresses")


def _changes() -> dict[str, str]:
    """What a changed address is now: its parts, those left empty too."""
    if address_forms.is_text(request.form):
        return address_forms.parts_of(request.form)
    return {name: request.form.get(name, "")[:200] for name in ("name", *PARTS)}


def _in_country(action: str) -> BaseResponse:
    """The account again with the form of the country that was chosen; nothing is saved."""
    typed = save_values(action, request.form)
    return redirect(with_saved(url_for("account.show"), typed) + "#addresses", 303)


@account.get("/export")
@needs_login
def export() -> Response:
    answer = services().users.export(token())
    headers = {"Content-Disposition": 'attachment; filename="my-aisle-data.json"'}
    return Response(answer.body, mimetype="application/json", headers=headers)


@account.post("/erase")
@needs_login
def erase() -> str | BaseResponse:
    form = forms.Form(forms.ERASE).read(request.form)
    if form.is_valid:
        try:
            services().users.erase(token(), form.values["password"])
            leave()
            flash(_("Your account is erased. Thank you for having been here."), "good")
            return redirect(url_for("shop.home"))
        except Forbidden:
            form.errors["password"] = [_("This is not your password.")]
        except (Conflict, TooManyRequests) as error:
            form.general = forms.error_text(error)
    return _page(erase=form)


def _page(
    profile: forms.Form | None = None, address: forms.Form | None = None, erase: forms.Form | None = None
) -> str:
    me = services().users.me(token())
    shown = forms.Form(forms.PROFILE, {"name": me["name"]})
    return render_template(
        "account.html",
        me=me,
        profile=profile or restore(shown, url_for("account.save")),
        address=address or _address_form({}, url_for("account.add_address"), default=True),
        erase=erase or forms.Form(forms.ERASE),
        changed=[_change_form(each) for each in me["addresses"]],
    )


def _change_form(address: dict[str, str]) -> forms.Form:
    return _address_form(address, url_for("account.change_address", address_id=address["id"]), default=False)


def _address_form(known: dict[str, str], action: str, *, default: bool) -> forms.Form:
    """With what is known of an address, or what was typed into its form before."""
    typed = restored(action)
    updated(typed)
    form = delivery_form(typed or known, default=default)
    form.values |= {name: known[name] for name in ("name", *PARTS) if known.get(name)}
    return form.restore(typed) if typed else form
