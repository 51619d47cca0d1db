"""What products' requests may carry."""

from typing import Any

import marshmallow as ma

from services.products import documents
from services.products.declarations import limits
from services.products.product_types import PRODUCT_TYPE_FIELDS
from services.products.rules import product as rules
from shared.language_codes import LANGUAGE
from shared.money import CURRENCIES
from shared.web import PageArgs, Shape, request_schema
from shared.web.fields import StrictInteger, Text, Time

ProductContent = request_schema("ProductContent", documents.PRODUCT_FIELDS, rules.checked)
ProductTypeContent = request_schema("ProductTypeContent", PRODUCT_TYPE_FIELDS)


class InTerms(Shape):
    """Of what is answered as somebody buys it."""

    currency = ma.fields.String(
        load_default=None,
        allow_none=True,
        validate=ma.validate.OneOf(sorted(CURRENCIES)),
        metadata={"description": "prices are answered in; the shop's own when left out"},
    )
    language = ma.fields.String(
        load_default=None,
        allow_none=True,
        validate=ma.validate.Regexp(f"^({LANGUAGE})$"),
        metadata={"description": "names and options are answered in; the shop's own when left out"},
    )


class CategoryOffered(InTerms):
    category = Text(1, 1000, required=True, metadata={"description": "its path", "example": "Home#Kitchen"})
    limit = StrictInteger(1, 500, load_default=500, metadata={"description": "products, the cheapest first"})


class Lookup(InTerms):
    productids = ma.fields.List(
        Text(1, 100), required=True, validate=ma.validate.Length(1, rules.MAX_LOOKED_UP)
    )
    group = Text(
        1,
        40,
        load_default=None,
        allow_none=True,
        metadata={
            "description": "whose prices, asked by another service; else those of the token's customer group"
        },
    )
    costs = ma.fields.Boolean(
        load_default=False,
        truthy={True},
        falsy={False},
        metadata={"description": "asked by another service: what one costs the shop, too"},
    )


ReviewContent = request_schema("ReviewContent", documents.REVIEW_FIELDS.select("stars", "title", "text"))


class StockChange(Shape):
    delta = StrictInteger(-limits.MAX_STOCK, limits.MAX_STOCK, required=True)
    reason = Text(1, 200, required=True)
    sku = Text(1, 64, load_default=None, allow_none=True, metadata={"description": "of a variant"})


class StockChangeOfSku(Shape):
    """One of both is given: `delta` or `level`."""

    sku = Text(
        1, 64, required=True, metadata={"description": "of a variant, or the productid of what has none"}
    )
    delta = StrictInteger(
        -limits.MAX_STOCK,
        limits.MAX_STOCK,
        load_default=None,
        metadata={"description": "what came in, or, below zero, went out"},
    )
    level = StrictInteger(
        0, limits.MAX_STOCK, load_default=None, metadata={"description": "how many were counted"}
    )
    counted_at = Text(
        0,
        24,
        load_default="",
        pattern=f"^(|{limits.MOMENT})$",
        metadata={"description": "when they were counted; what was sold since is taken into account"},
    )

    @ma.validates_schema
    def says_one(self, data: dict[str, Any], **_: Any) -> None:
        if (data.get("delta") is None) == (data.get("level") is None):
            raise ma.ValidationError("Give one of delta and level.", "delta")


class StockChanges(Shape):
    changes = ma.fields.List(
        ma.fields.Nested(StockChangeOfSku), required=True, validate=ma.validate.Length(1, rules.MAX_LOOKED_UP)
    )
    reason = Text(1, 200, required=True)

    @ma.validates_schema
    def names_each_once(self, data: dict[str, Any], **_: Any) -> None:
        skus = [each["sku"] for each in data.get("changes", ())]
        if twice := next((sku for sku in skus if skus.count(sku) > 1), None):
            raise ma.ValidationError(f"{twice} comes twice.", "changes")


class StockArgs(Shape):
    class Meta:
        unknown = ma.EXCLUDE

    sku = Text(1, 64, load_default=None, metadata={"description": "of a variant"})


class ForgottenPerson(Shape):
    name = ma.fields.String(
        load_default="",
        validate=ma.validate.Length(max=200),
        metadata={"description": "searches with all of its words are no longer counted"},
    )


class ReservationLine(Shape):
    productid = Text(1, 64, required=True)
    sku = Text(0, 64, load_default="", metadata={"description": "of a variant"})
    taxonomy = ma.fields.List(Text(1, 200), required=True, validate=ma.validate.Length(1, limits.MAX_LEVELS))
    quantity = StrictInteger(1, 1_000_000, required=True)
    backorder_limit = StrictInteger(
        0,
        limits.MAX_STOCK,
        load_default=0,
        metadata={"description": "how many of it may wait for goods that are still to come; 0: none"},
    )


class OrderAskedAfter(Shape):
    orderid = Text(1, 100, required=True, pattern="^[A-Za-z0-9_.-]+$")
    items = ma.fields.List(
        ma.fields.Nested(ReservationLine), required=True, validate=ma.validate.Length(1, 100)
    )


class OrdersAskedAfter(Shape):
    orders = ma.fields.List(
        ma.fields.Nested(OrderAskedAfter), required=True, validate=ma.validate.Length(1, rules.MAX_LOOKED_UP)
    )


class Reservation(Shape):
    orderid = Text(1, 100, required=True, pattern="^[A-Za-z0-9_.-]+$")
    items = ma.fields.List(
        ma.fields.Nested(ReservationLine), required=True, validate=ma.validate.Length(1, 100)
    )
    expires = Time(required=True)
    again = ma.fields.Boolean(load_default=False, metadata={"description": "they may be kept for it already"})
    happened = Text(
        0,
        24,
        load_default="",
        pattern=f"^(|{limits.MOMENT})$",
        metadata={"description": "when they were handed over, of what the shop only hears of now"},
    )


class ReservationExtension(Shape):
    items = ma.fields.List(
        ma.fields.Nested(ReservationLine), required=True, validate=ma.validate.Length(1, 100)
    )
    expires = Time(required=True)


class ReservationEnd(Shape):
    items = ma.fields.List(
        ma.fields.Nested(ReservationLine), required=True, validate=ma.validate.Length(1, 100)
    )
    reference = Text(1, 60, load_default="release", pattern="^[A-Za-z0-9_.-]+$")


class ReservationConfirmation(ReservationEnd):
    happened = Text(
        0,
        24,
        load_default="",
        pattern=f"^(|{limits.MOMENT})$",
        metadata={
            "description": "when they were handed over, of what the shop only hears of now: what was counted since had seen it"
        },
    )


class LowStockArgs(PageArgs):
    most = ma.fields.Integer(load_default=None, validate=ma.validate.Range(0, limits.MAX_STOCK))


class UnpublishedArgs(PageArgs):
    status = ma.fields.String(
        load_default=limits.DRAFT,
        validate=ma.validate.OneOf(limits.UNPUBLISHED),
        metadata={"description": "scheduled: with a time to be published that is to come"},
    )
    q = Text(0, 200, load_default="")


class BulkEditContent(Shape):
    """The same change for many products: of the stock, or of what else is given."""

    productids = ma.fields.List(
        Text(1, 64), required=True, validate=ma.validate.Length(1, rules.MAX_LOOKED_UP)
    )
    status = ma.fields.String(
        load_default=None,
        validate=ma.validate.OneOf(limits.STATUSES),
        metadata={"description": "a time to be published is forgotten, unless it is given too"},
    )
    publish_from = Text(0, 24, load_default=None, pattern=f"^(|{limits.MOMENT})$")
    taxonomy = ma.fields.List(
        Text(1, 200, pattern="^[^#]*$"),
        load_default=None,
        validate=ma.validate.Length(1, limits.MAX_LEVELS),
        metadata={"description": "the category they move to"},
    )
    price_percent = ma.fields.Float(
        load_default=None,
        validate=ma.validate.Range(-99.99, 1000),
        metadata={"description": "of all their prices: -10 takes a tenth off; two decimals at most"},
    )
    stock_delta = StrictInteger(-limits.MAX_STOCK, limits.MAX_STOCK, load_default=None)
    reason = Text(0, 200, load_default="", metadata={"description": "why the stock changes"})
