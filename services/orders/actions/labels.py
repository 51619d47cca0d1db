"""What buying a label takes, for a parcel that goes out or comes back: a provider, the two addresses, the weight, a customs declaration."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

from services.orders.clients.labels import LabelProvider
from services.orders.declarations.labels import Label
from services.orders.declarations.parts import line_key
from services.orders.dependencies import Dependencies
from services.orders.documents import LABEL_REFUND, order_key
from services.orders.rules.assembly import OrderDocuments
from services.orders.rules.customs import RETURNED_GOODS, check_weight, crosses_customs, declaration
from services.orders.rules.labels import (
    LabelParcel,
    LabelRefused,
    NoLabelProvider,
    Place,
    place,
    weight,
)
from services.orders.rules.writing import event_fields
from shared.errors import NotFound

NO_ADDRESS: Final = "Write street, postcode and city of the shop's address, in the shop's settings."
NO_RETURN_ADDRESS: Final = (
    "Write street, postcode and city of where returned goods go, in the shop's settings."
)


class NoLabelForm(NotFound):
    code, title = "no_label_form", "There is no such form"


def label_provider(deps: Dependencies) -> LabelProvider:
    """Raises NoLabelProvider."""
    if deps.label_provider is None:
        raise NoLabelProvider("LABEL_PROVIDER names nobody who sells labels.")
    return deps.label_provider


def customers_place(deps: Dependencies, found: OrderDocuments) -> Place:
    """Raises LabelRefused for an address that carriers do not take."""
    customer = found.customer
    if customer is None or customer.get("erased"):
        raise LabelRefused("The customer's address is not there any more.")
    address = customer["deliveryAddress"]
    name = (address.get("name") if isinstance(address, dict) else "") or customer["name"]
    there = place(name, address, deps.terms.country)
    if there is None:
        raise LabelRefused("The customer's address lacks a street or a city, which carriers ask for.")
    return there


def shops_place(deps: Dependencies, address: str, problem: str) -> Place:
    """`address`, else the shop's own. Raises LabelRefused with this `problem` where neither says enough."""
    terms = deps.terms
    there = place(terms.shop.name, address or "\n".join(terms.shop.address), terms.country)
    if there is None:
        raise LabelRefused(problem)
    return there


def parcel_to_label(
    deps: Dependencies,
    found: OrderDocuments,
    lines: Sequence[Any],
    grams: int | None,
    reference: str,
    back_to: str | None = None,
) -> LabelParcel:
    """The parcel of these lines of the order, as a carrier takes it. `grams`: what it weighs, else its goods together as they weigh now.
    `back_to`: where it comes back to ("": the shop's own address); None: it goes out.

    At most 1 call: without the weight, or across a customs border. Raises LabelRefused and Invalid where it cannot be sold, before anything is.
    """
    order, comes_back = found.order, back_to is not None
    customer = customers_place(deps, found)
    shop = shops_place(deps, back_to or "", NO_RETURN_ADDRESS if comes_back else NO_ADDRESS)
    declared = crosses_customs(customer.parts, shop.parts)
    offers = _offers(deps, found, lines) if declared or not grams else {}
    customs = None
    if declared:
        terms = replace(deps.terms.customs, contents=RETURNED_GOODS) if comes_back else deps.terms.customs
        ends = (customer, shop) if comes_back else (shop, customer)
        customs = declaration(order, lines, offers, terms, *ends)
        check_weight(customs, grams)
    return LabelParcel(
        customer,
        shop,
        grams or weight(lines, {key: offer.get("weight_grams") or 0 for key, offer in offers.items()}),
        f"{order['orderid']}-{reference}",
        order["total"]["currency"],
        comes_back=comes_back,
        customs=customs,
    )


def _offers(deps: Dependencies, found: OrderDocuments, lines: Sequence[Any]) -> dict[str, Any]:
    keys = [line_key(line) for line in lines]
    return deps.products.lookup(keys, currency=found.order["total"]["currency"])


def label_form(
    deps: Dependencies, found: OrderDocuments, label: Label, name: str, number: str
) -> tuple[str, bytes]:
    """The PDF of one of the forms that go with a label, numbered from 1. Raises NoLabelForm, Unavailable."""
    forms = label.get("forms", [])
    form = next((each for index, each in enumerate(forms, 1) if str(index) == number), None)
    if form is None:
        raise NoLabelForm("This label has no such form.")
    order = found.order.get("number") or found.order["orderid"]
    return f"{order}-{name}-{form['kind']}", label_provider(deps).document(form["url"])


def give_back(
    deps: Dependencies, found: OrderDocuments, reference: str, key: str, shipment: str
) -> OrderDocuments:
    """Asks the money of a label back, and writes what the provider says. Raises Unavailable."""
    status = label_provider(deps).give_back(shipment)
    doc = LABEL_REFUND.build(
        order_key(found.order["orderid"], reference + key),
        **event_fields(found.order),
        reference=reference,
        status=status,
    )
    return found.with_document(deps.orders.add(doc)[0])
