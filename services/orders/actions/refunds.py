"""Paying back: decided by a refund document (numbered, so two cannot pass each other), then settled at the provider."""

from services.orders.actions.shop import Shop
from services.orders.documents import REFUND, SETTLEMENT, order_key
from services.orders.rules.assembly import OrderDocuments
from services.orders.rules.identity import check_same, new_reference
from services.orders.rules.progress import require
from services.orders.rules.writing import event_fields
from shared.couch import Doc
from shared.errors import Conflict, Invalid
from shared.money import Money, money, shown

TRIES = 5


class RefundTooLarge(Conflict):
    code, title = "refund_too_large", "More than was paid cannot be refunded"


class Busy(Conflict):
    code, title = "order_busy", "Others are changing this order just now; try again"


def refund_order(
    shop: Shop, found: OrderDocuments, total: Money, reason: str, request: tuple[str, str] | None
) -> OrderDocuments:
    """An admin's refund of a part or all. `request`: (key, fingerprint) of an Idempotency-Key; the same key refunds once."""
    require(found.progress, "refund")
    payment = found.require_payment()
    shop.provider(payment["provider"])
    if total["currency"] != payment["total"]["currency"]:
        raise Invalid(
            "Refund in the currency that was paid.", errors={"amount": ["Not the order's currency."]}
        )
    return settle_refunds(shop, add_refund(shop, found, total, reason, "admin", request))


def add_refund(
    shop: Shop, found: OrderDocuments, total: Money | None, reason: str, cause: str,
    request: tuple[str, str] | None = None,
) -> OrderDocuments:  # fmt: skip
    """Decides a refund: of `total`, or of all that is left. A `cause` other than admin is refunded once. Raises RefundTooLarge."""
    reference = new_reference("refund", request) if cause == "admin" else cause
    for _ in range(TRIES):
        if _refunded_before(found, cause, request):
            return found
        wanted = total or left_to_refund(found)
        if not wanted["amount"]:
            return found
        _check_left(found, wanted)
        number = len(found.refunds) + 1
        refund, ours = shop.orders.add(
            REFUND.new(
                order_key(found.order["orderid"], f"refund{number}"), **event_fields(found.order), number=number,
                reference=reference, total=wanted, reason=reason, cause=cause, request=list(request) if request else None,
            )
        )  # fmt: skip
        if ours:
            return found.with_document(refund)
        found = shop.orders.order(found.order["orderid"])
    raise Busy


def settle_refunds(shop: Shop, found: OrderDocuments) -> OrderDocuments:
    """Has the provider pay every refund that it was not seen to pay yet; its key is the refund's reference."""
    payment = found.require_payment()
    for refund in found.refunds:
        reference = refund["reference"]
        if found.settled(refund) or not refund["total"]["amount"]:
            continue
        provider = shop.provider(payment["provider"])
        orderid = found.order["orderid"]
        ref = provider.refund(orderid, payment["provider_ref"], reference, refund["total"])
        settlement, _ = shop.orders.add(
            SETTLEMENT.new(
                order_key(orderid, f"{reference}settled"), **event_fields(found.order), reference=reference,
                total=refund["total"], provider=payment["provider"], provider_ref=ref,
            )
        )  # fmt: skip
        found = found.with_document(settlement)
    return found


def left_to_refund(found: OrderDocuments) -> Money:
    """Nothing, when two replicas together have paid back more than was paid."""
    paid = found.require_payment()["total"]
    left = paid["amount"] - sum(refund["total"]["amount"] for refund in found.refunds)
    return money(max(0, left), paid["currency"])


def _refunded_before(found: OrderDocuments, cause: str, request: tuple[str, str] | None) -> bool:
    if cause != "admin":
        return any(refund["cause"] == cause for refund in found.refunds)
    return request is not None and any(same_request(refund, request) for refund in found.refunds)


def same_request(doc: Doc, request: tuple[str, str]) -> bool:
    """Raises KeyReused when the key came with another body."""
    if not doc["request"] or doc["request"][0] != request[0]:
        return False
    check_same(doc["request"][1], request[1])
    return True


def _check_left(found: OrderDocuments, wanted: Money) -> None:
    left = left_to_refund(found)
    if wanted["amount"] > left["amount"]:
        raise RefundTooLarge(f"{shown(left)} are left to refund, not {shown(wanted)}.", left=left)
