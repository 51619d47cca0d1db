"""The desk's forms for orders, people and their money."""

from collections.abc import Mapping

from services.storefront.forms.base import Field
from services.storefront.forms.customer import EMAIL
from services.storefront.translation import gettext_noop as _

DISPATCH = (
    Field("courier", _("Courier"), max_length=60),
    Field("courierid", _("Tracking number"), max_length=100),
    Field(
        "tracking_url",
        _("Tracking link"),
        "url",
        required=False,
        max_length=1000,
        help=_("Where the customer can see how far the parcel is."),
    ),
)


STAFF = (
    EMAIL,
    Field(
        "role",
        _("Role"),
        "select",
        options=(("staff", _("Staff")), ("admin", _("Admin")), ("customer", _("Customer, no desk"))),
    ),
)


CUSTOMER_GROUP = (
    EMAIL,
    Field(
        "group",
        _("Customer group"),
        required=False,
        max_length=40,
        help=_("Such as trade: small letters, digits, - and _. Empty: the prices that everybody pays."),
    ),
)


GROUP = CUSTOMER_GROUP[1:]
"""Of the customer whose page it is."""


CUSTOMER_ERASURE = (
    Field("password", _("Your own password"), "password", autocomplete="current-password", max_length=200),
)


CUSTOMER_IMPORT = (
    Field(
        "format",
        _("What the file is"),
        "select",
        options=(
            ("csv", _("CSV, as this shop exports it")),
            ("ndjson", _("NDJSON: one customer as JSON on each line")),
            ("shopify", _("Shopify's customer export (CSV)")),
        ),
    ),
)


CLOSURE = (
    EMAIL,
    Field("reason", _("Why"), required=False, max_length=300),
    Field(
        "password",
        _("Your own password"),
        "password",
        required=False,
        autocomplete="current-password",
        help=_("Needed to close the account of staff."),
    ),
)


GIFT_CARD = (
    Field("amount", _("Amount"), inputmode="decimal", max_length=20),
    Field("currency", _("Currency"), max_length=3, min_length=3, help=_("Such as GBP.")),
    Field(
        "note", _("Why it is issued"), max_length=300, required=False, help=_("For the people of the shop.")
    ),
    Field(
        "email",
        _("E-mail of the recipient"),
        "email",
        required=False,
        max_length=254,
        help=_("Gets the code. Without one, write it down: it is shown once."),
    ),
    Field("name", _("Name of the recipient"), required=False),
    Field("message", _("Message to the recipient"), "textarea", required=False, max_length=1000),
)


def gift_card(languages: Mapping[str, str]) -> tuple[Field, ...]:
    """Of a shop with several languages (their names by code) the one of the e-mail is chosen too."""
    if len(languages) < 2:
        return GIFT_CARD
    options = tuple(languages.items())
    return (
        *GIFT_CARD,
        Field("language", _("Language of the e-mail"), "select", required=False, options=options),
    )


CASH_UP = (
    Field("stall", _("Stall"), max_length=60),
    Field("sold_by", _("Whose till"), "select"),
    Field("currency", _("Currency"), max_length=3, min_length=3, help=_("Such as GBP.")),
    Field("opening", _("In the till in the morning"), inputmode="decimal", max_length=20, required=False),
    Field(
        "paid_out",
        _("Taken out during the day"),
        inputmode="decimal",
        max_length=20,
        required=False,
        help=_("Refunds in cash, purchases, what was brought to the bank."),
    ),
    Field("counted", _("Counted"), inputmode="decimal", max_length=20),
    Field("note", _("Note"), max_length=500, required=False),
)

CORRECTION = (
    Field(
        "amount", _("Balance from now on"), inputmode="decimal", max_length=20, help=_("0 blocks the card.")
    ),
    Field("note", _("Why"), max_length=300),
)


STORE_CREDIT = (
    Field("amount", _("Amount"), inputmode="decimal", max_length=20),
    Field("currency", _("Currency"), max_length=3, min_length=3, help=_("Such as GBP.")),
    Field("reason", _("Why"), max_length=300),
)


NOTE = (Field("text", _("Note"), "textarea", max_length=2000, help=_("Customers do not see it.")),)


GIFT_RECIPIENT = (
    Field("email", _("E-mail of the recipient"), "email", max_length=254),
    Field("name", _("Name of the recipient"), required=False),
)


RETURN_REFUSAL = (Field("reason", _("Why"), max_length=500, help=_("The customer reads it.")),)


REFUND = (
    Field("amount", _("Amount"), inputmode="decimal", max_length=20),
    Field("reason", _("Why"), max_length=300),
)
