"""What providers and couriers tell us. A replayed event meets documents with fixed ids and changes nothing."""

from services.orders.actions.checkout import record_charge
from services.orders.actions.fulfilment import deliver_order, dispatch_order
from services.orders.actions.reading import any_order
from services.orders.actions.shop import Shop
from services.orders.clients.couriers import CourierEvent
from services.orders.clients.payments import PaymentEvent
from services.orders.rules.assembly import OrderDocuments
from services.orders.rules.progress import NotPossible
from shared.clock import iso, now, parse


def payment_event(shop: Shop, provider: str, event: PaymentEvent) -> OrderDocuments:
    """Something happened to an order's payment: the provider is asked what, its word in the webhook is not enough."""
    found = any_order(shop, event.orderid)
    order = found.order
    if found.payment is not None or found.cancellation is not None or order["provider"] != provider:
        return found
    charge = shop.provider(provider).find(order["orderid"], order["total"])
    return found if charge is None else record_charge(shop, found, charge)


def courier_event(shop: Shop, courier: str, event: CourierEvent) -> OrderDocuments:
    """A parcel was fetched or arrived."""
    found = any_order(shop, event.orderid)
    date = iso(min(parse(event.date), now())) if event.date else ""
    if event.kind == "dispatched":
        return dispatch_order(shop, found, courier, event.courierid, f"courier {courier}", date)
    if found.dispatch is not None and found.dispatch["courierid"] != event.courierid:
        raise NotPossible("The order went out as another parcel.", order_status=found.status)
    return deliver_order(shop, found, date)
