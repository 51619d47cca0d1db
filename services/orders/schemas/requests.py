"""What may be sent. Fields that a document holds as they are sent come from its declaration; the others are told here."""

from typing import Any, Final

import marshmallow as ma

from services.orders.declarations import events, order, returns
from shared.addresses import PART_FIELDS, PARTS, checked
from shared.errors import Invalid
from shared.fields import Text as FieldText
from shared.fields import as_whole
from shared.language_codes import LANGUAGE as CODE_OF_LANGUAGE
from shared.money import CURRENCIES
from shared.web import PageArgs, Shape, request_fields
from shared.web.fields import ADDRESS_PATTERN, AddressText, MoneyShape, StrictInteger, Text

MAX_LINES, MAX_UNITS = 100, 1000
MAX_ADDRESS_PARTS, MAX_CODES = 20, 5
_TIME = r"T([01]\d|2[0-3]):[0-5]\d(:[0-5]\d(\.\d{1,6})?)?(Z|[+-]([01]\d|2[0-3]):[0-5]\d)?"
DATE = rf"^(?!0000)\d{{4}}(-(0[1-9]|1[0-2])(-(0[1-9]|[12]\d|3[01])({_TIME})?)?)?$"


class RequestedItem(Shape):
    """What is bought: a product without variants by its productid, a variant by its SKU (as either)."""

    productid = Text(1, 200)
    sku = Text(1, 200)
    quantity = StrictInteger(1, MAX_UNITS, required=True)

    @ma.validates_schema
    def check_named(self, data: dict[str, Any], **_: Any) -> None:
        if not ("productid" in data or "sku" in data):
            raise ma.ValidationError("Name a productid or a sku.", "productid")


NAMED = {"anyOf": [{"required": ["productid"]}, {"required": ["sku"]}]}
"""What OpenAPI says of `check_named`."""


class ShippingChoice(Text):
    """One of a quote's `shipping_options`."""

    def __init__(self) -> None:
        about = "id of a shipping method; the cheapest that delivers when none is named"
        super().__init__(1, 40, metadata={"description": about})


class PaymentRequest(Shape):
    provider = Text(
        1, 40, required=True, metadata={"description": "`sandbox`, `stripe` or `paypal`, as the shop has it"}
    )
    token = Text(
        1,
        200,
        metadata={
            "description": "sandbox: tok_ok, tok_declined, tok_timeout, tok_error; without one the order is paid on its "
            "`payment_page`, where the provider has one"
        },
    )
    saved_method = Text(
        1, 200, metadata={"description": "id of one of `/v1/orders/payment-methods`, instead of a token"}
    )
    save_method = ma.fields.Boolean(
        metadata={"description": "the payment page keeps the method for the customer's next order"}
    )

    @ma.validates_schema
    def check_one_way(self, data: dict[str, Any], **_: Any) -> None:
        if "token" in data and "saved_method" in data:
            raise ma.ValidationError("Give a token or a saved method.", "saved_method")


_STRUCTURED = PART_FIELDS.plus(name=FieldText(0, 200, default=""))
_PARTS_SCHEMA = {
    "type": "object",
    "description": "checked by the country's own rules",
    "required": ["line1", "country"],
    "additionalProperties": False,
    "properties": {name: {"type": "string"} for name in ("name", *PARTS)},
}


class PostalAddress(ma.fields.Field[str | dict[str, str]]):
    """{name, line1, city, postcode, country ...}; or, as before, one text or an object of texts: in the shop's own country.

    Not `complete`: a quote needs no more of it than country, region and postcode.
    """

    text = AddressText()

    def __init__(self, *, complete: bool = True, **kwargs: Any) -> None:
        self._complete = complete
        text = {"type": "string", "minLength": 1, "maxLength": 1000, "pattern": ADDRESS_PATTERN}
        part = {"type": "string", "maxLength": 1000}
        parts = {
            "type": "object",
            "minProperties": 1,
            "maxProperties": MAX_ADDRESS_PARTS,
            "additionalProperties": part,
            "not": {"required": ["line1"]},
        }
        super().__init__(metadata={"anyOf": [_PARTS_SCHEMA, text, parts]}, **kwargs)

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> str | dict[str, str]:
        if not isinstance(value, dict):
            return self._text(value)
        if "line1" in value or not self._complete and "country" in value:
            return self._structured(value)
        parts = {self._text(name): part if part == "" else self._text(part) for name, part in value.items()}
        if not any(parts.values()) or len(value) > MAX_ADDRESS_PARTS:
            raise ma.ValidationError(
                f"A text, or an object of 1 to {MAX_ADDRESS_PARTS} texts that are not all empty."
            )
        return parts

    def _structured(self, value: dict[str, Any]) -> dict[str, str]:
        try:
            content = _STRUCTURED.load(value)
            if not self._complete:
                return {name: text for name, text in content.items() if text}
            return ({"name": content["name"]} if content["name"] else {}) | checked(content)
        except Invalid as error:
            raise ma.ValidationError(error.errors) from error

    def _text(self, value: Any) -> str:
        return str(self.text.deserialize(value))


GIFT_CARD_CODES = ma.fields.List(
    Text(1, 60),
    validate=ma.validate.Length(0, 5),
    metadata={"description": "codes, spent in this order before the payment provider is asked for the rest"},
)


class GiftRecipient(Shape):
    """Who gets the codes of the gift cards that are bought; the customer when left out."""

    email = ma.fields.Email(required=True, validate=ma.validate.Length(3, 254))
    name = Text(1, 200)
    message = Text(1, 1000)


STORE_CREDIT = ma.fields.Boolean(
    metadata={"description": "pay with one's store credit, after the gift cards"}
)
CURRENCY = ma.fields.String(
    validate=ma.validate.OneOf(sorted(CURRENCIES)),
    metadata={"description": "of all prices; the shop's own when left out"},
)
LANGUAGE = ma.fields.String(
    validate=ma.validate.Regexp(f"^{CODE_OF_LANGUAGE}$"),
    metadata={
        "description": "names and options of products are answered, and kept with the order, in it; the shop's own when left out"
    },
)


CODES = ma.fields.List(
    Text(1, 60),
    validate=ma.validate.Length(0, MAX_CODES),
    metadata={"description": "of promotions, as they are typed: capital or small letters"},
)


class OrderRequest(Shape.from_dict(request_fields("Order", order.ORDER_CONTENT), name="OrderContent")):  # type: ignore[misc]  # made from the declaration
    """A checkout. A customer names an address by id or gives one; a guest gives e-mail and address."""

    items = ma.fields.List(
        ma.fields.Nested(RequestedItem, metadata=NAMED),
        required=True,
        validate=ma.validate.Length(1, MAX_LINES),
    )
    address_id = Text(1, 100)
    address = PostalAddress()
    shipping = ShippingChoice()
    payment = ma.fields.Nested(PaymentRequest, required=True)
    codes = CODES
    currency = CURRENCY
    language = LANGUAGE
    expected_total = ma.fields.Nested(
        MoneyShape, metadata={"description": "409 when the total is another by now"}
    )
    email = ma.fields.Email(validate=ma.validate.Length(3, 254), metadata={"description": "guests only"})
    name = Text(1, 200, metadata={"description": "guests only"})
    gift_cards = GIFT_CARD_CODES
    store_credit = STORE_CREDIT
    gift_recipient = ma.fields.Nested(GiftRecipient)
    expected_to_pay = ma.fields.Nested(
        MoneyShape, metadata={"description": "409 when gift cards and store credit leave another sum by now"}
    )

    @ma.validates_schema
    def check_one_address(self, data: dict[str, Any], **_: Any) -> None:
        if ("address" in data) == ("address_id" in data):
            raise ma.ValidationError("Give either address or address_id.", "address")


class QuoteRequest(Shape):
    items = ma.fields.List(
        ma.fields.Nested(RequestedItem, metadata=NAMED),
        required=True,
        validate=ma.validate.Length(1, MAX_LINES),
    )
    codes = CODES
    currency = CURRENCY
    language = LANGUAGE
    address = PostalAddress(complete=False)
    shipping = ShippingChoice()
    gift_cards = GIFT_CARD_CODES
    store_credit = STORE_CREDIT


def _items(about: str, **options: Any) -> ma.fields.Field[Any]:
    """Some of an order's goods."""
    return ma.fields.List(
        ma.fields.Nested(RequestedItem, metadata=NAMED),
        validate=ma.validate.Length(1, MAX_LINES),
        metadata={"description": about},
        **options,
    )


class CancellationRequest(
    Shape.from_dict(request_fields("Cancellation", events.CANCELLATION_FIELDS, defaults=True))  # type: ignore[misc]  # made from the declaration
):
    items = _items("what of the order is cancelled; all of it when left out")


class DispatchRequest(Shape.from_dict(request_fields("Dispatch", events.DISPATCH_FIELDS))):  # type: ignore[misc]  # made from the declaration
    items = _items("what is in the parcel; all that is left to send when left out")


class ReturnedItem(RequestedItem):
    exchange_for = Text(
        1,
        200,
        metadata={
            "description": "the SKU (or productid) that is wanted instead of the money: another variant of the same product, "
            "staff name any"
        },
    )


class ReturnRequest(Shape.from_dict(request_fields("Return", returns.RETURN_REQUEST_FIELDS, defaults=True))):  # type: ignore[misc]  # made from the declaration
    items = ma.fields.List(
        ma.fields.Nested(ReturnedItem, metadata=NAMED),
        required=True,
        validate=ma.validate.Length(1, MAX_LINES),
    )


class ReturnApproval(Shape):
    """Nothing, to approve what the customer asks for."""

    exchange = ma.fields.List(
        ma.fields.Nested(ReturnedItem, metadata=NAMED),
        validate=ma.validate.Length(0, MAX_LINES),
        metadata={
            "description": "what is sent for which of the goods, of any product, instead of what the customer asks for; "
            "empty: all of it is paid back"
        },
    )


class ParcelLabelRequest(Shape):
    items = _items("what is in the parcel; all that is here and has no label yet when left out")
    weight_grams = StrictInteger(
        1,
        1_000_000,
        metadata={"description": "what the parcel weighs; else its goods together, where all have a weight"},
    )
    cheapest = ma.fields.Boolean(
        metadata={"description": "by the cheapest service, whatever carrier's rate the customer has chosen"}
    )


class ReturnLabelRequest(Shape):
    weight_grams = StrictInteger(
        1,
        1_000_000,
        metadata={"description": "what the parcel weighs; else its goods together, where all have a weight"},
    )


ReturnRefusal = Shape.from_dict(
    request_fields("ReturnRefusal", returns.RETURN_REFUSAL_FIELDS), name="ReturnRefusal"
)


class ReceivedItem(RequestedItem):
    condition = ma.fields.String(
        required=True,
        validate=ma.validate.OneOf([returns.RESALEABLE, returns.DAMAGED]),
        metadata={"description": "damaged goods are paid back, and do not go into stock"},
    )


class ReturnReceipt(Shape):
    """What of a return is in the parcel; what is left out did not come."""

    items = ma.fields.List(
        ma.fields.Nested(ReceivedItem, metadata=NAMED),
        required=True,
        validate=ma.validate.Length(1, 2 * MAX_LINES),
    )


_MINOR_UNITS = {"type": "integer", "minimum": 1, "maximum": 10**12}
_REFUNDED = [
    _MINOR_UNITS,
    {
        "type": "object",
        "required": ["amount", "currency"],
        "additionalProperties": False,
        "properties": {"amount": _MINOR_UNITS, "currency": {"type": "string", "enum": sorted(CURRENCIES)}},
    },
]


class RefundAmount(ma.fields.Field[int | dict[str, Any]]):
    """Money, or minor units of the order's currency."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(metadata={"anyOf": _REFUNDED}, **kwargs)

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> int | dict[str, Any]:
        money: dict[str, Any] | None = MoneyShape().load(value) if isinstance(value, dict) else None
        amount = money["amount"] if money else as_whole(value)
        if type(amount) is not int or not 1 <= amount <= 10**12:
            raise ma.ValidationError("Money of at least 1 minor unit.")
        return money or amount


class RefundRequest(Shape.from_dict(request_fields("Refund", events.REFUND_FIELDS, defaults=True))):  # type: ignore[misc]  # made from the declaration
    amount = RefundAmount()
    items = _items("instead of an amount: what was paid for these goods, with their discounts and taxes")
    to = ma.fields.String(
        load_default="original",
        validate=ma.validate.OneOf(["original", "store_credit"]),
        metadata={"description": "where it goes that gift cards and store credit did not pay"},
    )
    notify = ma.fields.Boolean(
        load_default=True,
        metadata={
            "description": "whether an e-mail tells the customer how much, why and which way; none goes out about an imported order"
        },
    )

    @ma.validates_schema
    def check_one_way(self, data: dict[str, Any], **_: Any) -> None:
        if ("amount" in data) == ("items" in data):
            raise ma.ValidationError("Give an amount or items.", "amount")


class HistoryArgs(PageArgs):
    failed = ma.fields.Boolean(
        load_default=True,
        metadata={"description": "whether attempts that ended without a payment are listed too"},
    )


class ImportArgs(Shape):
    class Meta:
        unknown = ma.EXCLUDE

    from_line = ma.fields.Integer(load_default=1, validate=ma.validate.Range(1, 10**9))


class BoughtArgs(Shape):
    class Meta:
        unknown = ma.EXCLUDE

    userid = Text(1, 100, required=True)
    productid = Text(1, 200, required=True)


class BoughtTogetherArgs(Shape):
    class Meta:
        unknown = ma.EXCLUDE

    limit = ma.fields.Integer(load_default=10, validate=ma.validate.Range(1, 100))


ORDER_TOKEN: Final = "X-Order-Token"


class TokenHeader(Shape):
    class Meta:
        unknown = ma.EXCLUDE

    token = ma.fields.String(
        data_key=ORDER_TOKEN,
        load_default="",
        validate=ma.validate.Length(max=200),
        metadata={"description": "a guest's `guest_token` for this order"},
    )
