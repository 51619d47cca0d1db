"""What is still to come of a supplier's delivery."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, cast

from services.products.supplier_deliveries import (
    RECEIPT_FIELDS,
    SUPPLIER_DELIVERY_FIELDS,
    Receipt,
    SupplierDelivery,
    deliveryid_of,
)
from shared.couch import Doc

EXPECTED, PART, RECEIVED = "expected", "part", "received"
STATUSES = (EXPECTED, PART, RECEIVED)


@dataclass(frozen=True)
class Delivery:
    """A delivery with its receipts, oldest first."""

    doc: SupplierDelivery
    receipts: Sequence[Receipt]

    @property
    def deliveryid(self) -> str:
        return deliveryid_of(self.doc["_id"])

    @property
    def received(self) -> Counter[str]:
        """How many came of each SKU."""
        found: Counter[str] = Counter()
        for receipt in self.receipts:
            found.update({item["sku"]: item["quantity"] for item in receipt["items"]})
        return found

    @property
    def status(self) -> str:
        received = self.received
        came = all(received[item["sku"]] >= item["quantity"] for item in self.doc["items"])
        if came or any(receipt["complete"] for receipt in self.receipts):
            return RECEIVED
        return PART if self.receipts else EXPECTED

    def answer(self) -> dict[str, Any]:
        received = self.received
        return {
            **SUPPLIER_DELIVERY_FIELDS.shown(self.doc),
            "deliveryid": self.deliveryid,
            "status": self.status,
            "items": [{**item, "received": received[item["sku"]]} for item in self.doc["items"]],
            "receipts": [
                RECEIPT_FIELDS.shown(each) | {"complete": each["complete"]} for each in self.receipts
            ],
        }


def deliveries_of(docs: Iterable[Doc]) -> list[Delivery]:
    """The deliveries among documents whose ids descend, newest first; one whose own document is not there yet is left out."""
    found: list[Delivery] = []
    receipts: list[Receipt] = []
    for doc in docs:
        if ":receipt" in doc["_id"]:
            receipts.append(cast(Receipt, doc))
        else:
            own = [each for each in receipts if deliveryid_of(each["_id"]) == deliveryid_of(doc["_id"])]
            found.append(Delivery(cast(SupplierDelivery, doc), own[::-1]))
            receipts = []
    return found
