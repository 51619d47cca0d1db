"""What the desk calls the e-mails about an order, and those about an account."""

import re
from typing import Final

from services.storefront.translation import gettext
from services.storefront.translation import gettext_noop as _

_NAMES: Final = (
    (re.compile("payment-link"), _("Link to the payment")),
    (re.compile("payment"), _("Confirmation of the order")),
    (re.compile("payment_failed"), _("The payment failed")),
    (re.compile(r"dispatch\d*"), _("The parcel has left")),
    (re.compile(r"delivery\d*"), _("The parcel has arrived")),
    (re.compile("cancellation"), _("The order was cancelled")),
    (re.compile("cancel.*"), _("Goods were cancelled")),
    (re.compile("gift-cards"), _("Gift cards")),
    (re.compile(".*decision"), _("Decision about a return")),
    (re.compile(".*ended"), _("End of a return")),
    (re.compile("refund-.*"), _("Money was paid back")),
    (re.compile("return.*"), _("A return was requested")),
)


ACCOUNT_EMAILS: Final = {
    "verification": _("Confirm the e-mail address"),
    "new-password": _("Set a new password"),
    "change-of-email": _("Confirm the new e-mail address"),
    "password-changed": _("The password was changed"),
    "move-requested": _("Another e-mail address was asked for"),
    "account-exists": _("There is an account already"),
    "stock-alert-question": _("Write when it is in stock again?"),
    "stock-alert": _("It is in stock again"),
}
"""By their kind, of accounts."""


def account_email_name(kind: str) -> str:
    return gettext(ACCOUNT_EMAILS[kind]) if kind in ACCOUNT_EMAILS else kind


def kind_name(kind: str) -> str:
    """Of an e-mail by its kind, which is shown as it is where it has no name."""
    return next((gettext(name) for pattern, name in _NAMES if pattern.fullmatch(kind)), kind)
