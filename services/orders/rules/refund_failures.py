"""Refunds that the provider was asked for and that never arrived: what of them staff have to pay back another way."""

from typing import Any

from services.orders.declarations.events import REFUND_FIELDS, Refund, RefundFailure
from services.orders.documents import REFUND_FAILURE, SETTLEMENT
from services.orders.rules.assembly import OrderDocuments
from shared.money import money


def failures(found: OrderDocuments, refund: Refund) -> list[RefundFailure]:
    known = REFUND_FAILURE.among(found.of_type(REFUND_FAILURE.name))
    return [each for each in known if each["reference"] == refund["reference"]]


def unpaid_failures(found: OrderDocuments, refund: Refund) -> int:
    """Minor units that have failed to arrive, less what staff have recorded as paid back since."""
    repaid = [
        each
        for each in SETTLEMENT.among(found.of_type(SETTLEMENT.name))
        if each["reference"] == refund["reference"] and each.get("after_failure")
    ]
    return sum(each["total"]["amount"] for each in failures(found, refund)) - sum(
        each["total"]["amount"] for each in repaid
    )


def refund_answer(found: OrderDocuments, refund: Refund) -> dict[str, Any]:
    """As it is answered: what failed is as one that staff pay back by hand, until they have."""
    shown = {**REFUND_FIELDS.shown(refund), "settled": found.settled(refund)}
    unpaid = unpaid_failures(found, refund)
    if not unpaid:
        return shown
    return shown | {
        "settled": False,
        "by_hand": True,
        "failed_total": money(unpaid, refund["total"]["currency"]),
    }
