"""What buying a label takes, for a parcel that goes out or comes back: a provider, the two addresses, the weight."""

from collections.abc import Sequence
from typing import Any, Final

from services.orders.clients.labels import LabelProvider
from services.orders.declarations.parts import line_key
from services.orders.dependencies import Dependencies
from services.orders.documents import LABEL_REFUND, order_key
from services.orders.rules.assembly import OrderDocuments
from services.orders.rules.labels import (
    LabelRefused,
    NoLabelProvider,
    Place,
    crosses_customs,
    place,
    weight,
)
from services.orders.rules.writing import event_fields

CUSTOMS: Final = (
    "This parcel crosses a customs border, and labels are bought here without a customs declaration. "
    "Buy it at the carrier, and write down courier and tracking number where the parcel is dispatched."
)


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


def ends_of(
    deps: Dependencies, found: OrderDocuments, shop_address: str, problem: str
) -> tuple[Place, Place]:
    """The customer's place and the shop's. Raises LabelRefused as the two above, and where a customs border lies between them: what carriers
    want to know there (codes and origins of goods) the shop does not keep."""
    customer, shop = customers_place(deps, found), shops_place(deps, shop_address, problem)
    if crosses_customs(customer.parts["country"], shop.parts["country"]):
        raise LabelRefused(CUSTOMS)
    return customer, shop


def weight_of(deps: Dependencies, found: OrderDocuments, lines: Sequence[Any], said: int | None) -> int:
    """In grams: what was `said`, else the goods together as they weigh now (1 call). Raises Invalid where that is not known."""
    if said:
        return said
    keys = [line_key(line) for line in lines]
    offers = deps.products.lookup(keys, currency=found.order["total"]["currency"])
    return weight(lines, {key: offer.get("weight_grams") or 0 for key, offer in offers.items()})


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
