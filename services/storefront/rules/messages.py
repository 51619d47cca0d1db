"""Errors in customers' words: products by their names, money as people write it, services never.

Errors are known by their stable `code`; what has no words of its own here keeps the sentence its service wrote for people.
"""

from collections.abc import Callable, Mapping

from services.storefront.rules import prices
from services.storefront.rules.service_texts import service_text
from services.storefront.translation import gettext
from services.storefront.translation import gettext_noop as _
from shared.errors import AisleError

Names = Mapping[str, str]

UNAVAILABLE = _("This part of the shop does not answer just now. Please try again in a moment.")

_SENTENCES = {
    "search_unavailable": _(
        "Search does not answer just now. The departments are open: find your way from the front of the shop."
    ),
    "search_overloaded": _(
        "Too many people search just now. Try again in a moment; the departments are open, from the front of the shop."
    ),
    "attempt_closed": _("This attempt to order was given up, and nothing was charged. Please order again."),
    "idempotency_key_reused": _(
        "This form was sent before, with something else in it. Load the page again, please."
    ),
    "idempotency_key_required": _("Load the page again, please."),
    "code_used_up": _("This code has been used as often as it could be. Take it out, and order without it."),
    "code_taken": _("Another promotion that still runs has this code: end that one first."),
    "mixed_currencies": _(
        "An order holds one currency only. Check out each part of your basket by itself, please."
    ),
    "unknown_address": _("This address is not in your account any more: choose another one."),
    "variant_needed": _("This comes in several variants: choose one on its page."),
    "unknown_product": _("Something in your basket is no longer for sale. Please take it out."),
    "no_such_product": _("There is no such product in the shop (any more)."),
    "no_such_order": _("You have no such order."),
    "order_archived": _(
        "This order is years old, and its documents are in the shop's archive. Ask us if you need something of it."
    ),
    "not_issued": _(
        "No invoice was written before this order was archived. The shop can bring the order back and write it."
    ),
    "product_exists": _("There is a product with this id already: choose another one."),
    "precondition_failed": _("This was changed since you opened it."),
    "no_such_category": _("There is no such department."),
    "not_a_buyer": _(
        "Reviews are written by customers who bought this. You can write one once your order is paid."
    ),
    "already_reviewed": _(
        "You have reviewed this already, and each customer reviews a product once. Thank you!"
    ),
    "paid_by_hand": _(
        "This order was paid by hand, so its goods are not exchanged: pay them back, and place another order."
    ),
    "exchange_not_payable": _(
        "This costs more than what comes back, and the difference cannot be paid here. Choose something that costs no more."
    ),
    "order_busy": _("This order is being changed just now. Please try again."),
    "transition_not_allowed": _(
        "The order has moved on since this page was shown, and this is not possible any more."
    ),
    "balance_spent": _(
        "Somebody has spent the gift card or store credit meanwhile. Nothing was charged: look at what is left to pay, and order again."
    ),
    "payment_declined": _(
        "Your bank declined the payment, and nothing was charged. Try another card, please."
    ),
    "payment_provider_unavailable": _(
        "The payment provider does not answer just now, and nothing was charged. Try again in a moment, please."
    ),
    "carrier_unavailable": _(
        "The carrier does not tell its price just now, and nothing was charged. Try again in a moment, please."
    ),
    "shipping_not_available": _(
        "The delivery method that you had chosen is not offered for this order at this address: look at the one that is chosen now."
    ),
    "tax_unavailable": _(
        "The tax of your order cannot be worked out just now, and nothing was charged. Try again in a moment, please."
    ),
    "tax_location_invalid": _(
        "The tax of this address cannot be worked out. Check the postcode and the region, please."
    ),
    "payment_closed": _(
        "The bank does not hold the money of this order any more. Cancel it, and ask the customer to order again."
    ),
    "provider_not_connected": _(
        "This way of paying is not offered at the moment. Choose another one, please."
    ),
    "no_such_return": _("There is no such return of this order."),
    "return_too_late": _(
        "The time for sending this back is over. Write to us if something is wrong with it."
    ),
    "return_ended": _("This return was received or refused already."),
    "return_not_approved": _("This return has to be approved first."),
    "customs_incomplete": _(
        "This parcel crosses a customs border, and its goods are declared. What is missing for that is below."
    ),
    "refund_too_large": _("This is more than what is left to pay back."),
    "bad_token": _("This link was used before, is too old or is not whole."),
    "bad_cursor": _("This page of the list is not there any more. Start again at the first one, please."),
}


def message(error: AisleError, names: Names | None = None) -> str:
    """What went wrong and what to do about it. `names`: products by id, as far as the page knows them."""
    if error.status >= 500:
        return gettext(_SENTENCES.get(error.code, UNAVAILABLE))
    if known := _DETAILED.get(error.code):
        return known(error, names or {})
    if known_sentence := _SENTENCES.get(error.code):
        return gettext(known_sentence)
    fields = [text for messages in getattr(error, "errors", {}).values() for text in messages]
    return " ".join(map(service_text, fields)) or service_text(error.detail)


def sentence(code: str) -> str:
    """What a reason that is known by its code means."""
    return gettext(_SENTENCES.get(code, _("This is not possible just now.")))


def _out_of_stock(error: AisleError, names: Names) -> str:
    """Each product that there is too little of, by name."""
    short = [
        _left(names.get(each.get("sku") or each["productid"], ""), each["available"])
        for each in error.extra.get("items", ())
    ]
    return (
        " ".join([*short, gettext("Please take fewer; nothing was charged.")])
        if short
        else (
            gettext(
                "There is not enough of something in your basket any more. Please look at it again; nothing was charged."
            )
        )
    )


def _left(name: str, available: int) -> str:
    if not name:
        return (
            gettext("Something in your basket is sold out.")
            if available <= 0
            else gettext("Of something in your basket, only %(count)s can be had.", count=available)
        )
    if available <= 0:
        return gettext("“%(name)s” is sold out.", name=name)
    return gettext("Of “%(name)s”, only %(count)s can be had.", name=name, count=available)


def _price_changed(error: AisleError, names: Names) -> str:
    if "expected_to_pay" in error.extra:
        return gettext(
            "What is left on your gift card or store credit has changed: %(now)s are left to pay now, not %(before)s. "
            "Nothing was charged; order again if you agree.",
            now=prices.shown(error.extra["to_pay"]),
            before=prices.shown(error.extra["expected_to_pay"]),
        )
    total, expected = error.extra.get("total"), error.extra.get("expected_total")
    if not (total and expected):
        return gettext("A price has changed. Nothing was charged: look at the new total and order again.")
    return gettext(
        "A price has changed: the total is %(now)s now, not %(before)s. Nothing was charged; order again if you agree.",
        now=prices.shown(total),
        before=prices.shown(expected),
    )


_CODES = {
    "unknown": _("There is no code %(code)s: look whether it is typed rightly."),
    "not_yet": _("%(code)s is not valid yet."),
    "expired": _("%(code)s is not valid any more."),
    "not_for_you": _("%(code)s is for certain customers only: log in if you are one of them."),
    "first_order_only": _(
        "%(code)s is for the first order of an account: log in or register, and use it then."
    ),
    "not_first_order": _("%(code)s is for the first order of an account, and yours has ordered before."),
    "not_these_products": _("%(code)s does not apply to what is in your basket."),
    "other_currency": _("%(code)s does not hold in this currency."),
    "not_combinable": _("%(code)s cannot be combined with the other discounts of this order."),
    "per_customer": _("You have used %(code)s as often as a customer can."),
}


def _code_not_valid(error: AisleError, names: Names) -> str:
    """With the code that it is; a reason without words here keeps the service's own sentence, such as how much is missing."""
    sentence = _CODES.get(str(error.extra.get("reason", "")))
    return gettext(sentence, code=error.detail.partition(":")[0]) if sentence else service_text(error.detail)


def _declined(error: AisleError, names: Names) -> str:
    if error.extra.get("decline_code") == "card_not_saved":
        return gettext(_("This card is not saved any more. Choose another."))
    if error.extra.get("decline_code") == "authentication_required":
        return gettext(
            _(
                "Your bank wants you to confirm this payment, and nothing was charged. Choose “Another way to pay”."
            )
        )
    return sentence("payment_declined")


_DETAILED: dict[str, Callable[[AisleError, Names], str]] = {
    "out_of_stock": _out_of_stock,
    "price_changed": _price_changed,
    "code_not_valid": _code_not_valid,
    "payment_declined": _declined,
}
