"""What was issued of an order, as it is answered."""

import marshmallow as ma

from services.orders.declarations.invoices import INVOICE_FIELDS
from shared.web import Shape, response_schema
from shared.web.fields import Time

Invoice = response_schema("Invoice", INVOICE_FIELDS)


class CreditNote(Shape):
    """What was issued for a refund."""

    number = ma.fields.String()
    refund = ma.fields.Integer(metadata={"description": "the refund's number"})
    date = Time()
