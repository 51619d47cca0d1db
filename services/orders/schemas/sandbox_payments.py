"""The sandbox's payment page."""

import marshmallow as ma

from shared.web import Shape
from shared.web.fields import MoneyShape, Text


class PageKey(Shape):
    class Meta:
        unknown = ma.EXCLUDE

    key = ma.fields.String(load_default="", validate=ma.validate.Length(max=100))


class SandboxPayment(Shape):
    key = Text(1, 100, required=True, metadata={"description": "as the page's address has it"})
    token = Text(
        1,
        100,
        required=True,
        metadata={"description": "tok_ok, tok_declined, tok_timeout or tok_error"},
    )


class SandboxPage(Shape):
    orderid = ma.fields.String()
    number = ma.fields.String(allow_none=True)
    total = ma.fields.Nested(MoneyShape)
    open = ma.fields.Boolean(metadata={"description": "whether it can be paid now"})
    paid = ma.fields.Boolean()
