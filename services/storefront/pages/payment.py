"""The way to the provider's payment page and back. The browser may come back twice, much later, or never: the order is asked."""

from flask import Blueprint, flash, g, redirect, render_template, request, session, url_for
from werkzeug import Response as BaseResponse

from services.storefront.actions import basket as baskets
from services.storefront.pages.codes import keep_codes
from services.storefront.pages.context import dependencies, services
from services.storefront.pages.saved_forms import save_values, with_saved
from services.storefront.pages.visitor import (
    basket_count,
    guest_basket,
    logged_in,
    remember_order,
    requester_of,
    token,
)
from services.storefront.rules.service_texts import service_text
from services.storefront.rules.variants import line_key
from services.storefront.translation import gettext as _
from shared.errors import AisleError
from shared.types import Json

payment = Blueprint("payment", __name__, url_prefix="/checkout")

MAX_KEPT = 3


def lead_to_payment(order: Json, revision: str, form: str) -> BaseResponse:
    """To the provider's page. What was typed is kept for a customer who comes back without having paid."""
    if "guest_token" in order:
        remember_order(order["orderid"], order["guest_token"])
    typed = save_values(url_for("checkout.place"), request.form)
    kept = {**_kept(), order["orderid"]: [typed, revision, form]}
    session["payments"] = dict(list(kept.items())[-MAX_KEPT:])
    return redirect(order["payment_page"]["url"], 303)


def end_payment(orderid: str) -> bool:
    """Ends the payment page of an order of this visitor's; whether it was not paid."""
    try:
        order = services().orders.end_payment(requester_of(orderid), orderid)
    except AisleError as error:
        if error.status >= 500:
            raise
        return False
    return bool(order["status"] == "cancelled" and not order["payment"])


@payment.get("/paid/<orderid>")
def returned(orderid: str) -> str | BaseResponse:
    """The customer comes from the provider's page; whether it is paid, the provider says."""
    if not _is_known(orderid):
        return render_template("payment_returned.html")
    return _after(services().orders.refresh_payment(requester_of(orderid), orderid))


@payment.get("/cancelled/<orderid>")
def cancelled(orderid: str) -> str | BaseResponse:
    """The customer went back without paying: the goods are free again, basket and address as they were."""
    if not _is_known(orderid):
        return redirect(url_for("basket.show"))
    return _after(services().orders.end_payment(requester_of(orderid), orderid))


def take_out_of_basket(order: Json) -> None:
    """What was bought leaves the basket, what came in meanwhile stays; a guest's browser keeps the order's token."""
    bought = {line_key(item): item["quantity"] for item in order["items"]}
    session["count"] = max(0, basket_count() - sum(bought.values()))
    buyer = logged_in()
    if buyer is None:
        session["basket"] = baskets.without_bought(guest_basket(), bought)
        session.pop("basket_id", None)
    elif "guest_token" in order:
        baskets.take_bought_as_guest(services().users, token(), bought)
    else:
        baskets.remove_ordered(services().users, buyer.userid, bought, order["date"])
    if "guest_token" in order:
        remember_order(order["orderid"], order["guest_token"])


def allow_forms_to(origins: tuple[str, ...]) -> None:
    """Lets the forms of this page lead to other sites: browsers refuse a redirect that the policy does not name."""
    g.form_targets = origins


def _is_known(orderid: str) -> bool:
    return logged_in() is not None or orderid in session.get("orders", {})


def _after(order: Json) -> BaseResponse:
    page = redirect(url_for("orders.show", orderid=order["orderid"]))
    if order["payment"] or order["payment_processing"]:
        _settle(order)
        _say_thanks(order)
        return page
    if order["status"] != "cancelled":
        why = service_text((order["payment_page"] or {}).get("problem", ""))
        flash(" ".join([why, _("This order is not paid yet.")]).strip(), "warn")
        return page
    why = service_text(order["cancellation"]["detail"])
    flash(" ".join([_("Nothing was charged and nothing was ordered."), why]).strip(), "warn")
    kept, target = _forget(order["orderid"]), url_for("checkout.show")
    return redirect(with_saved(target, kept[0]) if kept else target)


def _settle(order: Json) -> None:
    """Once, in the browser that ordered."""
    if kept := _forget(order["orderid"]):
        take_out_of_basket(order)
        keep_codes("")
        _, revision, form = kept
        dependencies().checkouts.note(revision, order["orderid"], form)


def _say_thanks(order: Json) -> None:
    if order["status"] == "cancelled" and order["cancellation"]["reason"] == "balance_spent":
        flash(
            _(
                "Your gift card or store credit was spent on another order before you paid: you get back what you paid."
            ),
            "bad",
        )
    elif order["status"] == "cancelled":
        flash(_("What you bought was sold out by the time you paid: you get all of it back."), "bad")
    elif order["payment"]:
        flash(_("Thank you! Your order is placed."), "good")
    else:
        flash(_("Thank you! Your payment is on its way: we write to you as soon as it has arrived."), "good")


def _kept() -> dict[str, list[str]]:
    """By order: the id of what was typed, the basket's revision, the form's key."""
    return dict(session.get("payments", {}))


def _forget(orderid: str) -> list[str] | None:
    kept = _kept()
    found = kept.pop(orderid, None)
    if found is not None:
        session["payments"] = kept
    return found
