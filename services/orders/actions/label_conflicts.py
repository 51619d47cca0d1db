"""Labels that two replicas have bought apart for the same goods: one stays, the other is given back.

Which shipment is bought is decided by one document, and what was bought is another: both may have two revisions. The shipment is settled first,
and the label goes by it.
"""

from typing import Final

from services.orders.dependencies import Dependencies
from services.orders.documents import (
    PARCEL_LABEL,
    PARCEL_SHIPMENT,
    RETURN_LABEL,
    RETURN_SHIPMENT,
    SPARE_SHIPMENT,
    order_key,
)
from services.orders.rules.labels import IN_FLIGHT
from services.orders.rules.order_returns import LABEL_KEY, SHIPMENT_KEY
from services.orders.rules.writing import event_fields
from shared.clock import now, parse
from shared.couch import Doc
from shared.errors import Conflict, NotFound

_LABELS: Final = (PARCEL_LABEL.name, RETURN_LABEL.name)
_LABEL_KEYS: Final = {PARCEL_SHIPMENT.name: "", RETURN_SHIPMENT.name: LABEL_KEY}
"""What follows the reference of a shipment in the key of its label."""


def kept_shipment(deps: Dependencies, leaves: list[Doc]) -> str:
    """Whose of these revisions stays: of the shipment whose parcel has left, else of one that is bought, else "" as for other documents.

    Raises Conflict while one may just be bought, or while a label's shipment is not settled yet: then they are looked at again.
    """
    first = leaves[0]
    if first["type"] in _LABELS:
        shipments = _leaves(deps, first, f"{first['reference']}{SHIPMENT_KEY}")
        if len(shipments) > 1:
            raise Conflict("Which shipment stays is not settled yet.")
        return shipments[0]["shipment"] if shipments else ""
    if first["type"] not in _LABEL_KEYS:
        return ""
    if now() < parse(max(leaf["date"] for leaf in leaves)) + IN_FLIGHT:
        raise Conflict("One of them may just be bought.")
    labels = _leaves(deps, first, f"{first['reference']}{_LABEL_KEYS[first['type']]}")
    if not labels:
        return ""
    decided = deps.orders.order(first["orderid"]).dispatch_decisions
    sent = {(each.get("courier"), each.get("courierid")) for each in decided}
    ranked = sorted(labels, key=lambda label: (not _was_sent(label, sent), label["date"], label["shipment"]))
    return str(ranked[0]["shipment"])


def keep_spare(deps: Dependencies, loser: Doc, stays: Doc) -> None:
    """Writes down, before the revision goes, that its label is to be given back."""
    if loser["type"] not in (*_LABELS, *_LABEL_KEYS) or loser["shipment"] == stays["shipment"]:
        return
    reference = f"spare-{loser['shipment']}"
    deps.orders.add(
        SPARE_SHIPMENT.build(
            order_key(loser["orderid"], reference),
            **event_fields(deps.orders.order(loser["orderid"]).order),
            reference=reference,
            provider=loser["provider"],
            shipment=loser["shipment"],
        )
    )


def _was_sent(label: Doc, sent: set[tuple[str | None, str | None]]) -> bool:
    return (label["carrier"], label["tracking_code"] or label["shipment"]) in sent


def _leaves(deps: Dependencies, doc: Doc, key: str) -> list[Doc]:
    try:
        return deps.orders.leaves(order_key(doc["orderid"], key))
    except NotFound:
        return []
