"""What requests about suppliers' deliveries carry, and their answers."""

import marshmallow as ma

from services.products.declarations.limits import MAX_STOCK
from services.products.rules.supplier_deliveries import STATUSES
from services.products.supplier_deliveries import MAX_ITEMS, MAX_RECEIPTS, SUPPLIER_DELIVERY_FIELDS
from shared.web import Shape, page_schema, request_schema
from shared.web.fields import StrictInteger, Text, Time

DeliveryContent = request_schema("SupplierDeliveryContent", SUPPLIER_DELIVERY_FIELDS)


class ReceivedItem(Shape):
    sku = Text(1, 64, required=True)
    quantity = StrictInteger(1, MAX_STOCK, required=True)


class ReceiptContent(Shape):
    number = StrictInteger(
        1, MAX_RECEIPTS, required=True, metadata={"description": "one more than there are receipts"}
    )
    items = ma.fields.List(
        ma.fields.Nested(ReceivedItem), required=True, validate=ma.validate.Length(0, MAX_ITEMS)
    )
    complete = ma.fields.Boolean(
        load_default=False, metadata={"description": "what did not come is not waited for any more"}
    )


class ExpectedItem(ReceivedItem):
    received = StrictInteger(0, required=True)


class SupplierReceipt(Shape):
    number = StrictInteger(1, required=True)
    items = ma.fields.List(ma.fields.Nested(ReceivedItem), required=True)
    complete = ma.fields.Boolean(required=True)
    date = Time(required=True)


class Delivery(Shape):
    deliveryid = ma.fields.String(required=True)
    supplier = ma.fields.String(required=True)
    reference = ma.fields.String(required=True)
    expected = ma.fields.String(required=True)
    note = ma.fields.String(required=True)
    date = Time(required=True)
    status = ma.fields.String(required=True, validate=ma.validate.OneOf(STATUSES))
    items = ma.fields.List(ma.fields.Nested(ExpectedItem), required=True)
    receipts = ma.fields.List(ma.fields.Nested(SupplierReceipt), required=True)


Deliveries = page_schema("SupplierDeliveries", Delivery)
