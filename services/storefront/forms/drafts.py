"""The desk's form for a draft order, beside its lines and its address."""

from services.storefront.forms.base import Field
from services.storefront.translation import gettext_noop as _

DRAFT = (
    Field(
        "email",
        _("E-mail of the customer"),
        "email",
        required=False,
        max_length=254,
        help=_("With it an account is found; everybody else orders as a guest."),
    ),
    Field("codes", _("Codes"), required=False, help=_("With commas between them.")),
    Field("gift_code", _("Code of a gift card"), required=False, max_length=300),
    Field(
        "off",
        _("Off the whole order"),
        required=False,
        max_length=20,
        help=_("Such as 10 % or 5.00."),
    ),
    Field("off_reason", _("Why"), required=False, help=_("The customer reads it.")),
    Field(
        "note",
        _("Note"),
        "textarea",
        required=False,
        max_length=2000,
        help=_("Customers do not see it."),
    ),
)
