"""The forms of a customer: account, review, gift card."""

from services.storefront.forms.base import Field
from services.storefront.translation import gettext_noop as _

EMAIL = Field("email", _("E-mail"), "email", autocomplete="email", max_length=254)


NEW_PASSWORD = Field(
    "password",
    _("Password"),
    "password",
    autocomplete="new-password",
    min_length=8,
    max_length=128,
    help=_("8 characters or more; not a common password, and not your name or e-mail."),
)


REGISTER = (Field("name", _("Your name"), autocomplete="name", max_length=100), EMAIL, NEW_PASSWORD)


LOGIN = (EMAIL, Field("password", _("Password"), "password", autocomplete="current-password", max_length=128))


ASK_RESET = (EMAIL,)


RESET = (NEW_PASSWORD,)


CONFIRM = (
    Field(
        "password",
        _("The password you chose when you registered"),
        "password",
        autocomplete="current-password",
        max_length=200,
    ),
)


CONFIRM_NEW = (
    Field(
        "new_password",
        _("A password of your own"),
        "password",
        autocomplete="new-password",
        min_length=8,
        max_length=128,
        help=NEW_PASSWORD.help,
    ),
)


PROFILE = (Field("name", _("Your name"), autocomplete="name", max_length=100),)


ERASE = (Field("password", _("Your password"), "password", autocomplete="current-password", max_length=200),)


REVIEW = (
    Field(
        "stars",
        _("Your rating"),
        "select",
        options=(
            ("", _("Choose one")),
            ("5", _("5 of 5")),
            ("4", _("4 of 5")),
            ("3", _("3 of 5")),
            ("2", _("2 of 5")),
            ("1", _("1 of 5")),
        ),
    ),
    Field("title", _("In a few words"), required=False, max_length=100),
    Field("text", _("What should others know?"), "textarea", required=False, max_length=2000),
)


GIFT_CARD_CODE = (Field("code", _("Code of the gift card"), autocomplete="off", max_length=60),)
