"""Labels for the parcels of returns: bought once each, and given back where no parcel comes.

Which shipment may be bought for a return is written before it is bought, so that whoever goes on after a crash or a lost answer asks for the
very same one, which the provider sells once.
"""

from services.orders.actions.labels import give_back, label_form, label_provider, parcel_to_label
from services.orders.actions.return_requests import ReturnNotApproved, by_number, by_reference
from services.orders.clients.labels import LabelProvider
from services.orders.declarations.labels import Label
from services.orders.dependencies import Dependencies
from services.orders.documents import (
    LABEL_PROBLEM,
    RETURN_LABEL,
    RETURN_SHIPMENT,
    order_key,
)
from services.orders.rules.assembly import OrderDocuments
from services.orders.rules.labels import LabelRefused, NoLabelProvider
from services.orders.rules.order_returns import (
    APPROVED,
    LABEL_KEY,
    LABEL_REFUND_KEY,
    PROBLEM_KEY,
    SHIPMENT_KEY,
    OrderReturn,
)
from services.orders.rules.writing import event_fields
from shared.clock import now
from shared.errors import Invalid, NotFound


class NoLabel(NotFound):
    code, title = "no_label", "There is no label for this return"


def buy_label(
    deps: Dependencies, found: OrderDocuments, number: str, grams: int | None, by: str
) -> tuple[OrderDocuments, Label]:
    """The label of an approved return, bought unless it is there. `grams`: what the parcel weighs, else its goods together.

    Raises NoSuchReturn, ReturnNotApproved, NoLabelProvider, LabelRefused, Invalid where the weight is not known, and Unavailable: then ask again.
    """
    back = by_number(found, number)
    if back.label is not None:
        return found, back.label
    if back.status != APPROVED:
        raise ReturnNotApproved("Only an approved return gets a label, until its goods are here.")
    provider = label_provider(deps)
    found = _with_shipment(deps, found, back, grams, by)
    return _bought(deps, provider, found, by_reference(found, back.reference))


def buy_labels(deps: Dependencies, found: OrderDocuments) -> OrderDocuments:
    """The worker's step. What the provider refuses, or nobody knows the weight of, is left to people."""
    for back in found.order_returns:
        if back.buys_label:
            try:
                found, _ = buy_label(deps, found, str(back.number), None, "worker")
            except (LabelRefused, Invalid, NoLabelProvider) as error:
                key = order_key(found.order["orderid"], f"{back.reference}{PROBLEM_KEY}")
                kept = error.noted(found.customer) if isinstance(error, LabelRefused) else error.detail
                problem = LABEL_PROBLEM.build(
                    key, **event_fields(found.order), reference=back.reference, problem=kept
                )
                found = found.with_document(deps.orders.add(problem)[0])
    return found


def give_back_labels(deps: Dependencies, found: OrderDocuments) -> OrderDocuments:
    """The worker's step, once nobody can be buying them: no parcel comes for these."""
    for back in found.order_returns:
        if not back.owes_label_refund or back.shipment is None:
            continue
        if back.seconds_to_label_refund(now()) > 0:
            continue
        found = give_back(deps, found, back.reference, LABEL_REFUND_KEY, back.shipment["shipment"])
    return found


def label_document(deps: Dependencies, found: OrderDocuments, number: str) -> tuple[str, bytes]:
    """The PDF of the label, while the parcel may still be sent. Raises NoSuchReturn, NoLabel, Unavailable."""
    name = f"{found.order.get('number') or found.order['orderid']}-return-label-{number}"
    return name, label_provider(deps).document(_needed(found, number)["url"])


def label_form_document(
    deps: Dependencies, found: OrderDocuments, number: str, form: str
) -> tuple[str, bytes]:
    """The PDF of a customs form of the label, likewise. Raises also NoLabelForm."""
    return label_form(deps, found, _needed(found, number), f"return-label-{number}", form)


def _needed(found: OrderDocuments, number: str) -> Label:
    """Raises NoSuchReturn, NoLabel."""
    back = by_number(found, number)
    if back.label is None or back.status != APPROVED:
        raise NoLabel("There is no label, or it is not needed any more.")
    return back.label


def _with_shipment(
    deps: Dependencies, found: OrderDocuments, back: OrderReturn, grams: int | None, by: str
) -> OrderDocuments:
    """Which shipment is bought is decided by who writes it first; a prepared one that is not bought costs nothing."""
    if back.shipment is not None:
        return found
    provider = label_provider(deps)
    address = deps.terms.returns.address
    parcel = parcel_to_label(deps, found, back.lines, grams, back.reference, back_to=address)
    shipment = provider.prepare(parcel)
    doc = RETURN_SHIPMENT.build(
        order_key(found.order["orderid"], f"{back.reference}{SHIPMENT_KEY}"),
        **event_fields(found.order),
        reference=back.reference,
        provider=provider.name,
        shipment=shipment,
        by=by,
    )
    return found.with_document(deps.orders.add(doc)[0])


def _bought(
    deps: Dependencies, provider: LabelProvider, found: OrderDocuments, back: OrderReturn
) -> tuple[OrderDocuments, Label]:
    if back.shipment is None:
        raise TypeError("a label is bought of a shipment")
    bought = provider.buy(back.shipment["shipment"], found.order["total"]["currency"])
    label: Label = RETURN_LABEL.build(
        order_key(found.order["orderid"], f"{back.reference}{LABEL_KEY}"),
        **event_fields(found.order),
        reference=back.reference,
        provider=provider.name,
        shipment=back.shipment["shipment"],
        carrier=bought.carrier,
        service=bought.service,
        tracking_code=bought.tracking_code,
        tracking_url=bought.tracking_url,
        url=bought.url,
        cost=bought.cost,
        **({"forms": list(bought.forms)} if bought.forms else {}),
    )
    stored, _ = deps.orders.add(label)
    return found.with_document(stored), stored
