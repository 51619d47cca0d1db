"""Taking money that was only reserved: with each parcel what has gone out, less what was refunded until then; every cent once."""

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from services.orders.actions.refunds import settle_refunds
from services.orders.actions.reserved_money import complete_captures, decide
from services.orders.clients.payments import PaymentClosed
from services.orders.declarations.parts import SoldLine
from services.orders.dependencies import Dependencies
from services.orders.rules.assembly import OrderDocuments
from services.orders.rules.captures import capturable, due, left_after, reserved, takes_a_part
from services.orders.rules.parcels import Quantities
from services.orders.rules.tries import MAX_ATTEMPTS, OrderBusy
from shared.clock import iso, now

MAX_LISTED = 200
LISTED_BEFORE = timedelta(days=60)
log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Authorization:
    """Money that is reserved for an order, and until when it can be taken."""

    found: OrderDocuments

    def answer(self) -> dict[str, Any]:
        payment = self.found.require_payment()
        before = payment.get("capture_before", "")
        return {
            "orderid": self.found.order["orderid"],
            "date": payment["date"],
            "total": capturable(self.found),
            "capture_before": before,
            "expired": bool(before) and before <= iso(now()),
        }


def capture_for_parcel(
    deps: Dependencies, found: OrderDocuments, lines: Sequence[SoldLine] | None = None
) -> OrderDocuments:
    """Takes what is due before these lines go out; without lines all the rest of the order.

    A provider that takes reserved money only once is asked with the last parcel, when the final amount is known, as is one that has
    taken all parts but one that it takes; before the others it is asked whether the money is still there. Raises PaymentClosed when it is not, ProviderUnavailable.
    """
    if not found.was_reserved:
        return found
    left = left_after(found, lines)
    if left and not takes_a_part(found):
        return _checked(deps, found, left)
    return _captured(deps, found, left, final=not left)


def capture_dispatched(deps: Dependencies, found: OrderDocuments) -> OrderDocuments:
    """Takes what has gone out, as the bank would let go of the money before the rest does: that part of the order cannot be taken then."""
    try:
        return _captured(deps, found, found.left_to_send, final=True)
    except PaymentClosed:
        log.warning("order %s: the money for what has gone out is gone", found.order["orderid"])
        return deps.orders.order(found.order["orderid"])


def close_captures(deps: Dependencies, found: OrderDocuments) -> OrderDocuments:
    """When the rest of an order was cancelled after a part has gone out: takes what is left to take, and lets the rest go."""
    if not found.was_reserved or not found.dispatch_decisions or found.left_to_send or reserved(found).final:
        return found
    return capture_dispatched(deps, found)


def authorizations(deps: Dependencies, days: int) -> list[dict[str, Any]]:
    """Reserved money that can be taken for `days` more at most or can't any more, soonest first.

    1 global query, and 1 partition query for each order that it names.
    """
    moment = now()
    since, until = iso(moment - LISTED_BEFORE), iso(moment + timedelta(days=days))
    orderids = deps.orders.authorizations(since, until, limit=MAX_LISTED)
    known = [deps.orders.order(orderid) for orderid in orderids]
    return [
        Authorization(each).answer() for each in known if not each.is_captured and each.cancellation is None
    ]


def _captured(deps: Dependencies, found: OrderDocuments, left: Quantities, *, final: bool) -> OrderDocuments:
    """The decision is written first, so that a refund decided later is paid back and not deducted."""
    for _ in range(MAX_ATTEMPTS):
        found = complete_captures(deps, found)
        amount, state = due(found, left), reserved(found)
        if state.final or state.lost:
            if amount > 0:
                raise PaymentClosed("The bank does not hold the money any more.")
            return settle_refunds(deps, found)
        if not capturable(found)["amount"] and not state.captured:
            return found
        if amount <= 0 and not final:
            return settle_refunds(deps, found)
        found = decide(deps, found, left, final=final)
    raise OrderBusy


def _checked(deps: Dependencies, found: OrderDocuments, left: Quantities) -> OrderDocuments:
    """Raises PaymentClosed when a parcel would go out whose money the bank does not hold any more."""
    payment = found.require_payment()
    if due(found, left) <= 0:
        return found
    if reserved(found).final or not deps.hosted(payment["provider"]).holds(payment["provider_ref"]):
        raise PaymentClosed("The bank does not hold the money any more.")
    return found
