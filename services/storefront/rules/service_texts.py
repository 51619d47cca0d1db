"""Sentences that services write for people, in the language of the page.

What has a stable code is put into words by it (see `messages`); here is what has none of its own: what is wrong with a field,
names of sums, titles. A sentence that is not here is shown as its service wrote it.
"""

import re
from functools import lru_cache
from typing import Final

from services.storefront.rules import desk_service_texts
from services.storefront.translation import gettext
from services.storefront.translation import gettext_noop as _

TEXTS: Final = (
    # titles
    _("Too many requests"),
    _("Not found"),
    _("Not Found"),
    _("Not allowed"),
    _("Method Not Allowed"),
    _("Bad Request"),
    _("Request Entity Too Large"),
    _("The request cannot be read"),
    _("This form is out of date"),
    _("E-mail or password is wrong, or the e-mail is not verified"),
    _("No such thing here"),
    _("Not possible in the present state"),
    _("Too large"),
    _("Some fields are wrong"),
    _("Not available just now"),
    _("Something went wrong here"),
    _("No such product"),
    _("There is no such order"),
    _("No such address"),
    _("No such category"),
    _("It is not on the wish list"),
    _("The wish list is full"),
    _("The basket is full"),
    _("The product has no price in this currency"),
    _("A product is sold by variant"),
    _("Choose a variant"),
    _("The order is not in a state that allows this"),
    _("This payment provider is not connected"),
    _("An Idempotency-Key is needed"),
    _("This Idempotency-Key was used for another request"),
    _("The first request with this key is still being answered"),
    _("The cursor is not good for this list"),
    _("This link is wrong, used or expired"),
    _("Others are changing this order just now; try again"),
    _("The database node that was asked has not got all of this order yet; try again."),
    _("The payment was declined"),
    _("Log in first"),
    _("It has changed since you read it"),
    _("You have already ordered this"),
    # what a list lacks where the database has no search engine, or that does not answer
    _("forgive typos"),
    _("filter, count or sort more than %(number)s matches"),
    _("filter or sort this list while the search engine does not answer"),
    # accounts
    _("Check both, or ask for a new password."),
    _("Ask for a new link."),
    _("Log in, or ask for a new password."),
    _("Log-ins cannot be checked just now; try again shortly."),
    _("Too many people are logging in just now; try again in a few seconds."),
    _("Too many tries. Try again in %(seconds)s seconds."),
    _("This is not an e-mail address."),
    _("Write it like name@example.com."),
    _("This e-mail is being registered just now; try again in a moment."),
    _("Another registration of this address is under way; try again in a moment."),
    _("This address is confirmed already: log in, or ask for a new password."),
    _("This is not the password of the registration that this link belongs to."),
    _("This link belongs to a registration in another browser: its password is needed."),
    _("This link belongs to an e-mail address that the account has left."),
    _("This link is too old: ask for the e-mail again on the product's page."),
    _("This link moves an account to another address: that account's password is needed."),
    _("This is no link of ours."),
    _("The password was changed since; ask for a new link."),
    _("This password is too easy to guess."),
    _("It is your name or e-mail. Choose another: three or four words that do not belong together are good."),
    _(
        "It is among the passwords that are used, and tried, most. Choose another: three or four words that do not belong together are good."
    ),
    _(
        "It repeats a few characters or counts them up. Choose another: three or four words that do not belong together are good."
    ),
    _("This account is closed."),
    _("Make another address the default instead."),
    _("One address is always the default."),
    _("Remove one of your %(count)s addresses first."),
    _("A wish list holds at most %(count)s products."),
    _("A basket holds at most %(count)s products."),
    _("The basket changes too quickly; try again."),
    _("It can be bought now."),
    _("It is not sold in %(currency)s."),
    _("The shop does not sell it (any more)."),
    # fields
    _("Must not be empty."),
    _("Must be %(min)s to %(max)s characters long."),
    _("Control characters are not accepted."),
    _("Control characters other than line ends are not accepted."),
    _("Not a phone number."),
    _("Two capital letters, as in ISO 3166-1: GB."),
    # addresses
    _("The address is not complete."),
    _("Street and number is missing."),
    _("City is missing."),
    _("Postcode is missing."),
    _("ZIP code is missing."),
    _("PIN code is missing."),
    _("Eircode is missing."),
    _("State is missing."),
    _("County is missing."),
    _("Island is missing."),
    _("Prefecture is missing."),
    _("Emirate is missing."),
    _("Department is missing."),
    _("Area is missing."),
    _("Parish is missing."),
    _("Oblast is missing."),
    _("District is missing."),
    _("Suburb is missing."),
    _("Province is missing."),
    _("Town or city is missing."),
    _("This is no %(postcode)s of the country. It looks like %(example)s."),
    _("This is no %(postcode)s of the country."),
    _("%(region)s: choose one of the country's."),
    _("ZIP code"),
    _("PIN code"),
    _("Eircode"),
    _("State"),
    _("County"),
    _("Island"),
    _("Prefecture"),
    _("Emirate"),
    _("Department"),
    _("Area"),
    _("Parish"),
    _("Oblast"),
    _("District"),
    _("Suburb"),
    _("Province"),
    _("Postcode"),
    _("Town or city"),
    # orders
    _("We do not deliver there."),
    _("Nothing that we have takes this order to %(place)s."),
    _("There is %(methods)s for this order."),
    _("Log in to pay with store credit."),
    _("There is no gift card with this code. Look at it again, please."),
    _("Nothing is left on gift card %(name)s."),
    _("Nothing is left on store credit."),
    _("%(code)s: It needs goods worth %(amount)s or more."),
    _("%(code)s: It needs more goods."),
    _("No payment arrived in time."),
    _("The bank did not send the money."),
    _("The customer went back without paying."),
    _("The bank declined the payment; try another way to pay."),
    _("This card is not saved any more. Choose another."),
    _("PayPal declined the payment."),
    _("The order was cancelled."),
    _("It was paid after the order had ended."),
    _("Return %(number)s"),
    _("Store credit"),
    _("Goods sent back"),
    _("Exchange"),
    _("Discount of the first order"),
    _("Gift card"),
    _("Gift card ending %(end)s"),
    _("A gift card of this order has been used: it cannot be cancelled any more."),
    _("The order is being cancelled."),
    _("The order is being handed to the courier; return it when it arrives."),
    _("More cannot come back than was bought."),
    _("%(count)s of %(name)s can still be returned."),
    _("These goods cannot be sent instead."),
    _("%(name)s is not for sale."),
    _("%(name)s is sold by variant: name one of its SKUs."),
    _("A gift card cannot be sent instead."),
    _("Choose another variant of the same product."),
    _("More cannot be exchanged than comes back."),
    _("What has cost nothing cannot be exchanged."),
    _("The payment was not made."),
    _("Goods were cancelled."),
    _("Parcels %(numbers)s are on their way."),
    _("%(count)s of %(name)s can be %(verb)s."),
    _("More cannot be %(verb)s than is left."),
    _("Choose one of: %(choices)s."),
    _("This order is not paid."),
    # accounts, addresses
    _("%(part)s is missing."),
    _("The address is missing."),
    _("Give the country: GB, DE, US ..."),
    _("Add an address first."),
    _("It may have been removed."),
    _("It may have been moved already."),
    _("Remove one of your %(count)s payment methods first."),
    _("Another account uses this e-mail."),
    _("This e-mail is just being released; try again."),
    _("The preferences change too quickly; try again."),
    _("The session changes too quickly; try again."),
    _("Log in again."),
    _("This looks like a card number; keep only the provider's reference."),
    _("Never send us card numbers: the payment provider keeps them."),
)
_VARIABLE: Final = re.compile(r"%\((\w+)\)s")
_BETWEEN_SENTENCES: Final = re.compile(r"(?<=[.!?]) ")
ALL_TEXTS: Final = (*TEXTS, *desk_service_texts.TEXTS)
_FIXED: Final = frozenset(text for text in ALL_TEXTS if not _VARIABLE.search(text))


def service_text(text: str) -> str:
    """A sentence of a service, or several, in the active language; what it names besides (codes, amounts) stays as it is."""
    return " ".join(_sentence(each) for each in _sentences(text))


def is_known(text: str) -> bool:
    """Whether each sentence of it is one of these."""
    return all(each in _FIXED or _template_of(each) is not None for each in _sentences(text))


def _sentence(text: str) -> str:
    known = None if text in _FIXED else _template_of(text)
    return gettext(known[0], **known[1]) if known else gettext(text)


def _sentences(text: str) -> list[str]:
    """The whole where it is known, else its sentences."""
    return [text] if text in _FIXED or _template_of(text) else _BETWEEN_SENTENCES.split(text)


@lru_cache(2048)
def _template_of(text: str) -> tuple[str, dict[str, str]] | None:
    """The sentence that this one is made of, and its variables; None for one without any."""
    for template, pattern in _patterns():
        if found := pattern.fullmatch(text):
            return template, found.groupdict()
    return None


@lru_cache(1)
def _patterns() -> list[tuple[str, re.Pattern[str]]]:
    """Those with the most words of their own first, so that one with few does not take what is another's."""
    found = [text for text in ALL_TEXTS if _VARIABLE.search(text)]
    found.sort(key=lambda text: -len(_VARIABLE.sub("", text)))
    return [(text, re.compile(_pattern(text))) for text in found]


def _pattern(template: str) -> str:
    """A variable is a part of one sentence."""
    parts = _VARIABLE.split(template)
    fixed, names = parts[::2], [*parts[1::2], ""]
    return "".join(
        re.escape(each) + (f"(?P<{name}>(?:(?![.!?] ).)+)" if name else "")
        for each, name in zip(fixed, names, strict=True)
    )
