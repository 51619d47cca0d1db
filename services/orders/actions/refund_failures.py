"""Money that a provider could not pay back: it is due again, staff are told at the order, and the audit trail keeps that it happened."""

from typing import Final

from services.orders.clients.payments import FailedRefund
from services.orders.dependencies import Dependencies
from services.orders.documents import REFUND_FAILURE, order_key
from services.orders.rules.assembly import OrderDocuments
from services.orders.rules.writing import event_fields
from shared.audit import Act, AuditTrail

ACTOR: Final = "worker"
ACTION: Final = "note failed refund"


def record_failure(
    deps: Dependencies, found: OrderDocuments, provider: str, failed: FailedRefund
) -> OrderDocuments:
    """Once, however often the provider tells it; of refunds that are not the order's nothing."""
    orderid = found.order["orderid"]
    key = order_key(orderid, f"{failed.reference}failed{failed.ref}")
    if found.has(key) or failed.reference not in {refund["reference"] for refund in found.refunds}:
        return found
    details = {"amount": failed.total, "reference": failed.ref}
    AuditTrail(deps.orders.database).write(Act(ACTOR, ACTION, orderid, details))
    failure, _ = deps.orders.add(
        REFUND_FAILURE.build(
            key,
            **event_fields(found.order),
            reference=failed.reference,
            total=failed.total,
            provider=provider,
            provider_ref=failed.ref,
        )
    )
    return found.with_document(failure)
