"""Goods that suppliers bring: what is expected, and what came, which goes into stock."""

import logging
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from services.products.actions import catalogue, maintenance, stock
from services.products.actions.invalidation import invalidate_pages
from services.products.dependencies import Dependencies
from services.products.rules.ledger import ADJUSTED, Line
from services.products.rules.supplier_deliveries import RECEIVED, Delivery
from services.products.supplier_deliveries import (
    MAX_RECEIPTS,
    RECEIPT,
    SUPPLIER_DELIVERY,
    SUPPLIER_DELIVERY_FIELDS,
    Receipt,
    delivery_key,
    deliveryid_of,
    receipt_key,
)
from shared.clock import iso, parse
from shared.couch import UpdateConflict
from shared.errors import Conflict, Invalid, NotFound

log = logging.getLogger(__name__)

FINISH_AFTER = timedelta(minutes=2)
"""Who received the goods is still at it, until then."""


class NoSuchDelivery(NotFound):
    code, title = "no_such_delivery", "No such delivery"


class ReceiptExists(Conflict):
    code, title = "receipt_exists", "Somebody else received goods of this delivery"


class DeliveryReceived(Conflict):
    code, title = "delivery_received", "Nothing more is waited for"


def get(deps: Dependencies, deliveryid: str) -> Delivery:
    """1 partition query. Raises NoSuchDelivery."""
    found = deps.supplier_deliveries.get(deliveryid)
    if found is None:
        raise NoSuchDelivery(f"There is no delivery {deliveryid}.")
    return found


def expect(deps: Dependencies, deliveryid: str, content: Mapping[str, Any], date: str) -> Delivery:
    """Writes down what is to come, once for each `deliveryid`. 1 global query, 1 write. Raises Invalid for what is not sold here, or named
    twice."""
    _check_items(content["items"])
    known = catalogue.current(deps, [each["sku"] for each in content["items"]])
    if missing := [each["sku"] for each in content["items"] if each["sku"] not in known]:
        raise Invalid(errors={"items": [f"Nothing is sold as {sku}." for sku in missing]})
    doc = SUPPLIER_DELIVERY.build(
        delivery_key(deliveryid), date=date, **SUPPLIER_DELIVERY_FIELDS.stored(content)
    )
    return Delivery(deps.supplier_deliveries.add(doc), ())


def receive(
    deps: Dependencies,
    deliveryid: str,
    number: int,
    items: Sequence[Mapping[str, Any]],
    date: str,
    *,
    complete: bool,
) -> Delivery:
    """Receipt `number` puts what came into stock, once; with `complete` nothing more is waited for.

    Raises ReceiptExists where somebody else has written this receipt, DeliveryReceived, Invalid.
    """
    found = get(deps, deliveryid)
    wanted = [{"sku": each["sku"], "quantity": each["quantity"]} for each in items]
    written = next((each for each in found.receipts if each["number"] == number), None)
    if written is not None:
        if (written["items"], written["complete"]) != (wanted, complete):
            raise ReceiptExists("Look at what they received, and receive the rest.")
        return found
    _check_receipt(found, number, wanted)
    doc = RECEIPT.build(
        receipt_key(deliveryid, number), number=number, items=wanted, complete=complete, date=date
    )
    try:
        deps.supplier_deliveries.add_receipt(deliveryid, doc)
    except UpdateConflict:
        raise ReceiptExists("Look at what they received, and receive the rest.") from None
    _put_into_stock(deps, found, doc, date, repeated=False)
    return Delivery(found.doc, [*found.receipts, doc])


def finish_receipts(deps: Dependencies, now: datetime) -> int:
    """Puts into stock what a crash left of receipts; how many receipts that were. 1 partition query where there are none."""
    finished = 0
    for note in deps.supplier_deliveries.open_receipts():
        if parse(note["date"]) > now - FINISH_AFTER:
            continue
        receipt = deps.supplier_deliveries.receipt(note["receipt"])
        if receipt is None:
            deps.supplier_deliveries.close_receipt(note["receipt"])
            continue
        delivery = get(deps, deliveryid_of(receipt["_id"]))
        _put_into_stock(deps, delivery, receipt, iso(now), repeated=True)
        finished += 1
    return finished


def _check_items(items: Sequence[Mapping[str, Any]]) -> None:
    skus = [each["sku"] for each in items]
    if twice := next((sku for sku in skus if skus.count(sku) > 1), None):
        raise Invalid(errors={"items": [f"{twice} comes twice."]})


def _check_receipt(found: Delivery, number: int, items: Sequence[Mapping[str, Any]]) -> None:
    if found.status == RECEIVED:
        raise DeliveryReceived("All of it came, or was not waited for any more.")
    _check_items(items)
    ordered = {each["sku"] for each in found.doc["items"]}
    if strange := [each["sku"] for each in items if each["sku"] not in ordered]:
        raise Invalid(errors={"items": [f"{sku} is not in this delivery." for sku in strange]})
    following = len(found.receipts) + 1
    if number != following or following > MAX_RECEIPTS:
        raise Invalid(errors={"number": [f"The next receipt is number {following}."]})


def _put_into_stock(
    deps: Dependencies, delivery: Delivery, receipt: Receipt, date: str, *, repeated: bool
) -> None:
    """Each SKU's movement has a mark of its own, so that a repetition finds it."""
    found = catalogue.current(deps, [each["sku"] for each in receipt["items"]])
    note = f"From {delivery.doc['supplier']} {delivery.doc.get('reference', '')}".strip()
    moved: dict[str, list[Line]] = {}
    for item in receipt["items"]:
        if item["sku"] not in found:
            log.warning("%s of receipt %s is sold no more", item["sku"], receipt["_id"])
            continue
        product, mark = found[item["sku"]], f"{receipt['_id']}:{item['sku']}"
        line = stock.line_for(product, item["sku"], None)
        moved.setdefault(product["_id"], []).append(line)
        if not (repeated and deps.ledger.has_movement(line, mark)):
            deps.ledger.append(line, item["quantity"], ADJUSTED, mark, date, note=note)
    deps.supplier_deliveries.close_receipt(receipt["_id"])
    maintenance.refresh_stock(deps, moved)
    invalidate_pages(deps, [each for each in found.values() if each["_id"] in moved])
