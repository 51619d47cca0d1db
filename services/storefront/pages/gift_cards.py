"""What is left: on a gift card, for whoever has its code, and of one's own store credit."""

from flask import Blueprint, render_template, request

from services.storefront import forms
from services.storefront.pages.context import services
from services.storefront.pages.visitor import logged_in, token
from services.storefront.rules.messages import message
from shared.errors import Invalid, TooManyRequests
from shared.types import Json

gift_cards = Blueprint("gift_cards", __name__, url_prefix="/gift-cards")


@gift_cards.get("")
def show() -> str:
    return _page(forms.Form(forms.GIFT_CARD_CODE))


@gift_cards.post("")
def balance() -> str:
    form = forms.Form(forms.GIFT_CARD_CODE).read(request.form)
    if not form.is_valid:
        return _page(form)
    try:
        return _page(
            form, services().orders.gift_card_balance(form.values["code"], request.remote_addr or "")
        )
    except Invalid as error:
        form.errors["code"] = [message(error)]
    except TooManyRequests as error:
        form.general = message(error)
    return _page(form)


def _page(form: forms.Form, card: Json | None = None) -> str:
    store_credit = services().orders.store_credit(token()) if logged_in() else []
    return render_template("gift_cards.html", form=form, card=card, store_credit=store_credit)
