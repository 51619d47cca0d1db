"""What the report of the stock's value is asked for and answers."""

import marshmallow as ma

from services.products.declarations.limits import MAX_LEVELS
from shared.money import CURRENCIES
from shared.web import Shape
from shared.web.fields import StrictInteger


class StockValueArgs(Shape):
    class Meta:
        unknown = ma.EXCLUDE

    currency = ma.fields.String(
        load_default=None,
        validate=ma.validate.OneOf(sorted(CURRENCIES)),
        metadata={"description": "whose cost prices count; all when left out"},
    )
    depth = ma.fields.Integer(
        load_default=MAX_LEVELS,
        validate=ma.validate.Range(1, MAX_LEVELS),
        metadata={"description": "how many levels of a category make a row: 1 is the departments"},
    )


class StockCost(Shape):
    """Minor units and currency: of much stock it is more than any price."""

    amount = StrictInteger(0, required=True)
    currency = ma.fields.String(required=True)


class StockValueSums(Shape):
    units = StrictInteger(0, required=True, metadata={"description": "in stock, without what is reserved"})
    units_valued = StrictInteger(
        0, required=True, metadata={"description": "of these, whose cost price in this currency is known"}
    )
    value = ma.fields.Nested(StockCost, required=True, metadata={"description": "what these cost to buy"})


class StockValueRow(StockValueSums):
    category = ma.fields.String(required=True, metadata={"description": "the levels joined by `#`"})


class StockValue(Shape):
    units = StrictInteger(
        0, required=True, metadata={"description": "in stock, with a cost price or without"}
    )
    rows = ma.fields.List(ma.fields.Nested(StockValueRow), required=True)
    totals = ma.fields.List(
        ma.fields.Nested(StockValueSums),
        required=True,
        metadata={"description": "of each currency in which there is a cost price"},
    )
