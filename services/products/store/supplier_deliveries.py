"""Deliveries of suppliers with their receipts: one partition, newest first."""

from services.products.rules.supplier_deliveries import Delivery, deliveries_of
from services.products.supplier_deliveries import (
    OPEN_PARTITION,
    OPEN_RECEIPT,
    PARTITION,
    RECEIPT,
    SUPPLIER_DELIVERY,
    OpenReceipt,
    Receipt,
    SupplierDelivery,
    delivery_key,
    open_receipt_key,
    receipt_key,
)
from shared.couch import Database, PageOf, UpdateConflict
from shared.errors import Unavailable

MAX_DOCUMENTS = 1000
"""Read for one page: more than the longest delivery has."""


class NotSure(Unavailable):
    code, title = "not_sure", "Too few database nodes answer"


class SupplierDeliveries:
    """Errors are those of `shared.couch`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def page(self, limit: int, before: str | None) -> PageOf[Delivery]:
        """The newest first, those before a deliveryid. 1 partition query."""
        docs = self._database.partition(PARTITION).all(
            descending=True, limit=MAX_DOCUMENTS, begin_at=delivery_key(before) if before else None
        )
        found = deliveries_of(doc for doc in docs if before is None or doc["_id"] != delivery_key(before))
        page = found[:limit]
        more = len(found) > limit or len(docs) == MAX_DOCUMENTS
        return PageOf(page, page[-1].deliveryid if page and more else None)

    def get(self, deliveryid: str) -> Delivery | None:
        """1 partition query."""
        docs = self._database.partition(PARTITION).all(deliveryid, descending=True)
        return next((each for each in deliveries_of(docs) if each.deliveryid == deliveryid), None)

    def receipt(self, docid: str) -> Receipt | None:
        """1 read."""
        return RECEIPT.typed(self._database.get_many([docid]).get(docid))

    def add(self, doc: SupplierDelivery) -> SupplierDelivery:
        """What is stored by this id, also where that was there already. 1 write, then 1 read. Raises Unavailable."""
        [written] = self._database.put_many([doc])
        written.raise_if_refused()
        if written.error is None:
            return doc
        known = SUPPLIER_DELIVERY.typed(self._database.get_many([doc["_id"]]).get(doc["_id"]))
        if known is None:
            raise NotSure("The delivery may be stored: look again in a minute.", retry_after=60)
        return known

    def add_receipt(self, deliveryid: str, doc: Receipt) -> None:
        """2 writes. Raises UpdateConflict where there is one with this number, and NotSure when a cluster cannot say so."""
        docid = receipt_key(deliveryid, doc["number"])
        note = OPEN_RECEIPT.build(open_receipt_key(docid), receipt=docid, date=doc["date"])
        self._database.put_many([note])
        [written] = self._database.put_many([doc])
        if written.error:
            raise UpdateConflict(f"There is a receipt {doc['number']} already.")
        if written.accepted:
            raise NotSure("The receipt may be stored: look again in a minute.", retry_after=60)

    def open_receipts(self) -> list[OpenReceipt]:
        """1 partition query."""
        return OPEN_RECEIPT.among(self._database.partition(OPEN_PARTITION).all())

    def close_receipt(self, docid: str) -> None:
        """The goods of the receipt with this id are in stock. 1 read and 1 write."""
        found = self._database.get_many([open_receipt_key(docid)])
        for doc in found.values():
            self._database.delete(doc["_id"], doc["_rev"])
