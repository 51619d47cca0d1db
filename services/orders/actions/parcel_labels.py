"""Labels for parcels that go out: bought once each for goods that are left to send, used by a dispatch, and given back where none follows.

As with returns, which shipment may be bought is written before it is bought, so that whoever goes on after a crash or a lost answer asks
for the very same one, which the provider sells once.
"""

from dataclasses import replace
from typing import Any, cast

from services.orders.actions.backorders import check_stock
from services.orders.actions.labels import give_back, label_form, label_provider, parcel_to_label
from services.orders.actions.parcels import dispatch_order
from services.orders.actions.refunds import MAX_ATTEMPTS, OrderBusy, same_request
from services.orders.declarations.labels import CANCELLED, REFUSED, Label, LabelledLine
from services.orders.declarations.parts import SoldLine
from services.orders.dependencies import Dependencies
from services.orders.documents import (
    PARCEL_LABEL,
    PARCEL_LABEL_END,
    PARCEL_SHIPMENT,
    order_key,
)
from services.orders.rules.assembly import OrderDocuments
from services.orders.rules.labels import LabelRefused
from services.orders.rules.parcel_labels import (
    ParcelLabel,
    chosen_service,
    open_labels,
    parcel_labels,
    spare_shipments,
    unlabelled,
)
from services.orders.rules.parcels import chosen_lines
from services.orders.rules.progress import NotPossible, require
from services.orders.rules.writing import event_fields
from shared.clock import now
from shared.couch import Document
from shared.errors import Conflict, NotFound

Labelled = tuple[OrderDocuments, ParcelLabel]


class NoSuchLabel(NotFound):
    code, title = "no_such_label", "There is no such label"


class NothingToLabel(Conflict):
    code, title = "nothing_to_label", "There is nothing to buy a label for"


class LabelEnded(Conflict):
    code, title = "label_ended", "This label is used, cancelled or not bought"


def buy_parcel_label(
    deps: Dependencies, found: OrderDocuments, body: dict[str, Any], request: tuple[str, str] | None, by: str
) -> Labelled:
    """The label for a parcel with `items`, or with all that is here and has none yet, by the service that the customer has chosen.

    `weight_grams`: what the parcel weighs, else its goods together. `cheapest`: whatever the customer has chosen. Raises NotPossible,
    NothingToLabel, NoLabelProvider, LabelRefused, Invalid for more than is left or without a weight, and Unavailable: then ask again.
    """
    provider = label_provider(deps)
    for _ in range(MAX_ATTEMPTS):
        if known := next((each for each in parcel_labels(found) if request and _is_of(each, request)), None):
            return _completed(deps, found, known)
        found = check_stock(deps, _sendable(found))
        lines = _lines(found, body.get("items"))
        service = None if body.get("cheapest") else chosen_service(found)
        number = max((each.number for each in parcel_labels(found)), default=0) + 1
        parcel = parcel_to_label(deps, found, lines, body.get("weight_grams"), f"label{number}")
        shipment = provider.prepare(replace(parcel, service=service))
        doc = PARCEL_SHIPMENT.build(
            order_key(found.order["orderid"], f"label{number}shipment"),
            **event_fields(found.order),
            number=number,
            reference=f"label{number}",
            provider=provider.name,
            shipment=shipment,
            lines=lines,
            weight_grams=parcel.grams,
            request=list(request) if request else None,
            by=by,
            **({"service": service} if service else {}),
        )
        stored, created = deps.orders.add(doc)
        if created:
            found = found.with_document(stored)
            return _completed(deps, found, by_number(found, str(number)))
        found = deps.orders.order(found.order["orderid"])
    raise OrderBusy


def buy_parcel_labels(deps: Dependencies, found: OrderDocuments) -> OrderDocuments:
    """The worker's step: purchases that began and did not end. What the provider refuses is written down for people."""
    for label in open_labels(found):
        if label.is_being_bought:
            try:
                found, _ = _bought(deps, found, label)
            except LabelRefused as error:
                found = _ended(deps, found, label, REFUSED, error.noted(found.customer), "worker")
    return found


def dispatch_label(deps: Dependencies, found: OrderDocuments, number: str, by: str) -> OrderDocuments:
    """Hands the label's parcel over: courier, tracking number and link are the label's; a second time changes nothing.

    Raises NoSuchLabel, LabelEnded, and as `dispatch_order`.
    """
    bought, label = _usable(found, number), by_number(found, number)
    items = [{"productid": key, "quantity": quantity} for key, quantity in label.quantities.items()]
    return dispatch_order(
        deps,
        found,
        bought["carrier"],
        label.courierid,
        by,
        items=items,
        tracking_url=bought["tracking_url"],
    )


def cancel_label(deps: Dependencies, found: OrderDocuments, number: str, by: str) -> Labelled:
    """No parcel goes out with it: its goods can have another, and the worker asks its money back. Raises NoSuchLabel, LabelEnded."""
    label = by_number(found, number)
    if label.was_used:
        raise LabelEnded(f"A parcel has left with label {number}.")
    if label.end is None:
        found = _ended(deps, found, label, CANCELLED, "", by)
    return found, by_number(found, number)


def give_back_parcel_labels(deps: Dependencies, found: OrderDocuments) -> OrderDocuments:
    """The worker's step, once nobody can be buying them or sending parcels with them."""
    for label in parcel_labels(found):
        if not label.owes_refund or label.seconds_to_refund(now()) > 0:
            continue
        found = give_back(deps, found, label.reference, "refund", label.shipment["shipment"])
    return found


def give_back_spare_labels(deps: Dependencies, found: OrderDocuments) -> OrderDocuments:
    """The worker's step: of shipments that gave way to those of another replica."""
    for each in spare_shipments(found):
        found = give_back(deps, found, each["reference"], "refund", each["shipment"])
    return found


def parcel_label_form(deps: Dependencies, found: OrderDocuments, number: str, form: str) -> tuple[str, bytes]:
    """The PDF of a customs form of a label that may be used, or was. Raises as `parcel_label_pdf`, NoLabelForm."""
    return label_form(deps, found, _usable(found, number), f"label-{number}", form)


def parcel_label_pdf(deps: Dependencies, found: OrderDocuments, number: str) -> tuple[str, bytes]:
    """The PDF of a label that may be used, or was. Raises NoSuchLabel, LabelEnded, Unavailable."""
    name = f"{found.order.get('number') or found.order['orderid']}-label-{number}"
    return name, label_provider(deps).document(_usable(found, number)["url"])


def by_number(found: OrderDocuments, number: str) -> ParcelLabel:
    """Raises NoSuchLabel."""
    label = next((each for each in parcel_labels(found) if str(each.number) == number), None)
    if label is None:
        raise NoSuchLabel(f"This order has no label {number}.")
    return label


def _usable(found: OrderDocuments, number: str) -> Label:
    """What was bought as a label that may be used, or was. Raises NoSuchLabel, LabelEnded."""
    label = by_number(found, number)
    if label.label is None or not (label.is_open or label.was_used):
        raise LabelEnded(f"Label {number} cannot be used any more, or is not bought yet.")
    return label.label


def _is_of(label: ParcelLabel, request: tuple[str, str]) -> bool:
    return same_request(label.shipment, request)


def _sendable(found: OrderDocuments) -> OrderDocuments:
    """Raises NotPossible, NothingToLabel where nothing of the order can go out in a parcel."""
    require(found.progress, "dispatch")
    if found.is_being_cancelled:
        raise NotPossible("The order is being cancelled.", order_status=found.status)
    shipping = found.order.get("shipping")
    if found.goes_by_email or (shipping and shipping.get("collect_from")):
        raise NothingToLabel("Nothing of this order goes out in a parcel.")
    return found


def _lines(found: OrderDocuments, items: list[dict[str, Any]] | None) -> list[LabelledLine]:
    left = unlabelled(found)
    if not left:
        raise NothingToLabel("All that is left of the order and is here has a label.")
    return [_labelled(line) for line in chosen_lines(found.order["basket"], left, items, "sent")]


def _labelled(line: SoldLine) -> LabelledLine:
    return cast(LabelledLine, {name: value for name, value in line.items() if name != "amount"})


def _completed(deps: Dependencies, found: OrderDocuments, label: ParcelLabel) -> Labelled:
    """Bought unless it is. A refusal ends the label, so that its goods can have another; who asks the same again is told the same."""
    if label.end is not None and label.end["outcome"] == REFUSED:
        raise LabelRefused(label.end["problem"])
    if not label.is_being_bought:
        return found, label
    try:
        return _bought(deps, found, label)
    except LabelRefused as error:
        _ended(deps, found, label, REFUSED, error.noted(found.customer), "shop")
        raise


def _bought(deps: Dependencies, found: OrderDocuments, label: ParcelLabel) -> Labelled:
    provider, shipment = label_provider(deps), label.shipment["shipment"]
    bought = provider.buy(shipment, found.order["total"]["currency"], label.service)
    doc: Label = PARCEL_LABEL.build(
        order_key(found.order["orderid"], label.reference),
        **event_fields(found.order),
        reference=label.reference,
        provider=provider.name,
        shipment=shipment,
        carrier=bought.carrier,
        service=bought.service,
        tracking_code=bought.tracking_code,
        tracking_url=bought.tracking_url,
        url=bought.url,
        cost=bought.cost,
        **({"forms": list(bought.forms)} if bought.forms else {}),
    )
    found = found.with_document(deps.orders.add(doc)[0])
    return found, by_number(found, str(label.number))


def _ended(
    deps: Dependencies, found: OrderDocuments, label: ParcelLabel, outcome: str, problem: str, by: str
) -> OrderDocuments:
    end: Document = PARCEL_LABEL_END.build(
        order_key(found.order["orderid"], f"{label.reference}ended"),
        **event_fields(found.order),
        reference=label.reference,
        outcome=outcome,
        problem=problem,
        by=by,
    )
    return found.with_document(deps.orders.add(end)[0])
