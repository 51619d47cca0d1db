"""Checkout: where to, how to pay, one button. The form holds the whole order and the basket's revision: it buys once."""

import re
import secrets
from collections.abc import Mapping
from typing import Any

import orjson
from flask import Blueprint, flash, redirect, render_template, request, url_for
from werkzeug import Response as BaseResponse

from services.storefront import address_forms, forms
from services.storefront.actions import basket as baskets
from services.storefront.actions.checkout import AlreadyOrdered, Purchase, revision_of
from services.storefront.clients import ANONYMOUS, without_empty
from services.storefront.pages.basket import basket_id, set_quantity, wanted
from services.storefront.pages.codes import keep_codes, split, typed_codes
from services.storefront.pages.context import dependencies, services
from services.storefront.pages.currency import chosen_currency
from services.storefront.pages.delivery import delivery_form, quoted
from services.storefront.pages.language import goods_language
from services.storefront.pages.payment import (
    allow_forms_to,
    end_payment,
    lead_to_payment,
    take_out_of_basket,
)
from services.storefront.pages.saved_forms import restored, save_values, updated, with_saved
from services.storefront.pages.visitor import customer_group, guest_basket, logged_in, token
from services.storefront.rules import credits, messages
from services.storefront.rules.payments import SANDBOX_CARDS, form_targets, payment_page
from services.storefront.translation import gettext as _
from services.storefront.translation import gettext_noop
from shared.addresses import parts_of_text
from shared.errors import AisleError, BadRequest, Conflict, Invalid, NotFound, Unavailable

checkout = Blueprint("checkout", __name__)

CHANGED = gettext_noop(
    "Your basket was changed in another window meanwhile. Nothing was ordered: this is what is in it now."
)
CREDITS_CHANGED = gettext_noop("Nothing was ordered yet: look at what is left to pay now, and order.")
PROVIDERS_AWAY = ("payment_provider_unavailable", "carrier_unavailable", "tax_unavailable")
_KEY = re.compile(r"[A-Za-z0-9_-]{8,64}")


@checkout.get("/checkout")
def show() -> str | BaseResponse:
    typed = _typed()
    form = delivery_form(typed)
    if typed:
        form.restore(typed)
    chosen = typed.get("address_id") or ("new" if typed.get("line1") else "")
    return _page(
        form,
        chosen=chosen,
        card="" if typed else None,
        saves_method=typed.get("save_method", ""),
        shipping=typed.get("shipping", ""),
        codes=typed.get("codes"),
        typed=typed,
    )


@checkout.post("/checkout")
def place() -> str | BaseResponse:
    form = delivery_form(request.form)
    keep_codes(request.form.get("codes", ""))
    key, revision = _sent_key("key"), _sent_key("revision")
    bought = dependencies().checkouts.purchase(revision)
    if bought is not None:
        return _order_of(bought) if bought.form == key else _already_ordered(bought.orderid)
    items = _sent_items()
    if not _are_available(items):
        return _back_to_form(_(CHANGED))
    if credits.chosen(request.form) != credits.shown(_sent_order()):
        return _back_to_form(_(CREDITS_CHANGED), "warn")
    try:
        body = _order(form)
        order = dependencies().checkouts.place(
            _token(), body, revision, key, request.remote_addr or "", end_payment
        )
    except AlreadyOrdered as error:
        return _already_ordered(error.orderid, paid=error.paid)
    except Invalid as error:
        form.add_errors(error)
        is_of_delivery = error.code == "shipping_not_available"
        return _page(form, messages.message(error) if is_of_delivery else form.general)
    except AisleError as error:
        if error.status not in (402, 409) and error.code not in PROVIDERS_AWAY:
            raise
        return _back_to_form(messages.message(error, _names(items)))
    if order["payment_page"]:
        return lead_to_payment(order, revision, key)
    take_out_of_basket(order)
    keep_codes("")
    flash(_("Thank you! Your order is placed."), "good")
    return redirect(url_for("orders.show", orderid=order["orderid"]))


@checkout.post("/checkout/update")
def update() -> BaseResponse:
    """The checkout again for the country, the address, the shipping and the codes that are chosen now; nothing is ordered."""
    keep_codes(request.form.get("codes", ""))
    typed = save_values(url_for("checkout.place"), request.form)
    page = url_for("checkout.show", **without_empty(currency=request.form.get("currency")))
    return redirect(with_saved(page, typed), 303)


@checkout.post("/checkout/again")
def again() -> BaseResponse:
    """The same things once more, by the buyer's own wish: they are put into the basket, and nothing is ordered yet."""
    present = wanted()
    try:
        for productid, quantity in _sent_items().items():
            set_quantity(productid, max(quantity, present.get(productid, 0)))
    except (Conflict, Invalid, NotFound) as error:
        flash(forms.error_text(error), "bad")
        return redirect(url_for("basket.show"))
    typed = save_values(url_for("checkout.place"), request.form)
    return redirect(with_saved(url_for("checkout.show"), typed), 303)


def _back_to_form(problem: str, kind: str = "bad") -> BaseResponse:
    """The checkout again, with what was typed and what was wrong; a page of its own, so that the back button leads to it."""
    flash(problem, kind)
    typed = save_values(url_for("checkout.place"), request.form)
    page = url_for("checkout.show", **without_empty(currency=request.form.get("currency")))
    return redirect(with_saved(page, typed), 303)


def _names(items: dict[str, int]) -> dict[str, str]:
    found = baskets.priced(services().products, items, chosen_currency(), customer_group(), goods_language())
    return {line.key: line.name for line in found.lines}


def _order_of(bought: Purchase) -> BaseResponse:
    """The form was sent twice, by a double click or a reload."""
    flash(_("Your order is placed. It was sent twice and ordered once."), "good")
    return redirect(url_for("orders.show", orderid=bought.orderid))


def _already_ordered(orderid: str, *, paid: bool = True) -> str:
    hidden = [
        (name, value)
        for name, value in request.form.items()
        if name not in ("_csrf", "key", "card", "revision")
    ]
    return render_template("already_ordered.html", orderid=orderid, paid=paid, hidden=hidden)


def _typed() -> dict[str, str]:
    """What was typed before; the text of a form of the last version as the parts of an address."""
    typed = restored(url_for("checkout.place"))
    updated(typed)
    return typed | parts_of_text(typed["address"]) if address_forms.is_text(typed) else typed


def _token() -> str:
    return token() if logged_in() else ANONYMOUS


def _sent_key(name: str) -> str:
    sent = request.form.get(name, "")
    if not _KEY.fullmatch(sent):
        raise BadRequest(_("Load the checkout page again."))
    return sent


def _sent_order() -> dict[str, Any]:
    """The order as the page showed it: items and the total."""
    try:
        body = orjson.loads(request.form["order"])
        orjson.dumps(body)  # which takes less deep nesting than `loads` does
    except (orjson.JSONDecodeError, orjson.JSONEncodeError):
        body = None
    if not isinstance(body, dict):
        raise BadRequest(_("Load the checkout page again."))
    return body


def _sent_items() -> dict[str, int]:
    """Quantities by product, as the page showed them."""
    try:
        found = {item["productid"]: item["quantity"] for item in _sent_order()["items"]}
    except (KeyError, TypeError):
        found = {}
    if (
        not found
        or not all(isinstance(each, str) for each in found)
        or not all(type(n) is int for n in found.values())
    ):
        raise BadRequest(_("Load the checkout page again."))
    return found


def _are_available(items: dict[str, int]) -> bool:
    """Whether the basket still holds what the page showed; it may hold more."""
    present = wanted()
    return all(present.get(productid) == quantity for productid, quantity in items.items())


def _order(form: forms.Form) -> dict[str, Any]:
    """What was bought, as the page showed it. Raises Invalid for an address that is not complete."""
    body = _sent_order()
    body["payment"] = _payment()
    if recipient := credits.recipient(request.form):
        body["gift_recipient"] = recipient
    if shipping := request.form.get("shipping", ""):
        body["shipping"] = shipping
    if codes := split(request.form.get("codes", "")):
        body["codes"] = codes
    chosen = request.form.get("address_id", "new")
    if logged_in() and chosen != "new":
        return body | {"address_id": chosen}
    address_forms.read(form, request.form)
    if not form.is_valid:
        raise Invalid(_("The address is not complete."), errors={})
    address = address_forms.parts_of(form.values)
    if logged_in():
        return body | {"address_id": _saved_or_added(address, default=bool(form.values.get("default")))}
    whole = address["address"] if "line1" not in address else address
    return body | {"email": form.values["email"], "name": form.values["name"], "address": whole}


def _payment() -> dict[str, Any]:
    """A test card, a saved one, or nothing but the provider whose page is paid on."""
    provider = dependencies().settings.pays_with
    page = payment_page(provider)
    if page is None:
        return {"provider": provider, **without_empty(token=request.form.get("card", ""))}
    may_keep = page.keeps_methods and logged_in() is not None
    if may_keep and (saved := request.form.get("saved_method", "")):
        return {"provider": provider, "saved_method": saved}
    keep = may_keep and "save_method" in request.form
    return {"provider": provider} | ({"save_method": True} if keep else {})


def _saved_methods(provider: str) -> list[dict[str, Any]] | None:
    """The customer's cards at the provider; None while it does not answer."""
    page = payment_page(provider)
    if page is None or not page.keeps_methods:
        return []
    try:
        return [each for each in services().orders.payment_methods(token()) if each["provider"] == provider]
    except Unavailable:
        return None


def _saved_or_added(address: dict[str, str], *, default: bool) -> str:
    """The id of the account's address that is this one, or of the new one that it becomes."""
    if known := _known_address(address, services().users.addresses(token())):
        return known
    return str(services().users.add_address(token(), {**address, "default": default})["id"])


def _known_address(address: dict[str, str], addresses: list[dict[str, Any]]) -> str:
    """The id under which an address was saved before, for instance by an attempt that failed; "" when it was not."""
    known = (
        each for each in addresses if address and all(each[name] == value for name, value in address.items())
    )
    return str(next((each["id"] for each in known), ""))


def _page(
    form: forms.Form,
    problem: str = "",
    chosen: str | None = None,
    card: str | None = None,
    saves_method: str | None = None,
    shipping: str | None = None,
    codes: str | None = None,
    typed: Mapping[str, str] | None = None,
) -> str | BaseResponse:
    paid_with = request.form if typed is None else typed
    me = services().users.me(token()) if logged_in() else None
    lines = baskets.quantities_of(me) if me else guest_basket()
    shop_currency = chosen_currency()
    if not shop_currency and (asked := request.values.get("currency", "")):
        lines = baskets.priced(services().products, lines).quantities(asked)
    currency = shop_currency or request.values.get("currency", "")
    items = [{"productid": productid, "quantity": quantity} for productid, quantity in lines.items()]
    if not items:
        flash(_("Your basket is empty."), "warn")
        return redirect(url_for("basket.show"))
    chosen = request.form.get("address_id", "") if chosen is None else chosen
    if (
        me
        and chosen == "new"
        and (known := _known_address(address_forms.parts_of(form.values), me["addresses"]))
    ):
        chosen = known
        form.values = {"country": form.values["country"]}
    shipping = request.form.get("shipping", "") if shipping is None else shipping
    codes = typed_codes() if codes is None else codes
    try:
        found = quoted(
            items, form, me, chosen, shipping, shop_currency, split(codes), credits.chosen(paid_with)
        )
    except (Conflict, Invalid, Unavailable) as error:
        if error.status >= 500 and error.code not in PROVIDERS_AWAY:
            raise
        flash(forms.error_text(error), "bad")
        return redirect(url_for("basket.show"))
    settings = dependencies().settings
    allow_forms_to(form_targets(settings.pays_with, settings.payment_page_origins))
    basket = me["basket_revision"] if me else basket_id()
    return render_template(
        "checkout.html",
        me=me,
        quote=found.quote,
        form=form,
        problem=problem or found.problem or credits.problem(paid_with, found.quote),
        codes=codes,
        code_problem=found.code_problem,
        recipient=paid_with,
        gift_code=paid_with.get("gift_code", ""),
        store_credit=paid_with.get("store_credit", ""),
        cards=SANDBOX_CARDS,
        saved_methods=_saved_methods(settings.pays_with) if me else [],
        saved_method=paid_with.get("saved_method", ""),
        payment_page=payment_page(settings.pays_with),
        saves_method=request.form.get("save_method", "") if saves_method is None else saves_method,
        key=secrets.token_urlsafe(18),
        order=orjson.dumps(
            {
                "items": items,
                "expected_total": found.quote["total"],
                **without_empty(currency=shop_currency, language=goods_language()),
                **credits.guarded(paid_with, found.quote),
            }
        ).decode(),
        currency=currency,
        revision=revision_of(basket, lines),
        chosen=chosen,
        card=request.form.get("card", SANDBOX_CARDS[0].token) if card is None else card,
    )
