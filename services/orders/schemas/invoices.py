"""What was issued of an order, as it is answered."""

import marshmallow as ma

from services.orders.declarations.invoices import INVOICE_FIELDS
from shared.web import Shape, response_schema
from shared.web.fields import Time

Invoice = response_schema("Invoice", INVOICE_FIELDS)


class PackingSlipArgs(Shape):
    parcel = ma.fields.Integer(
        load_default=0,
        validate=ma.validate.Range(0, 1000),
        metadata={
            "description": "the number of a parcel that left; 0: what is left to send, or all of an order that left whole"
        },
    )


class CreditNote(Shape):
    """What was issued for a refund."""

    number = ma.fields.String()
    refund = ma.fields.Integer(metadata={"description": "the refund's number"})
    date = Time()
