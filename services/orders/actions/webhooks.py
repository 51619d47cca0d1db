"""Events of providers and couriers. A replayed one finds its documents there, under fixed ids, and changes nothing."""

import logging

from services.orders.actions.checkout import record_charge
from services.orders.actions.hosted_payments import refresh_payment
from services.orders.actions.parcels import deliver_order, dispatch_order
from services.orders.actions.reading import any_order
from services.orders.actions.refund_failures import record_failure
from services.orders.clients.couriers import CourierEvent
from services.orders.clients.payments import NoSuchPage, PaymentEvent
from services.orders.dependencies import Dependencies
from services.orders.rules.assembly import OrderDocuments
from services.orders.rules.credits import to_charge
from services.orders.rules.progress import NotPossible
from shared.clock import iso, now, parse

log = logging.getLogger(__name__)


def payment_event(deps: Dependencies, provider: str, event: PaymentEvent) -> OrderDocuments:
    """Something happened to an order's payment: the provider is asked what, its word in the webhook is not enough.

    An event of a payment page that the provider itself does not know changes nothing; to refuse it would have it sent for days.
    """
    found = any_order(deps, event.orderid)
    order = found.order
    if event.failed_refund is not None:
        return record_failure(deps, found, provider, event.failed_refund)
    if found.payment is not None or order["provider"] != provider:
        return found
    if order.get("hosted"):
        try:
            return refresh_payment(deps, found, event.session)
        except NoSuchPage as unknown:
            log.warning("order %s: the event %s is of no use: %s", event.orderid, event.kind, unknown)
            return found
    if found.cancellation is not None:
        return found
    charge = deps.provider(provider).find(order["orderid"], to_charge(order))
    return found if charge is None else record_charge(deps, found, charge)


def courier_event(deps: Dependencies, courier: str, event: CourierEvent) -> OrderDocuments:
    """A parcel was fetched or arrived."""
    found = any_order(deps, event.orderid)
    date = iso(min(parse(event.date), now())) if event.date else ""
    if event.kind == "dispatched":
        return dispatch_order(deps, found, courier, event.courierid, f"courier {courier}", date)
    parcels = found.parcels
    named = next((parcel for parcel in parcels if parcel.dispatch["courierid"] == event.courierid), None)
    if parcels and named is None:
        raise NotPossible("The order went out as another parcel.", order_status=found.status)
    return deliver_order(deps, found, date, number=named.number if named else None)
