"""What may be sent."""

from typing import Any

import marshmallow as ma

from services.orders.rules.progress import STATUSES
from shared.web import PageArgs, Shape
from shared.web.fields import MoneyShape, Text, Whole

MOST_LINES, MOST_UNITS = 100, 1000
ORDERID = r"^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$"
KEY = r"^[!-~]{1,200}$"
DATE = r"^\d{4}(-\d{2}(-\d{2}(T\d{2}:\d{2}(:\d{2}(\.\d{1,6})?)?(Z|[+-]\d{2}:\d{2})?)?)?)?$"


class WantedItem(Shape):
    productid = Text(1, 200, required=True)
    quantity = Whole(1, MOST_UNITS, required=True)


class PaymentWanted(Shape):
    provider = Text(
        1, 40, required=True, metadata={"description": "`sandbox` or `stripe`, as the shop has it"}
    )
    token = Text(
        1,
        200,
        required=True,
        metadata={"description": "sandbox: tok_ok, tok_declined, tok_timeout, tok_error"},
    )


class OrderWanted(Shape):
    """A checkout. A customer names an address by id or gives one; a guest gives e-mail and address."""

    items = ma.fields.List(
        ma.fields.Nested(WantedItem), required=True, validate=ma.validate.Length(1, MOST_LINES)
    )
    address_id = Text(1, 100)
    address = ma.fields.Raw(metadata={"description": "a text of 1 to 1000 characters, or an object of texts"})
    payment = ma.fields.Nested(PaymentWanted, required=True)
    expected_total = ma.fields.Nested(
        MoneyShape, metadata={"description": "409 when the total is another by now"}
    )
    email = ma.fields.Email(validate=ma.validate.Length(3, 254), metadata={"description": "guests only"})
    name = Text(1, 200, metadata={"description": "guests only"})

    @ma.validates("address")
    def check_address(self, value: Any, **_: Any) -> None:
        parts = list(value.values()) if isinstance(value, dict) and len(value) <= 20 else [value]
        if (
            not parts
            or not all(isinstance(part, str) and len(part) <= 1000 for part in parts)
            or not any(parts)
        ):
            raise ma.ValidationError("A text, or an object of texts, of at most 1000 characters each.")

    @ma.validates_schema
    def check_one_address(self, data: dict[str, Any], **_: Any) -> None:
        if ("address" in data) == ("address_id" in data):
            raise ma.ValidationError("Give either address or address_id.", "address")


class QuoteWanted(Shape):
    items = ma.fields.List(
        ma.fields.Nested(WantedItem), required=True, validate=ma.validate.Length(1, MOST_LINES)
    )


class Cancellation(Shape):
    reason = Text(0, 500, load_default="")


class Returning(Shape):
    items = ma.fields.List(
        ma.fields.Nested(WantedItem), required=True, validate=ma.validate.Length(1, MOST_LINES)
    )
    reason = Text(0, 500, load_default="")


class Dispatching(Shape):
    courier = Text(1, 100, required=True)
    courierid = Text(1, 200, required=True)


class Refunding(Shape):
    """`amount` is money, or minor units of the order's currency."""

    amount = ma.fields.Raw(
        required=True, metadata={"description": "money {amount, currency}, or minor units"}
    )
    reason = Text(0, 500, load_default="")

    @ma.validates("amount")
    def check_amount(self, value: Any, **_: Any) -> None:
        amount = value
        if isinstance(value, dict):
            MoneyShape().load(value)
            amount = value["amount"]
        if type(amount) is not int or not 1 <= amount <= 10**12:
            raise ma.ValidationError("Money of at least 1 minor unit.")


class HistoryArgs(PageArgs):
    failed = ma.fields.Boolean(
        load_default=True,
        metadata={"description": "whether attempts that ended without a payment are listed too"},
    )


class SpanArgs(Shape):
    """`from` is included, `to` is not."""

    class Meta:
        unknown = ma.EXCLUDE

    start = ma.fields.String(data_key="from", load_default=None, validate=ma.validate.Regexp(DATE))
    end = ma.fields.String(data_key="to", load_default=None, validate=ma.validate.Regexp(DATE))


class SalesArgs(SpanArgs):
    by = ma.fields.String(
        load_default="total", validate=ma.validate.OneOf(["total", "year", "month", "day", "hour"])
    )
    currency = ma.fields.String(load_default=None, validate=ma.validate.Regexp(r"^[A-Z]{3}$"))


class BestSellersArgs(SpanArgs):
    limit = ma.fields.Integer(load_default=20, validate=ma.validate.Range(1, 1000))


class OrdersArgs(PageArgs):
    start = ma.fields.String(data_key="from", load_default=None, validate=ma.validate.Regexp(DATE))
    end = ma.fields.String(data_key="to", load_default=None, validate=ma.validate.Regexp(DATE))
    status = ma.fields.String(load_default=None, validate=ma.validate.OneOf(STATUSES))


class ReportWanted(Shape):
    kind = ma.fields.String(
        required=True, validate=ma.validate.OneOf(["sales", "best-sellers", "fulfilment"])
    )
    start = ma.fields.String(data_key="from", required=True, validate=ma.validate.Regexp(DATE))
    end = ma.fields.String(data_key="to", required=True, validate=ma.validate.Regexp(DATE))
    by = ma.fields.String(
        load_default="month", validate=ma.validate.OneOf(["total", "year", "month", "day", "hour"])
    )
    currency = ma.fields.String(
        load_default=None, allow_none=True, validate=ma.validate.Regexp(r"^[A-Z]{3}$")
    )


class ClosingWanted(Shape):
    kind = ma.fields.String(required=True, validate=ma.validate.OneOf(["day", "month"]))
    period = ma.fields.String(required=True, validate=ma.validate.Regexp(r"^\d{4}-\d{2}(-\d{2})?$"))


class ImportArgs(Shape):
    class Meta:
        unknown = ma.EXCLUDE

    from_line = ma.fields.Integer(load_default=1, validate=ma.validate.Range(1, 10**9))


class BoughtArgs(Shape):
    class Meta:
        unknown = ma.EXCLUDE

    userid = Text(1, 100, required=True)
    productid = Text(1, 200, required=True)


class OptionalKeyHeader(Shape):
    class Meta:
        unknown = ma.EXCLUDE

    key = ma.fields.String(
        data_key="Idempotency-Key", load_default=None, validate=ma.validate.Regexp(KEY),
        metadata={"description": "same key and body: done once"},
    )  # fmt: skip


class TokenHeader(Shape):
    class Meta:
        unknown = ma.EXCLUDE

    token = ma.fields.String(
        data_key="X-Order-Token", load_default="", validate=ma.validate.Length(max=200),
        metadata={"description": "a guest's `guest_token` for this order"},
    )  # fmt: skip
