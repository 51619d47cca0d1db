"""Counting at a stall."""

from typing import Any

import marshmallow as ma

from services.products.declarations import limits
from services.products.rules import product as rules
from services.products.schemas.answers import StockNotChanged
from shared.web import Shape
from shared.web.fields import StrictInteger, Text


class StallCount(Shape):
    sku = Text(
        1, 64, required=True, metadata={"description": "of a variant, or the productid of what has none"}
    )
    level = StrictInteger(
        0, limits.MAX_STOCK, required=True, metadata={"description": "how many were counted"}
    )
    counted_at = Text(
        24,
        24,
        required=True,
        pattern=f"^{limits.MOMENT}$",
        metadata={"description": "when; what was sold since stays sold"},
    )


class StallCounts(Shape):
    id = Text(
        8,
        60,
        required=True,
        pattern="^[A-Za-z0-9-]+$",
        metadata={
            "description": "what the device names this count by: it is booked once, whoever sends it",
            "example": "8d2f1c7e-3b57-4c0e-9a55-2f1f0a2f4d11",
        },
    )
    stall = Text(1, 60, required=True, metadata={"description": "where it was counted"})
    items = ma.fields.List(
        ma.fields.Nested(StallCount), required=True, validate=ma.validate.Length(1, rules.MAX_LOOKED_UP)
    )

    @ma.validates_schema
    def names_each_once(self, data: dict[str, Any], **_: Any) -> None:
        skus = [each["sku"] for each in data.get("items", ())]
        if twice := next((sku for sku in skus if skus.count(sku) > 1), None):
            raise ma.ValidationError(f"{twice} comes twice.", "items")


class CountedLine(Shape):
    sku = ma.fields.String(required=True)
    counted = StrictInteger(0, required=True)
    expected = StrictInteger(
        0, required=True, metadata={"description": "what the stock said at the time of counting"}
    )
    change = StrictInteger(required=True, metadata={"description": "what was booked for the difference"})
    since = StrictInteger(
        required=True, metadata={"description": "what came in since then; below zero: what went out"}
    )
    stock = StrictInteger(required=True, metadata={"description": "now; below zero: sold, and not there"})
    superseded = ma.fields.Boolean(
        required=True,
        metadata={"description": "somebody counted later and told it before: nothing was booked"},
    )


class StallCountReport(Shape):
    items = ma.fields.List(ma.fields.Nested(CountedLine), required=True)
    failed = ma.fields.List(ma.fields.Nested(StockNotChanged), required=True)
