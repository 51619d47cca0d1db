"""Gift cards at the desk: issued, looked at, corrected; and the store credit of a customer."""

from flask import flash, redirect, render_template, request, url_for
from werkzeug import Response as BaseResponse

from services.storefront import forms
from services.storefront.clients import without_empty
from services.storefront.pages.context import services
from services.storefront.pages.desk import desk
from services.storefront.pages.desk.orders import add_errors
from services.storefront.pages.language import shown_languages
from services.storefront.pages.saved_forms import restore
from services.storefront.pages.visitor import token
from services.storefront.rules import prices
from services.storefront.rules.wording import credit_reason
from services.storefront.translation import gettext as _
from shared.errors import Conflict, Invalid
from shared.types import Json


@desk.get("/gift-cards")
def gift_cards() -> str:
    return _list(restore(_form(), url_for("desk.issue_gift_card")))


@desk.post("/gift-cards")
def issue_gift_card() -> str:
    """The answer itself shows the code: it is stored nowhere, so there is no page to be led to."""
    form = _form().read(request.form)
    if form.is_valid:
        try:
            card = services().orders.issue_gift_card(token(), _content(form), forms.key(request.form))
            return _list(_form(), issued=card)
        except (Conflict, Invalid) as error:
            add_errors(form, error)
    return _list(form)


@desk.get("/gift-cards/<id>")
def gift_card(id: str) -> str:
    return _one(id, restore(forms.Form(forms.CORRECTION), url_for("desk.correct_gift_card", id=id)))


@desk.post("/gift-cards/<id>")
def correct_gift_card(id: str) -> str | BaseResponse:
    form = forms.Form(forms.CORRECTION).read(request.form)
    if form.is_valid:
        try:
            currency = services().orders.gift_card(token(), id)["balance"]["currency"]
            balance = prices.parse(form.values["amount"], currency, "amount")["amount"]
            body = {"balance": balance, "note": form.values["note"]}
            services().orders.correct_gift_card(token(), id, body, forms.key(request.form))
            flash(_("Saved."), "good")
            return redirect(url_for("desk.gift_card", id=id))
        except (Conflict, Invalid) as error:
            add_errors(form, error)
    return _one(id, form)


@desk.get("/store-credit/<userid>")
def store_credit(userid: str) -> str:
    form = restore(forms.Form(forms.STORE_CREDIT), url_for("desk.grant_store_credit", userid=userid))
    return _store_credit(userid, form)


@desk.post("/store-credit/<userid>")
def grant_store_credit(userid: str) -> str | BaseResponse:
    form = forms.Form(forms.STORE_CREDIT).read(request.form)
    if form.is_valid:
        try:
            amount = prices.parse(form.values["amount"], form.values["currency"].upper(), "amount")
            body = {"amount": amount, "reason": form.values["reason"]}
            services().orders.grant_store_credit(token(), userid, body, forms.key(request.form))
            flash(_("Granted."), "good")
            return redirect(url_for("desk.store_credit", userid=userid))
        except (Conflict, Invalid) as error:
            add_errors(form, error)
    return _store_credit(userid, form)


def _form() -> forms.Form:
    return forms.Form(forms.gift_card(shown_languages()))


def _content(form: forms.Form) -> Json:
    """What the form asks for. Raises Invalid for an amount that cannot be read."""
    values = form.values
    return {
        "value": prices.parse(values["amount"], values["currency"].upper(), "amount"),
        "note": values["note"],
        **without_empty(
            email=values["email"],
            name=values["name"],
            message=values["message"],
            language=values.get("language", ""),
        ),
    }


def _list(form: forms.Form, issued: Json | None = None) -> str:
    cursor = request.args.get("cursor", "")
    found = services().orders.gift_cards(token(), cursor)
    return render_template(
        "desk/gift_cards.html",
        cards=found["items"],
        next=found["next"],
        later=bool(cursor),
        form=form,
        issued=issued,
    )


def _one(id: str, form: forms.Form) -> str:
    return render_template(
        "desk/gift_card.html",
        card=services().orders.gift_card(token(), id),
        form=form,
        id=id,
        credit_reason=credit_reason,
    )


def _store_credit(userid: str, form: forms.Form) -> str:
    items = services().orders.customers_store_credit(token(), userid)
    return render_template(
        "desk/store_credit.html", items=items, form=form, userid=userid, credit_reason=credit_reason
    )
