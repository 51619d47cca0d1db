"""What holds for the whole shop, at the desk: where it is, gift cards, how returns are dealt with, with its earlier versions."""

from flask import flash, redirect, render_template, request
from werkzeug import Response as BaseResponse

from services.storefront import forms
from services.storefront.pages.context import dependencies, services
from services.storefront.pages.desk import desk
from services.storefront.pages.desk.pictures import take_picture
from services.storefront.pages.saved_forms import restore
from services.storefront.pages.visitor import token
from services.storefront.rules import terms
from services.storefront.rules.messages import message
from services.storefront.rules.pictures import KEPT
from services.storefront.translation import gettext as _
from shared.errors import Conflict, Invalid, PreconditionFailed

PATH = "/admin/settings"


@desk.get("/settings")
def shop_settings() -> str:
    """The settings as they are; before the first are saved, only the country is known here."""
    saved, etag = services().orders.shop_settings(token())
    country = dependencies().shipping_methods.get()["country"]
    values = terms.shop_values(saved) if saved else {"country": country}
    return _page(restore(forms.Form(forms.SHOP, values), PATH), etag)


@desk.post("/settings")
def save_shop_settings() -> str | BaseResponse:
    etag = request.form.get("etag", "")
    form = forms.Form(forms.SHOP).read(request.form)
    if logo := take_picture(form, "logo_file"):
        form.values["logo"] = logo.removeprefix(KEPT)
    if form.is_valid:
        orders = services().orders
        try:
            saved, _etag = orders.shop_settings(token())
            orders.save_shop_settings(token(), (saved or {}) | terms.shop_body(form.values), etag)
            flash(_("Saved. It holds in every part of the shop now."), "good")
            return redirect(PATH)
        except Invalid as error:
            form.add_errors(error)
        except (Conflict, PreconditionFailed) as error:
            form.general = message(error)
    return _page(form, etag)


def _page(form: forms.Form, etag: str) -> str:
    versions = services().orders.shop_versions(token()) if etag else []
    return render_template("desk/settings.html", form=form, etag=etag, versions=versions)
