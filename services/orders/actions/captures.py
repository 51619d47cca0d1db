"""Taking money that was only reserved: when the goods go out, less what was refunded until then; once."""

from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from services.orders.actions.refunds import capturable, settle_refunds
from services.orders.dependencies import Dependencies
from services.orders.documents import CAPTURE, CAPTURED, order_key
from services.orders.rules.assembly import OrderDocuments
from services.orders.rules.writing import event_fields
from shared.clock import iso, now

MAX_LISTED = 200
LISTED_BEFORE = timedelta(days=60)


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


def capture_payment(deps: Dependencies, found: OrderDocuments) -> OrderDocuments:
    """Takes the reserved money. Raises PaymentClosed when the bank does not hold it any more, ProviderUnavailable.

    The decision is written first, so that a refund decided later is paid back and not deducted.
    """
    payment = found.require_payment()
    if found.is_captured or not capturable(found)["amount"]:
        return found
    hosted = deps.hosted(payment["provider"])
    found = _decided(deps, found)
    capture = found.require_capture()
    ref = hosted.capture(found.order["orderid"], payment["provider_ref"], capture["total"])
    captured = CAPTURED.build(
        order_key(found.order["orderid"], "captured"),
        **event_fields(found.order),
        total=capture["total"],
        provider=payment["provider"],
        provider_ref=ref,
    )
    return settle_refunds(deps, found.with_document(deps.orders.add(captured)[0]))


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


def _decided(deps: Dependencies, found: OrderDocuments) -> OrderDocuments:
    if found.capture is not None:
        return found
    total = capturable(found)
    capture = CAPTURE.build(
        order_key(found.order["orderid"], "capture"),
        **event_fields(found.order),
        total=total,
        refunds=[refund["reference"] for refund in found.refunds],
    )
    return found.with_document(deps.orders.add(capture)[0])
