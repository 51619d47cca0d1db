"""The basket: a guest's lives in the cookie, a customer's with the users service."""

import secrets

from flask import Blueprint, flash, redirect, render_template, request, session, url_for
from werkzeug import Response as BaseResponse

from services.storefront import forms
from services.storefront.actions.basket import MAX_QUANTITY, priced, quantities_of, with_guest_item
from services.storefront.pages.codes import discounts_of, typed_codes
from services.storefront.pages.context import dependencies, enhanced, services
from services.storefront.pages.currency import chosen_currency
from services.storefront.pages.language import goods_language
from services.storefront.pages.saved_forms import restored
from services.storefront.pages.visitor import (
    basket_count,
    customer_group,
    guest_basket,
    logged_in,
    own_path,
    token,
)
from services.storefront.rules import terms
from services.storefront.translation import gettext as _
from shared.errors import AisleError, Conflict, Invalid, NotFound
from shared.money import Money, money
from shared.types import Json

basket = Blueprint("basket", __name__)


class NotSoldInCurrency(Invalid):
    code, title = "not_sold_in_currency", "The product has no price in this currency"


class VariantNeeded(Invalid):
    code, title = "variant_needed", "A product is sold by variant"


@basket.get("/basket")
def show() -> str:
    found = priced(services().products, wanted(), chosen_currency(), customer_group(), goods_language())
    session["count"] = found.count
    typed = {line.key: restored(_action(line.key)).get("quantity") for line in found.lines}
    methods = dependencies().shipping_methods.get()
    delivery = {part.currency: terms.offers(methods, part.currency) for part in found.parts}
    discounts = {
        part.currency: discounts_of(part.items, typed_codes(), part.currency)
        for part in found.parts
        if part.buyable
    }
    return render_template(
        "basket.html",
        basket=found,
        typed=typed,
        delivery=delivery,
        discounts=discounts,
        without_delivery=_without_delivery,
        codes=typed_codes(),
    )


@basket.post("/basket")
def add() -> str | BaseResponse:
    """Puts something in, on top of what is in already."""
    productid = request.form["productid"]
    try:
        quantity = forms.quantity(request.form.get("quantity", "1"), min=1, max=MAX_QUANTITY)
        before = wanted().get(productid, 0)
        if before + quantity > MAX_QUANTITY:
            raise Invalid(
                _(
                    "%(count)s of it are in your basket already, and %(max)s are the most it holds.",
                    count=before,
                    max=MAX_QUANTITY,
                )
            )
        set_quantity(productid, before + quantity)
    except (Conflict, Invalid) as error:
        if enhanced():
            raise
        return _refused(error, _back(url_for("shop.product", productid=productid)))
    session["count"] = basket_count() + quantity
    if enhanced():
        return render_template("parts/added.html", name=request.form.get("name", "")[:200])
    flash(_("Added to your basket."), "good")
    return redirect(_back(url_for("basket.show")))


@basket.get("/basket/<productid>")
def back_to_basket(productid: str) -> BaseResponse:
    """Where a line's quantity is sent, opened as a page."""
    return redirect(url_for("basket.show", form=request.args.get("form")))


@basket.post("/basket/<productid>")
def change(productid: str) -> BaseResponse:
    """Sets a line's quantity; 0, or the button "Remove", takes it out."""
    try:
        sent = "0" if "remove" in request.form else request.form.get("quantity", "")
        set_quantity(productid, forms.quantity(sent, min=0, max=MAX_QUANTITY))
    except (Conflict, Invalid) as error:
        return _refused(error, url_for("basket.show"))
    return redirect(url_for("basket.show"))


def wanted() -> dict[str, int]:
    """Quantities by SKU, or productid of what has no variants."""
    if logged_in() is None:
        return guest_basket()
    return quantities_of(services().users.me(token()))


def basket_id() -> str:
    """What stands for a guest's basket until it is bought."""
    if "basket_id" not in session:
        session["basket_id"] = secrets.token_urlsafe(9)
    return str(session["basket_id"])


def set_quantity(productid: str, quantity: int) -> None:
    """Sets a line; 0 takes it out. Raises NotFound, VariantNeeded, Conflict (the basket is full)."""
    if logged_in() is None:
        before = guest_basket()
        if quantity and productid not in before:
            _check_for_sale(productid)
        session["basket"] = with_guest_item(before, productid, quantity)
        session.permanent = True
        basket_id()
    elif quantity:
        services().users.put_in_basket(token(), productid, quantity, chosen_currency())
    else:
        services().users.take_from_basket(token(), productid)


def _check_for_sale(productid: str) -> None:
    found = services().products.lookup([productid], chosen_currency())["found"]
    if found and found[0].get("sku", productid) is None:
        raise VariantNeeded(_("Choose a variant."))
    if found and (currency := found[0].get("not_sold_in")):
        raise NotSoldInCurrency(
            _("This is not sold in %(currency)s: choose another currency to buy it.", currency=currency)
        )
    if not found or not found[0].get("for_sale", True):
        raise NotFound(_("There is no such product."))


def _without_delivery(quote: Json) -> Money:
    """What the goods of a quote cost, less discounts."""
    off = sum(discount["amount"]["amount"] for discount in quote["discounts"])
    return money(quote["goods"]["amount"] - off, quote["goods"]["currency"])


def _action(productid: str) -> str:
    return url_for("basket.change", productid=productid)


def _back(otherwise: str) -> str:
    return own_path(request.form.get("back", ""), otherwise)


def _refused(error: AisleError, page: str) -> BaseResponse:
    flash(forms.error_text(error), "bad")
    return redirect(page, 303)
