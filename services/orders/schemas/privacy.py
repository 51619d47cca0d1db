"""What is handed out of a person's orders."""

import marshmallow as ma

from services.orders.schemas.answers import Order
from services.orders.schemas.credits import StoreCreditBalance
from services.orders.schemas.drafts import DraftSummary
from services.orders.schemas.notes import Note
from services.orders.schemas.requests import GiftRecipient
from shared.web import Shape


class Anonymisation(Shape):
    email = ma.fields.String(
        load_default="",
        validate=ma.validate.Length(max=254),
        metadata={"description": "the verified e-mail of the account: guests' orders with it are theirs"},
    )


class GuestEmail(Shape):
    email = ma.fields.Email(required=True, validate=ma.validate.Length(3, 254))


class ExportedOrder(Order):
    notes = ma.fields.List(ma.fields.Nested(Note), metadata={"description": "of staff"})
    gift_recipient = ma.fields.Nested(
        GiftRecipient, metadata={"description": "whom the gift cards of this order were sent to"}
    )


class ExportedOrders(Shape):
    """Everything that the orders service holds of a person."""

    items = ma.fields.List(ma.fields.Nested(ExportedOrder))
    drafts = ma.fields.List(
        ma.fields.Nested(DraftSummary), metadata={"description": "orders that staff made for them"}
    )
    store_credit = ma.fields.List(ma.fields.Nested(StoreCreditBalance))
