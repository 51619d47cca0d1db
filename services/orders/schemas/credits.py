"""Gift cards and store credit, as they are sent and answered."""

import marshmallow as ma

from services.orders.declarations.credits import CREDIT_PAYMENT_FIELDS, MAX_BALANCE, REASONS
from services.orders.schemas.answers import SignedMoney
from shared.language_codes import LANGUAGE
from shared.web import Shape, page_schema, response_schema
from shared.web.fields import MoneyShape, StrictInteger, Text, Time

MAX_GIFT_CARDS = 5
MAX_VALUE = 10_000_000

CreditPayment = response_schema("CreditPayment", CREDIT_PAYMENT_FIELDS)


class Code(Shape):
    code = Text(1, 60, required=True, metadata={"description": "as it is written on the gift card"})


class Balance(Shape):
    name = ma.fields.String()
    balance = ma.fields.Nested(SignedMoney)
    expires = ma.fields.String(
        allow_none=True, metadata={"description": "the last day on which it can be spent"}
    )


class Balances(Shape):
    items = ma.fields.List(ma.fields.Nested(Balance))
    next = ma.fields.String(allow_none=True)


class Value(MoneyShape):
    """Money of at least 1 minor unit."""

    amount = StrictInteger(1, MAX_VALUE, required=True)


class GiftCardContent(Shape):
    value = ma.fields.Nested(Value, required=True)
    email = ma.fields.Email(
        validate=ma.validate.Length(3, 254), metadata={"description": "who gets the code by e-mail"}
    )
    name = Text(1, 200, metadata={"description": "of the recipient"})
    message = Text(1, 1000, metadata={"description": "to the recipient"})
    language = ma.fields.String(
        validate=ma.validate.Regexp(f"^{LANGUAGE}$"),
        metadata={"description": "of the e-mail; the shop's own when left out", "example": "de"},
    )
    note = Text(0, 500, load_default="", metadata={"description": "for staff: why it was issued"})


class CreditEntry(Shape):
    """One change of a balance."""

    number = StrictInteger(1)
    amount = ma.fields.Nested(SignedMoney)
    balance = ma.fields.Nested(SignedMoney, metadata={"description": "afterwards"})
    reason = ma.fields.String(validate=ma.validate.OneOf(REASONS))
    date = Time()
    by = ma.fields.String()
    note = ma.fields.String()
    orderid = ma.fields.String()


class ListedGiftCard(Shape):
    id = ma.fields.String()
    name = ma.fields.String()
    balance = ma.fields.Nested(SignedMoney)
    issued = Time()
    expires = ma.fields.String(allow_none=True)


class GiftCard(ListedGiftCard):
    value = ma.fields.Nested(SignedMoney)
    entries = ma.fields.List(ma.fields.Nested(CreditEntry))


class IssuedGiftCard(GiftCard):
    code = ma.fields.String(metadata={"description": "shown here alone: only its hash is stored"})


GiftCardPage = page_schema("GiftCardPage", ListedGiftCard)


class Correction(Shape):
    balance = StrictInteger(0, MAX_BALANCE, required=True, metadata={"description": "minor units"})
    note = Text(1, 500, required=True)


class StoreCreditBalance(Balance):
    entries = ma.fields.List(ma.fields.Nested(CreditEntry))


class StoreCredit(Shape):
    items = ma.fields.List(ma.fields.Nested(StoreCreditBalance))
    next = ma.fields.String(allow_none=True)


class Grant(Shape):
    amount = ma.fields.Nested(Value, required=True)
    reason = Text(1, 500, required=True)
