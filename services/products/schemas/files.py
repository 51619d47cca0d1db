"""Imports: what may be asked of them, and what they answer."""

import marshmallow as ma

from services.products.declarations import limits
from shared.money import CURRENCIES
from shared.web import Shape
from shared.web.fields import StrictInteger, Text


class FailedLine(Shape):
    line = StrictInteger(1, required=True)
    code = ma.fields.String(required=True)
    detail = ma.fields.String(required=True)


class Imported(Shape):
    created = StrictInteger(0, required=True)
    updated = StrictInteger(0, required=True)
    unchanged = StrictInteger(0, required=True)
    failed = ma.fields.List(ma.fields.Nested(FailedLine), required=True)
    notes = ma.fields.List(
        ma.fields.Nested(FailedLine),
        metadata={"description": "of lines that were taken: what was changed or left aside"},
    )
    dry_run = ma.fields.Boolean(metadata={"description": "nothing was written"})
    indexed = ma.fields.Boolean(
        metadata={
            "description": "false: all is written, and not everything is found by its id yet; the index follows by itself"
        }
    )


class ImportProgress(Shape):
    lines = StrictInteger(0, required=True)
    created = StrictInteger(0, required=True)
    updated = StrictInteger(0, required=True)
    unchanged = StrictInteger(0, required=True)
    failed = StrictInteger(0, required=True)
    done = ma.fields.Boolean()


class ImportArgs(Shape):
    class Meta:
        unknown = ma.EXCLUDE

    id = Text(
        1,
        60,
        load_default=None,
        pattern="^[A-Za-z0-9_.-]+$",
        metadata={"description": "progress is told under this name"},
    )
    format = ma.fields.String(
        load_default=None,
        validate=ma.validate.OneOf(["shopify", "woocommerce"]),
        metadata={"description": "the file is a product export (CSV) of that shop"},
    )
    dry_run = ma.fields.Boolean(
        load_default=False, metadata={"description": "say what would become of each line; write nothing"}
    )
    currency = ma.fields.String(
        load_default="GBP",
        validate=ma.validate.OneOf(sorted(CURRENCIES)),
        metadata={"description": "with `format`: of its prices, which such a file does not name"},
    )
    untracked_stock = ma.fields.Integer(
        load_default=0,
        validate=ma.validate.Range(0, limits.MAX_STOCK),
        metadata={"description": "with `format`: the stock of what the other shop does not count"},
    )
    pictures = ma.fields.String(
        load_default="fetch",
        validate=ma.validate.OneOf(["fetch", "reference", "none"]),
        metadata={
            "description": "with `format`: fetch them from public addresses and keep them here, show the first from where it is, or leave them aside"
        },
    )
    from_line = ma.fields.Integer(
        load_default=1, validate=ma.validate.Range(1), metadata={"description": "skip the lines before"}
    )
