"""How a checkout attempt ends: paid, or undone. The provider decides which, for it can tell who was first."""

import logging
from datetime import timedelta

from services.orders.actions.cancellation import cancel_unfulfillable
from services.orders.actions.shop import Shop
from services.orders.clients.payments import Charge, PaymentDeclined
from services.orders.clients.services import GoodsGone, OutOfStock
from services.orders.rules.assembly import OrderDocuments
from services.orders.rules.writing import cancellation_of, items_of, payment_of
from shared.clock import iso, now
from shared.couch import Doc
from shared.errors import AisleError, Conflict, Unavailable

log = logging.getLogger(__name__)


class AttemptClosed(Conflict):
    code, title = "attempt_closed", "This attempt to order was closed"

    def __init__(self) -> None:
        super().__init__("Nothing was charged; order again with a new Idempotency-Key.")


def refusal_of(cancellation: Doc) -> AisleError:
    """The error that a cancelled attempt was answered with."""
    known = {refusal.code: refusal for refusal in (OutOfStock, PaymentDeclined)}
    if cancellation["reason"] in known:
        return known[cancellation["reason"]](cancellation["detail"])
    return AttemptClosed()


def reserve(shop: Shop, order: Doc) -> None:
    """Keeps the goods for this order. Raises OutOfStock."""
    expires = iso(now() + timedelta(seconds=shop.settings.reservation_seconds))
    shop.products.reserve(order["orderid"], order["basket"], expires)


def record_payment(shop: Shop, found: OrderDocuments, charge: Charge) -> OrderDocuments:
    """Marks the stock as sold and writes the payment document; paid back if the goods are gone by now."""
    order, sold, gone = found.order, False, False
    try:
        shop.products.confirm(order["orderid"], order["basket"])
        sold = True
    except GoodsGone:
        gone = True
    except Unavailable:
        log.warning("order %s: the worker will mark the stock as sold", order["orderid"])
    payment = payment_of(order, order["provider"], charge.ref, charge.total, charge.date, sold=sold)
    found = found.with_document(shop.orders.add(payment)[0])
    return cancel_unfulfillable(shop, found) if gone else found


def abandon(shop: Shop, found: OrderDocuments, reason: str, detail: str) -> OrderDocuments:
    """Ends an unpaid attempt: closed at the provider, stock released, written down. Comes back paid if a charge was first."""
    order = found.order
    charge = shop.provider(order["provider"]).close(order["orderid"], order["total"])
    if charge is not None:
        return _finish(shop, found, charge)
    shop.products.release(order["orderid"], order["basket"])
    cancellation, _ = shop.orders.add(cancellation_of(order, reason, detail, "shop", was_paid=False))
    return found.with_document(cancellation)


def reconcile(shop: Shop, found: OrderDocuments) -> OrderDocuments:
    """Ends an attempt that a crash or a lost answer left open."""
    if found.payment is not None or found.cancellation is not None:
        return found
    return abandon(shop, found, "abandoned", "No payment arrived in time.")


def _finish(shop: Shop, found: OrderDocuments, charge: Charge) -> OrderDocuments:
    """A charge without a payment document, left by a crash or a lost answer."""
    order = found.order
    if len(found.items) < len(order["basket"]):
        shop.orders.add_all(items_of(order))
    return record_payment(shop, found, charge)
