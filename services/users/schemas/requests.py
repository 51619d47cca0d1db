"""What requests may carry: fields of the declared documents, and what no document holds as it is sent."""

from typing import Any, Final

import marshmallow as ma

from services.users.declarations.kept import KEPT_CATEGORY_FIELDS
from services.users.documents import (
    ADDRESS_FIELDS,
    BASKET_ITEM_FIELDS,
    PAYMENT_METHOD_FIELDS,
    PREFERENCE_FIELDS,
    USER_FIELDS,
)
from services.users.rules.accounts import MAX_BASKET_ITEMS
from services.users.rules.addresses import NEW_ADDRESS_FIELDS, loaded_address
from shared.errors import Invalid
from shared.fields import Declaration, Secret, Text
from shared.language_codes import LANGUAGE
from shared.money import CURRENCIES
from shared.web import PageArgs, Shape, request_schema
from shared.web import fields as web
from shared.web.audit import AUDIT_MOMENT

NEW_PASSWORD: Final = Secret(
    8, 200, description="8 to 200 characters; not a common one, not the name or e-mail"
)
REGISTRATION_SECRET: Final = Text(
    16,
    100,
    pattern="[A-Za-z0-9_-]+",
    default="",
    description="a secret of the browser that registers; confirms there without the password",
)
TOKEN: Final = Text(1, 300)

_REGISTRATION = USER_FIELDS.select("name", "email").plus(password=NEW_PASSWORD)
_EMAIL = USER_FIELDS.select("email")
_VERIFICATION = Declaration(
    {
        "token": TOKEN,
        "password": Secret(0, 200, default=None, description="the one chosen at registration"),
        "new_password": Secret(8, 200, default=None, description=NEW_PASSWORD.description),
        "registration": Text(
            16,
            100,
            pattern=REGISTRATION_SECRET.pattern,
            default=None,
            description=REGISTRATION_SECRET.description,
        ),
    }
)


def _verification(data: Any) -> dict[str, Any]:
    """A token, and at most one proof."""
    content = {name: value for name, value in _VERIFICATION.load(data).items() if value is not None}
    if len(content) > 2:
        raise Invalid(
            errors={"password": ["Send one of password, new_password and registration."]},
        )
    return content


Registration = request_schema("Registration", _REGISTRATION)
RegistrationRequest = request_schema(
    "RegistrationRequest", _REGISTRATION.plus(registration=REGISTRATION_SECRET)
)
Verification = request_schema("Verification", _VERIFICATION, _verification)
EmailAddress = request_schema("EmailAddress", _EMAIL)
Resend = request_schema("Resend", _EMAIL.plus(registration=REGISTRATION_SECRET))
StockAlert = request_schema(
    "StockAlertRequest",
    Declaration(
        {
            "sku": Text(1, 64, description="a productid, or the SKU of a variant"),
            "email": Text(0, 254, default="", normalize=False, description="the account's own when left out"),
        }
    ),
)
StockAlertToken = request_schema("StockAlertToken", Declaration({"token": Text(1, 400, normalize=False)}))
Login = request_schema(
    "Login",
    _EMAIL.plus(
        password=Secret(1, 200),
        device_token=Secret(
            0,
            300,
            default="",
            description="of an earlier log-in: guesses made elsewhere do not keep this device out",
        ),
    ),
)
RefreshToken = request_schema("RefreshToken", Declaration({"refresh_token": Text(1, 1000)}))
NewPassword = request_schema("NewPassword", Declaration({"token": TOKEN, "password": NEW_PASSWORD}))
MeChange = request_schema(
    "MeChange",
    USER_FIELDS.select("name", "email").plus(
        password=NEW_PASSWORD,
        current_password=Secret(1, 200, description="needed for e-mail and password"),
    ),
    partial=True,
)
Address = request_schema("NewAddress", NEW_ADDRESS_FIELDS, loaded_address)
AddressChange = request_schema("AddressChange", ADDRESS_FIELDS, partial=True)
PreferencesChange = request_schema("PreferencesChange", PREFERENCE_FIELDS, partial=True)
PaymentMethod = request_schema("NewPaymentMethod", PAYMENT_METHOD_FIELDS)
Quantity = request_schema("Quantity", BASKET_ITEM_FIELDS.select("quantity"))
GuestBasketItem = request_schema("GuestBasketItem", BASKET_ITEM_FIELDS)
Erasure = request_schema(
    "Erasure",
    Declaration({"current_password": Secret(1, 200, description="checked when sent; ask for it in pages")}),
    partial=True,
)

_OWN_PASSWORD = Secret(
    1,
    200,
    default=None,
    description="the asking admin's own; needed when the account is one of the staff's",
)
Reauthentication = request_schema("Reauthentication", Declaration({"password": _OWN_PASSWORD}))
Closure = request_schema("Closure", Declaration({"password": _OWN_PASSWORD, "reason": Text(1, 500)}))
Group = request_schema("Group", USER_FIELDS.select("group"))
Roles = request_schema("Roles", USER_FIELDS.select("roles"))
NewStaff = request_schema("NewStaff", USER_FIELDS.select("roles", "email"))


_CURRENCY = ma.fields.String(
    load_default=None,
    validate=ma.validate.OneOf(sorted(CURRENCIES)),
    metadata={"description": "prices are answered in; the shop's own when left out"},
)


_LANGUAGE = ma.fields.String(
    load_default="",
    validate=ma.validate.Regexp(f"^(|{LANGUAGE})$"),
    metadata={"description": "products are named in; the shop's own when left out"},
)


class CheckoutArgs(Shape):
    """`?address_id=...`, the address that is chosen."""

    class Meta:
        unknown = ma.EXCLUDE

    address_id = ma.fields.String(load_default="", validate=ma.validate.Length(max=100))


class CurrencyArgs(Shape):
    """`?currency=EUR&language=de`."""

    class Meta:
        unknown = ma.EXCLUDE

    currency = _CURRENCY
    language = _LANGUAGE


KeptCategory = request_schema("KeptCategoryContent", KEPT_CATEGORY_FIELDS)


class WishArgs(PageArgs):
    """A page of the wish list, priced in a currency."""

    currency = _CURRENCY
    language = _LANGUAGE


class GuestBasket(Shape):
    items = ma.fields.List(
        ma.fields.Nested(GuestBasketItem), required=True, validate=ma.validate.Length(max=MAX_BASKET_ITEMS)
    )


class Bought(Shape):
    productids = ma.fields.List(
        web.Text(1, 100), required=True, validate=ma.validate.Length(max=MAX_BASKET_ITEMS)
    )
    date = web.Time(required=True)
    quantities = ma.fields.Dict(
        keys=ma.fields.String(),
        values=web.StrictInteger(1),
        load_default=dict,
        metadata={
            "description": "how many of each were bought: of an item that is more by now the rest stays"
        },
    )


class LogoutArgs(Shape):
    class Meta:
        unknown = ma.EXCLUDE

    everywhere = ma.fields.Boolean(
        load_default=False, metadata={"description": "end all sessions, not only this one"}
    )


class SessionArgs(Shape):
    class Meta:
        unknown = ma.EXCLUDE

    userid = web.Text(1, 64, required=True)
    started = ma.fields.Integer(
        required=True,
        validate=ma.validate.Range(0, 2**53),
        metadata={"description": "milliseconds since 1970"},
    )


class AuditArgs(PageArgs):
    month = ma.fields.String(
        load_default=None,
        validate=ma.validate.Regexp(r"^20\d\d-(0[1-9]|1[0-2])$"),
        metadata={"description": "2026-11"},
    )
    start = ma.fields.String(data_key="from", load_default=None, validate=ma.validate.Regexp(AUDIT_MOMENT))
    end = ma.fields.String(data_key="to", load_default=None, validate=ma.validate.Regexp(AUDIT_MOMENT))
    actor = web.Text(0, 64, load_default="", metadata={"description": "a userid"})
    subject = web.Text(
        0, 200, load_default="", metadata={"description": "an id: of an order, a product, an account"}
    )
    service = ma.fields.String(
        load_default=None,
        validate=ma.validate.OneOf(("users", "products", "orders")),
        metadata={"description": "what was done in this one alone; all when left out"},
    )
