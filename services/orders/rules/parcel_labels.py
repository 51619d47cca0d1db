"""Labels for parcels that go out: which goods have one, and which will never be used.

They are numbered: `label1shipment`, `label2shipment`, ... Each is for some of the goods that nobody has sent or cancelled, and that the ones
before have left. Who wants to buy one has read the last and writes the next, whose id only one writer can take. What is left to send never
grows again, so that a label whose goods are not left any more was used, or never will be.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Final, cast

from services.orders.declarations.events import OrderDispatch
from services.orders.declarations.labels import (
    CANCELLED,
    PARCEL_SHIPMENT_FIELDS,
    REFUSED,
    Label,
    LabelRefund,
    ParcelLabelEnd,
    ParcelShipment,
    SpareShipment,
    label_fields,
)
from services.orders.declarations.parts import CarrierService, line_key
from services.orders.documents import (
    LABEL_REFUND,
    PARCEL_LABEL,
    PARCEL_LABEL_END,
    PARCEL_SHIPMENT,
    SPARE_SHIPMENT,
)
from services.orders.rules.assembly import OrderDocuments
from services.orders.rules.labels import GIVEN_BACK, IN_FLIGHT
from services.orders.rules.parcels import Quantities
from shared.clock import parse

BUYING, BOUGHT, USED, UNUSED = "buying", "bought", "used", "unused"
LABEL_STATUSES: Final = (BUYING, BOUGHT, USED, UNUSED, CANCELLED, REFUSED)


@dataclass(frozen=True)
class ParcelLabel:
    """`was_used`: a parcel has left with it; `fits`: its goods are still left to send."""

    shipment: ParcelShipment
    label: Label | None
    end: ParcelLabelEnd | None
    refund: LabelRefund | None
    was_used: bool
    fits: bool
    last_event: str
    """When something was last decided of the order, or of this label."""

    @property
    def number(self) -> int:
        return self.shipment["number"]

    @property
    def reference(self) -> str:
        return self.shipment["reference"]

    @property
    def service(self) -> CarrierService | None:
        return self.shipment.get("service")

    @property
    def courierid(self) -> str:
        """What a parcel with this label is known by: some services have no tracking number."""
        return (self.label and self.label["tracking_code"]) or self.shipment["shipment"]

    def is_of(self, parcel: OrderDispatch) -> bool:
        """Whether this parcel has left with it."""
        carrier = self.label and self.label["carrier"]
        return (carrier, self.courierid) == (parcel["courier"], parcel["courierid"])

    @property
    def quantities(self) -> Quantities:
        return {line_key(line): line["quantity"] for line in self.shipment["lines"]}

    @property
    def is_open(self) -> bool:
        """Whether a parcel may still leave with it."""
        return not self.was_used and self.end is None and self.fits

    @property
    def is_being_bought(self) -> bool:
        return self.is_open and self.label is None

    @property
    def owes_refund(self) -> bool:
        """Whether its money, or what may have been paid for it, is still to be asked back."""
        return not self.was_used and not self.is_open and self.refund is None

    @property
    def status(self) -> str:
        if self.was_used:
            return USED
        if self.end is not None:
            return self.end["outcome"]
        if not self.fits:
            return UNUSED
        return BOUGHT if self.label else BUYING

    def seconds_to_refund(self, moment: datetime) -> float:
        """Until nobody can be buying it, or handing over a parcel with it, any more."""
        return (parse(self.last_event) + IN_FLIGHT - moment).total_seconds()


def parcel_labels(found: OrderDocuments) -> list[ParcelLabel]:
    """By number."""
    kinds = (PARCEL_SHIPMENT, PARCEL_LABEL, PARCEL_LABEL_END, LABEL_REFUND)
    by_reference: dict[str, dict[str, Any]] = {}
    for doc in found.of_type(*(kind.name for kind in kinds)):
        by_reference.setdefault(doc["reference"], {})[doc["type"]] = doc
    groups = [each for each in by_reference.values() if PARCEL_SHIPMENT.name in each]
    if not groups:
        return []
    is_over = found.is_being_cancelled or found.cancellation is not None
    left, decided = {} if is_over else found.left_to_send, _last_decision(found)
    labels = [_label(each, found, left, decided) for each in groups]
    return sorted(labels, key=lambda label: label.number)


def label_work(found: OrderDocuments) -> bool:
    """Whether a label, of goods that go out or come back, is to be bought or given back, now or in a minute."""
    parcels, returns = parcel_labels(found), found.order_returns
    return (
        any(each.is_being_bought or each.owes_refund for each in parcels)
        or any(each.buys_label or each.owes_label_refund for each in returns)
        or bool(spare_shipments(found))
    )


def spare_shipments(found: OrderDocuments) -> list[SpareShipment]:
    """Those whose money, if they were bought, was not asked back yet."""
    asked = {refund["reference"] for refund in found.of_type(LABEL_REFUND.name)}
    spare = SPARE_SHIPMENT.among(found.of_type(SPARE_SHIPMENT.name))
    return [each for each in spare if each["reference"] not in asked]


def open_labels(found: OrderDocuments) -> list[ParcelLabel]:
    return [label for label in parcel_labels(found) if label.is_open]


def has_paper_form(found: OrderDocuments, parcel: OrderDispatch | None) -> bool:
    """Whether a customs form on paper goes with the parcel that has left, or, without one, with a label that waits for its parcel."""
    labels = [
        each
        for each in parcel_labels(found)
        if (each.is_open if parcel is None else each.was_used and each.is_of(parcel))
    ]
    return any(not form["sent"] for each in labels if each.label for form in each.label.get("forms", ()))


def unlabelled(found: OrderDocuments) -> Quantities:
    """How many of each line are here, neither sent nor cancelled, and have no label."""
    taken: Quantities = {}
    for label in open_labels(found):
        for key, quantity in label.quantities.items():
            taken[key] = taken.get(key, 0) + quantity
    return {
        key: rest for key, count in found.ready_to_send.items() if (rest := count - taken.get(key, 0)) > 0
    }


def chosen_service(found: OrderDocuments) -> CarrierService | None:
    """What the customer has paid for, where a carrier's rate was chosen; None: any."""
    shipping = found.order.get("shipping")
    return shipping.get("carrier") if shipping else None


def label_answer(label: ParcelLabel) -> dict[str, Any]:
    """As staff see it."""
    nothing = dict.fromkeys(("carrier", "service", "tracking_code", "tracking_url"), "")
    return {
        **PARCEL_SHIPMENT_FIELDS.shown(label.shipment),
        **(label_fields(label.label) if label.label else nothing),
        "status": label.status,
        "date": label.shipment["date"],
        "cost": label.label["cost"] if label.label else None,
        "problem": label.end["problem"] if label.end else "",
        "refunded": bool(label.refund and label.refund["status"] in GIVEN_BACK),
    }


def _label(docs: Mapping[str, Any], found: OrderDocuments, left: Quantities, decided: str) -> ParcelLabel:
    shipment, label = docs[PARCEL_SHIPMENT.name], cast(Label | None, docs.get(PARCEL_LABEL.name))
    end = cast(ParcelLabelEnd | None, docs.get(PARCEL_LABEL_END.name))
    fits = all(line["quantity"] <= left.get(line_key(line), 0) for line in shipment["lines"])
    dates = [decided, *(doc["date"] for doc in (shipment, label, end) if doc)]
    known = ParcelLabel(shipment, label, end, docs.get(LABEL_REFUND.name), False, fits, max(dates))
    return replace(known, was_used=_was_used(found, known))


def _was_used(found: OrderDocuments, known: ParcelLabel) -> bool:
    if known.label is None:
        return False
    sent = (known.label["carrier"], known.courierid)
    decided = ((each.get("courier"), each.get("courierid")) for each in found.dispatch_decisions)
    return sent in decided or any(parcel.is_sent_as(*sent) for parcel in found.parcels)


def _last_decision(found: OrderDocuments) -> str:
    ends = [found.cancellation] if found.cancellation else []
    return max((doc["date"] for doc in (*found.decisions.values(), *ends)), default="")
