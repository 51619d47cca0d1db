"""The forms of a customer: account, review, gift card."""

from services.storefront.forms.base import Field

EMAIL = Field("email", "E-mail", "email", autocomplete="email", max_length=254)


NEW_PASSWORD = Field(
    "password",
    "Password",
    "password",
    autocomplete="new-password",
    min_length=8,
    max_length=128,
    help="8 characters or more; not a common password, and not your name or e-mail.",
)


REGISTER = (Field("name", "Your name", autocomplete="name", max_length=100), EMAIL, NEW_PASSWORD)


LOGIN = (EMAIL, Field("password", "Password", "password", autocomplete="current-password", max_length=128))


ASK_RESET = (EMAIL,)


RESET = (NEW_PASSWORD,)


CONFIRM = (
    Field(
        "password",
        "The password you chose when you registered",
        "password",
        autocomplete="current-password",
        max_length=200,
    ),
)


CONFIRM_NEW = (
    Field(
        "new_password",
        "A password of your own",
        "password",
        autocomplete="new-password",
        min_length=8,
        max_length=128,
        help=NEW_PASSWORD.help,
    ),
)


PROFILE = (Field("name", "Your name", autocomplete="name", max_length=100),)


ERASE = (Field("password", "Your password", "password", autocomplete="current-password", max_length=200),)


REVIEW = (
    Field(
        "stars",
        "Your rating",
        "select",
        options=(("", "Choose one"), *((str(number), f"{number} of 5") for number in (5, 4, 3, 2, 1))),
    ),
    Field("title", "In a few words", required=False, max_length=100),
    Field("text", "What should others know?", "textarea", required=False, max_length=2000),
)


GIFT_CARD_CODE = (Field("code", "Code of the gift card", autocomplete="off", max_length=60),)
