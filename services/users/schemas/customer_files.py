"""What an import of customers is asked with, and what it answers."""

import marshmallow as ma

from shared.web import Shape
from shared.web.fields import StrictInteger, Text


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
        validate=ma.validate.OneOf(["shopify"]),
        metadata={"description": "the file is a customer export (CSV) of that shop"},
    )
    from_line = ma.fields.Integer(
        load_default=1,
        validate=ma.validate.Range(1, 10**9),
        metadata={"description": "skip the customers of the lines before"},
    )


class FailedCustomer(Shape):
    line = StrictInteger(1, required=True)
    code = ma.fields.String(required=True)
    detail = ma.fields.String(required=True)


class CustomersImportProgress(Shape):
    lines = StrictInteger(0, required=True, metadata={"description": "customers that were read"})
    created = StrictInteger(0, required=True)
    updated = StrictInteger(0, required=True, metadata={"description": "always 0: no account is changed"})
    unchanged = StrictInteger(
        0, required=True, metadata={"description": "that have an account, which stays as it is"}
    )
    without_password = StrictInteger(
        0, required=True, metadata={"description": "of the created ones: they set a password by e-mail"}
    )
    failures = StrictInteger(0, required=True)
    done = ma.fields.Boolean(metadata={"description": "of a progress: whether it was the last line"})


class ImportedCustomers(CustomersImportProgress):
    failed = ma.fields.List(
        ma.fields.Nested(FailedCustomer), required=True, metadata={"description": "the first 1000"}
    )
