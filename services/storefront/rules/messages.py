"""Errors in customers' words: products by their names, money as people write it, services never.

Errors are known by their stable `code`; what has no words of its own here keeps the sentence its service wrote for people.
"""

from collections.abc import Callable, Mapping

from services.storefront.rules import prices
from shared.errors import AisleError

Names = Mapping[str, str]

UNAVAILABLE = "This part of the shop does not answer just now. Please try again in a moment."

_SENTENCES = {
    "attempt_closed": "This attempt to order was given up, and nothing was charged. Please order again.",
    "idempotency_key_reused": "This form was sent before, with something else in it. Load the page again, please.",
    "idempotency_key_required": "Load the page again, please.",
    "code_used_up": "This code has been used as often as it could be. Take it out, and order without it.",
    "code_taken": "Another promotion that still runs has this code: end that one first.",
    "mixed_currencies": "An order holds one currency only. Check out each part of your basket by itself, please.",
    "unknown_address": "This address is not in your account any more: choose another one.",
    "variant_needed": "This comes in several variants: choose one on its page.",
    "unknown_product": "Something in your basket is no longer for sale. Please take it out.",
    "no_such_product": "There is no such product in the shop (any more).",
    "no_such_order": "You have no such order.",
    "product_exists": "There is a product with this id already: choose another one.",
    "precondition_failed": "This was changed since you opened it.",
    "no_such_category": "There is no such department.",
    "not_a_buyer": "Reviews are written by customers who bought this. You can write one once your order is paid.",
    "already_reviewed": "You have reviewed this already, and each customer reviews a product once. Thank you!",
    "order_busy": "This order is being changed just now. Please try again.",
    "transition_not_allowed": "The order has moved on since this page was shown, and this is not possible any more.",
    "balance_spent": "Somebody has spent the gift card or store credit meanwhile. Nothing was charged: look at what is left to pay, and order again.",
    "payment_declined": "Your bank declined the payment, and nothing was charged. Try another card, please.",
    "payment_provider_unavailable": "The payment provider does not answer just now, and nothing was charged. Try again in a moment, please.",
    "payment_closed": "The bank does not hold the money of this order any more. Cancel it, and ask the customer to order again.",
    "provider_not_connected": "This way of paying is not offered at the moment. Choose another one, please.",
    "refund_too_large": "This is more than what is left to pay back.",
    "bad_token": "This link was used before, is too old or is not whole.",
    "bad_cursor": "This page of the list is not there any more. Start again at the first one, please.",
}


def message(error: AisleError, names: Names | None = None) -> str:
    """What went wrong and what to do about it. `names`: products by id, as far as the page knows them."""
    if error.status >= 500:
        return UNAVAILABLE
    if known := _DETAILED.get(error.code):
        return known(error, names or {})
    if sentence := _SENTENCES.get(error.code):
        return sentence
    fields = [text for messages in getattr(error, "errors", {}).values() for text in messages]
    return " ".join(fields) or error.detail


def sentence(code: str) -> str:
    """What a reason that is known by its code means."""
    return _SENTENCES.get(code, "This is not possible just now.")


def _out_of_stock(error: AisleError, names: Names) -> str:
    """Each product that there is too little of, by name."""
    short = [
        _left(names.get(each.get("sku") or each["productid"], ""), each["available"])
        for each in error.extra.get("items", ())
    ]
    return (
        " ".join([*short, "Please take fewer; nothing was charged."])
        if short
        else (
            "There is not enough of something in your basket any more. Please look at it again; nothing was charged."
        )
    )


def _left(name: str, available: int) -> str:
    subject = f"“{name}”" if name else "Something in your basket"
    return f"{subject} is sold out." if available <= 0 else f"Of {subject}, only {available} can be had."


def _price_changed(error: AisleError, names: Names) -> str:
    if "expected_to_pay" in error.extra:
        return (
            f"What is left on your gift card or store credit has changed: {prices.shown(error.extra['to_pay'])} are left to pay now, "
            f"not {prices.shown(error.extra['expected_to_pay'])}. Nothing was charged; order again if you agree."
        )
    total, expected = error.extra.get("total"), error.extra.get("expected_total")
    if not (total and expected):
        return "A price has changed. Nothing was charged: look at the new total and order again."
    return (
        f"A price has changed: the total is {prices.shown(total)} now, not {prices.shown(expected)}. "
        "Nothing was charged; order again if you agree."
    )


_CODES = {
    "unknown": "There is no code {code}: look whether it is typed rightly.",
    "not_yet": "{code} is not valid yet.",
    "expired": "{code} is not valid any more.",
    "not_for_you": "{code} is for certain customers only: log in if you are one of them.",
    "first_order_only": "{code} is for the first order of an account: log in or register, and use it then.",
    "not_these_products": "{code} does not apply to what is in your basket.",
    "other_currency": "{code} does not hold in this currency.",
    "not_combinable": "{code} cannot be combined with the other discounts of this order.",
    "per_customer": "You have used {code} as often as a customer can.",
}


def _code_not_valid(error: AisleError, names: Names) -> str:
    """With the code that it is; a reason without words here keeps the service's own sentence, such as how much is missing."""
    sentence = _CODES.get(str(error.extra.get("reason", "")))
    return sentence.format(code=error.detail.partition(":")[0]) if sentence else error.detail


_DETAILED: dict[str, Callable[[AisleError, Names], str]] = {
    "out_of_stock": _out_of_stock,
    "price_changed": _price_changed,
    "code_not_valid": _code_not_valid,
}
