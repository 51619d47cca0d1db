"""Archives of closed years, as the desk asks for them."""

import marshmallow as ma

from services.orders.declarations.archive import ACTS
from shared.web import Shape
from shared.web.fields import Time


class ArchiveAct(Shape):
    act = ma.fields.String(
        required=True,
        validate=ma.validate.OneOf(ACTS),
        metadata={
            "description": "save: write the year's orders that have ended into files; remove: take what the files hold out of the database; "
            "restore: put all of it back"
        },
    )
    copied = ma.fields.Boolean(
        load_default=False,
        metadata={"description": "with remove: a copy of the files lies elsewhere"},
    )


class HeldArchive(Shape):
    orders = ma.fields.Integer()
    bytes = ma.fields.Integer(metadata={"description": "of their documents, before they are packed"})
    files = ma.fields.Integer()
    whole = ma.fields.Boolean(metadata={"description": "whether it was written to its end"})


class LastAct(Shape):
    act = ma.fields.String()
    state = ma.fields.String(metadata={"description": "queued, running, done or failed"})
    by = ma.fields.String(metadata={"description": "who began it"})
    pieces = ma.fields.Integer(metadata={"description": "that the worker has done"})
    all_pieces = ma.fields.Integer(metadata={"description": "0 while nobody knows how many there are"})
    orders = ma.fields.Integer(metadata={"description": "that were written, removed or brought back"})
    left = ma.fields.Dict(
        keys=ma.fields.String(),
        values=ma.fields.String(),
        metadata={"description": "orders that were left as they are, by id, and why; the first 20"},
    )
    left_count = ma.fields.Integer()
    problem = ma.fields.String(metadata={"description": "why it failed"})
    begun = Time()
    date = Time()


class ArchivedYear(Shape):
    year = ma.fields.String()
    paid_orders = ma.fields.Integer(
        allow_none=True, metadata={"description": "that were paid in it, archived or not"}
    )
    archive = ma.fields.Nested(HeldArchive, allow_none=True)
    removed = ma.fields.Integer(metadata={"description": "orders that only the archive holds"})
    last = ma.fields.Nested(LastAct, allow_none=True)


class Archives(Shape):
    folder = ma.fields.String(
        metadata={"description": "where archives are written to: ARCHIVE_DIR; empty where it is not set"}
    )
    writable = ma.fields.Boolean(metadata={"description": "whether the service can write to it"})
    items = ma.fields.List(
        ma.fields.Nested(ArchivedYear), metadata={"description": "years that have ended, the last one first"}
    )
