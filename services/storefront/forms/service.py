"""The desk's forms for orders, people and their money."""

from services.storefront.forms.base import Field
from services.storefront.forms.customer import EMAIL

DISPATCH = (Field("courier", "Courier", max_length=60), Field("courierid", "Tracking number", max_length=100))


STAFF = (
    EMAIL,
    Field(
        "role",
        "Role",
        "select",
        options=(("staff", "Staff"), ("admin", "Admin"), ("customer", "Customer, no desk")),
    ),
)


CUSTOMER_GROUP = (
    EMAIL,
    Field(
        "group",
        "Customer group",
        required=False,
        max_length=40,
        help="Such as trade: small letters, digits, - and _. Empty: the prices that everybody pays.",
    ),
)


CLOSURE = (
    EMAIL,
    Field("reason", "Why", required=False, max_length=300),
    Field(
        "password",
        "Your own password",
        "password",
        required=False,
        autocomplete="current-password",
        help="Needed to close the account of staff.",
    ),
)


GIFT_CARD = (
    Field("amount", "Amount", inputmode="decimal", max_length=20),
    Field("currency", "Currency", max_length=3, min_length=3, help="Such as GBP."),
    Field("note", "Why it is issued", max_length=300, required=False, help="For the people of the shop."),
    Field(
        "email",
        "E-mail of the recipient",
        "email",
        required=False,
        max_length=254,
        help="Gets the code. Without one, write it down: it is shown once.",
    ),
    Field("name", "Name of the recipient", required=False),
    Field("message", "Message to the recipient", "textarea", required=False, max_length=1000),
)


CORRECTION = (
    Field("amount", "Balance from now on", inputmode="decimal", max_length=20, help="0 blocks the card."),
    Field("note", "Why", max_length=300),
)


STORE_CREDIT = (
    Field("amount", "Amount", inputmode="decimal", max_length=20),
    Field("currency", "Currency", max_length=3, min_length=3, help="Such as GBP."),
    Field("reason", "Why", max_length=300),
)


NOTE = (Field("text", "Note", "textarea", max_length=2000, help="Customers do not see it."),)


RETURN_REFUSAL = (Field("reason", "Why", max_length=500, help="The customer reads it."),)


REFUND = (
    Field("amount", "Amount", inputmode="decimal", max_length=20),
    Field("reason", "Why", max_length=300),
)
