"""Goods ordered from suppliers, and what came of them: documents beside the catalogue, written once.

    #supplierdeliveries:{id}                what is to come; ids are ordered by time
    #supplierdeliveries:{id}:receipt0001    what came, in numbered receipts: two people cannot write the same one
    #openreceipts:{id}:receipt0001          while the goods of a receipt are put into stock; what a crash left is finished from it

No category's path begins with `#`, so the partitions hold nothing else.
"""

from typing import Annotated, Any, Final, NotRequired

from services.products.declarations.limits import MAX_STOCK, MOMENT
from shared.couch import DocumentType, StoredDocument, document_id
from shared.fields import Declaration, GroupList, Integer, Moment, Text

PARTITION: Final = "#supplierdeliveries"
OPEN_PARTITION: Final = "#openreceipts"
MAX_ITEMS, MAX_RECEIPTS = 200, 99

ITEM: Final = {
    "sku": Text(1, 64, description="of a variant, or the productid of what has none"),
    "quantity": Integer(1, MAX_STOCK),
}


class SupplierDelivery(StoredDocument):
    """What was ordered from a supplier."""

    supplier: Annotated[str, Text(1, 100)]
    reference: NotRequired[
        Annotated[str, Text(0, 100, default="", description="the supplier's number of it")]
    ]
    expected: NotRequired[
        Annotated[
            str,
            Text(
                0,
                24,
                default="",
                pattern=f"^(|{MOMENT})$",
                pattern_message="Write a time like 2026-11-20T23:11:00.000Z.",
                description="when it should come",
            ),
        ]
    ]
    note: NotRequired[Annotated[str, Text(0, 500, default="")]]
    items: Annotated[list[dict[str, Any]], GroupList(ITEM, MAX_ITEMS, 1)]
    date: Annotated[str, Moment(writable=False, description="when it was written down")]


class Receipt(StoredDocument):
    """What came at one time; with `complete` nothing more is waited for."""

    number: Annotated[int, Integer(1, MAX_RECEIPTS, description="1 for the first, each number once")]
    items: Annotated[list[dict[str, Any]], GroupList(ITEM, MAX_ITEMS)]
    complete: bool
    date: Annotated[str, Moment(writable=False)]


class OpenReceipt(StoredDocument):
    """A receipt of which the goods may not all be in stock."""

    receipt: str
    date: str


SUPPLIER_DELIVERY = DocumentType.declared("supplierdelivery", SupplierDelivery)
SUPPLIER_DELIVERY_FIELDS: Final = Declaration(SupplierDelivery)
RECEIPT = DocumentType.declared("supplierreceipt", Receipt)
RECEIPT_FIELDS: Final = Declaration(Receipt)
OPEN_RECEIPT = DocumentType.declared("opensupplierreceipt", OpenReceipt)


def delivery_key(deliveryid: str) -> str:
    return document_id(PARTITION, deliveryid)


def receipt_key(deliveryid: str, number: int) -> str:
    return document_id(PARTITION, f"{deliveryid}:receipt{number:04d}")


def open_receipt_key(receipt: str) -> str:
    """Of the receipt with this id."""
    return document_id(OPEN_PARTITION, receipt.partition(":")[2])


def deliveryid_of(docid: str) -> str:
    """Of a delivery or of one of its receipts."""
    return docid.partition(":")[2].partition(":")[0]
