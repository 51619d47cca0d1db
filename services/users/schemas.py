"""Every field that a request may carry and an answer shows."""

import marshmallow as ma

from services.users.documents import ROLES
from services.users.rules.accounts import MAX_BASKET_LINES, MAX_QUANTITY
from shared.money import CURRENCIES
from shared.web import PageArgs, Shape
from shared.web.fields import AddressText, Flag, MoneyShape, Text, Time, Whole


def email() -> Text:
    return Text(3, 254, required=True, metadata={"example": "ann@example.com"})


def person_name(required: bool = True) -> Text:
    """One line: it greets in e-mails, where a second one would be somebody else's message in our name."""
    return Text(1, 200, required=required, pattern=r"^[^\t\r\n]*$")


def new_password(required: bool = True) -> ma.fields.String:
    return ma.fields.String(
        required=required,
        validate=ma.validate.Length(8, 200),
        metadata={"description": "8 to 200 characters; not a common one, not the name or e-mail"},
    )


class Registration(Shape):
    name = person_name()
    email = email()
    password = new_password()


def registration_secret() -> Text:
    return Text(
        16, 100, pattern=r"^[A-Za-z0-9_-]+$",
        metadata={"description": "a secret of the browser that registers; confirms there without the password"},
    )  # fmt: skip


class RegistrationRequest(Registration):
    registration = registration_secret()


class Person(Shape):
    userid = ma.fields.String(required=True)
    name = ma.fields.String(required=True)
    email = ma.fields.String(required=True)
    email_verified = ma.fields.Boolean(required=True)


class TokenText(Shape):
    token = Text(1, 300, required=True)


class Verification(TokenText):
    """A token, and at most one proof."""

    password = ma.fields.String(
        validate=ma.validate.Length(0, 200), metadata={"description": "the one chosen at registration"}
    )
    new_password = new_password(required=False)
    registration = registration_secret()

    @ma.validates_schema
    def _one_proof(self, data: dict[str, str], **_: object) -> None:
        if len(data) > 2:
            raise ma.ValidationError("Send one of password, new_password and registration.", "password")


class EmailAddress(Shape):
    email = email()


class Resend(EmailAddress):
    registration = registration_secret()


class Login(Shape):
    email = email()
    password = ma.fields.String(required=True, validate=ma.validate.Length(1, 200))
    device_token = ma.fields.String(
        load_default="",
        validate=ma.validate.Length(0, 300),
        metadata={"description": "of an earlier log-in: guesses made elsewhere do not keep this device out"},
    )


class Tokens(Shape):
    access_token = ma.fields.String(required=True)
    refresh_token = ma.fields.String(required=True)
    token_type = ma.fields.String(required=True)
    expires_in = Whole(1, required=True)


class SessionTokens(Tokens):
    user = ma.fields.Nested("SessionUser", required=True)
    device_token = ma.fields.String(
        metadata={"description": "after a log-in: keep it on the device and send it with the next one"}
    )


class SessionUser(Shape):
    userid = ma.fields.String(required=True)
    name = ma.fields.String(required=True)
    email = ma.fields.String(required=True)
    roles = ma.fields.List(ma.fields.String(), required=True)


class RefreshToken(Shape):
    refresh_token = Text(1, 1000, required=True)


class LogoutArgs(Shape):
    class Meta:
        unknown = ma.EXCLUDE

    everywhere = ma.fields.Boolean(
        load_default=False, metadata={"description": "end all sessions, not only this one"}
    )


class NewPassword(TokenText):
    password = new_password()


class Address(Shape):
    id = ma.fields.String(dump_only=True, required=True)
    name = Text(1, 200, required=True)
    address = AddressText(required=True)
    default = Flag(load_default=False)


class AddressChange(Shape):
    name = Text(1, 200)
    address = AddressText()
    default = Flag()


class Addresses(Shape):
    items = ma.fields.List(ma.fields.Nested(Address), required=True)
    next = ma.fields.String(allow_none=True, required=True)


class Preferences(Shape):
    language = ma.fields.String(
        validate=ma.validate.Regexp(r"^[a-z]{2,3}(-[A-Z]{2})?$"), metadata={"example": "en-GB"}
    )
    currency = ma.fields.String(validate=ma.validate.OneOf(sorted(CURRENCIES)))
    newsletter = Flag()


class PaymentMethod(Shape):
    id = ma.fields.String(dump_only=True, required=True)
    provider = Text(1, 40, required=True, pattern=r"^[a-z0-9_-]+$")
    reference = Text(
        1, 200, required=True, metadata={"description": "the provider's reference, never a card number"}
    )
    label = Text(0, 80, load_default="", metadata={"example": "Visa ending 4242"})


class PaymentMethods(Shape):
    items = ma.fields.List(ma.fields.Nested(PaymentMethod), required=True)
    next = ma.fields.String(allow_none=True, required=True)


class Quantity(Shape):
    quantity = Whole(1, MAX_QUANTITY, required=True)


class GuestLine(Shape):
    productid = Text(1, 100, required=True)
    quantity = Whole(1, MAX_QUANTITY, required=True)


class GuestBasket(Shape):
    items = ma.fields.List(
        ma.fields.Nested(GuestLine), required=True, validate=ma.validate.Length(max=MAX_BASKET_LINES)
    )


class StoredLine(Shape):
    productid = ma.fields.String(required=True)
    quantity = Whole(required=True)


class PricedLine(StoredLine):
    available = ma.fields.Boolean(
        required=True, metadata={"description": "the shop sells it and has this many"}
    )
    name = ma.fields.String(allow_none=True)
    image = ma.fields.String(allow_none=True)
    price = ma.fields.Nested(MoneyShape, allow_none=True)
    delivery = ma.fields.Nested(MoneyShape, allow_none=True)
    stock = ma.fields.Integer(allow_none=True)
    total = ma.fields.Nested(MoneyShape, allow_none=True)


class Basket(Shape):
    items = ma.fields.List(ma.fields.Nested(PricedLine), required=True)
    next = ma.fields.String(allow_none=True, required=True)
    totals = ma.fields.List(
        ma.fields.Nested(MoneyShape),
        required=True,
        metadata={"description": "one for each currency, without delivery"},
    )


class Me(Person):
    pending_email = ma.fields.String(allow_none=True, required=True)
    roles = ma.fields.List(ma.fields.String(validate=ma.validate.OneOf(ROLES)), required=True)
    created = Time(required=True)
    addresses = ma.fields.List(ma.fields.Nested(Address), required=True)
    preferences = ma.fields.Nested(Preferences, required=True)
    payment_methods = ma.fields.List(ma.fields.Nested(PaymentMethod), required=True)
    basket = ma.fields.List(ma.fields.Nested(StoredLine), required=True)
    basket_revision = ma.fields.String(
        required=True, metadata={"description": "another one after every change of the basket"}
    )


class MeChange(Shape):
    name = person_name(required=False)
    email = Text(3, 254, metadata={"description": "counts once the e-mail sent there is answered"})
    password = new_password(required=False)
    current_password = ma.fields.String(
        validate=ma.validate.Length(1, 200), metadata={"description": "needed for e-mail and password"}
    )


class Bought(Shape):
    productids = ma.fields.List(
        Text(1, 100), required=True, validate=ma.validate.Length(max=MAX_BASKET_LINES)
    )
    date = Time(required=True)


class Checkout(Shape):
    userid = ma.fields.String(required=True)
    name = ma.fields.String(required=True)
    email = ma.fields.String(required=True)
    addresses = ma.fields.List(ma.fields.Nested(Address), required=True)
    basket = ma.fields.List(ma.fields.Nested(StoredLine), required=True)


class ViewedProduct(Shape):
    productid = ma.fields.String(required=True)
    viewed = Time(required=True)


class SessionArgs(Shape):
    class Meta:
        unknown = ma.EXCLUDE

    userid = Text(1, 64, required=True)
    started = ma.fields.Integer(
        required=True,
        validate=ma.validate.Range(0, 2**53),
        metadata={"description": "milliseconds since 1970"},
    )


class SessionState(Shape):
    live = ma.fields.Boolean(required=True)
    roles = ma.fields.List(ma.fields.String(), required=True)


class AccountChange(Shape):
    userid = ma.fields.String(required=True)
    changed = Whole(required=True, metadata={"description": "milliseconds since 1970"})
    sessions_from = Whole(required=True, metadata={"description": "sessions begun before have ended"})
    roles = ma.fields.List(ma.fields.String(), required=True)


class RevocationList(Shape):
    age = ma.fields.Float(required=True, metadata={"description": "seconds"})
    sessions = ma.fields.List(ma.fields.String(), required=True)
    accounts = ma.fields.List(ma.fields.Nested(AccountChange), required=True)


class Viewed(Shape):
    items = ma.fields.List(ma.fields.Nested(ViewedProduct), required=True)
    next = ma.fields.String(allow_none=True, required=True)


class Export(Shape):
    exported = Time(required=True)
    profile = ma.fields.Nested(Me, required=True)
    recently_viewed = ma.fields.List(ma.fields.Nested(ViewedProduct), required=True)
    orders = ma.fields.List(ma.fields.Dict(), required=True)
    reviews = ma.fields.List(ma.fields.Dict(), required=True)
    documents = ma.fields.List(
        ma.fields.Dict(), required=True, metadata={"description": "every document, without secrets"}
    )


class Erasure(Shape):
    current_password = ma.fields.String(
        validate=ma.validate.Length(1, 200),
        metadata={"description": "checked when sent; ask for it in pages"},
    )


class Account(Person):
    pending_email = ma.fields.String(allow_none=True, required=True)
    roles = ma.fields.List(ma.fields.String(), required=True)
    active = ma.fields.Boolean(required=True)
    created = Time(required=True)


class Accounts(Shape):
    items = ma.fields.List(ma.fields.Nested(Account), required=True)
    next = ma.fields.String(allow_none=True, required=True)


class Roles(Shape):
    roles = ma.fields.List(
        ma.fields.String(validate=ma.validate.OneOf(ROLES)),
        required=True,
        validate=ma.validate.Length(max=len(ROLES)),
    )


class NewStaff(Roles):
    email = email()


class Reauthentication(Shape):
    password = ma.fields.String(
        validate=ma.validate.Length(1, 200),
        metadata={"description": "the asking admin's own; needed when the account is one of the staff's"},
    )


class Closure(Reauthentication):
    reason = Text(1, 500, required=True)


class AuditArgs(PageArgs):
    month = ma.fields.String(
        load_default=None,
        validate=ma.validate.Regexp(r"^20\d\d-(0[1-9]|1[0-2])$"),
        metadata={"description": "2026-11; this month"},
    )


class AuditEntry(Shape):
    actor = ma.fields.String(required=True)
    action = ma.fields.String(required=True)
    subject = ma.fields.String(required=True)
    details = ma.fields.Dict(required=True)
    date = Time(required=True)


class AuditTrail(Shape):
    items = ma.fields.List(ma.fields.Nested(AuditEntry), required=True)
    next = ma.fields.String(allow_none=True, required=True)
