"""Paying back goods by line and quantity, with the share of the line in discounts and taxes; parts add up to what was paid for it."""

from collections.abc import Sequence
from typing import Any

from services.orders.actions.refunds import (
    MAX_ATTEMPTS,
    OrderBusy,
    check_may_refund,
    refund_of,
    refundable,
    refunded_before,
    settle_refunds,
    share_of,
    store_credit_owner,
)
from services.orders.declarations.parts import SoldLine, line_key
from services.orders.dependencies import Dependencies
from services.orders.rules.assembly import OrderDocuments
from services.orders.rules.identity import new_reference
from services.orders.rules.parcels import Quantities, chosen_lines
from services.orders.rules.progress import REFUND
from services.orders.rules.returns import quantities_by_key
from shared.errors import Conflict
from shared.money import money

ADMIN = "admin"
Request = tuple[str, str] | None


class NothingToRefund(Conflict):
    code, title = "nothing_to_refund", "Nothing of this is left to refund"


def refund_items(
    deps: Dependencies,
    found: OrderDocuments,
    items: list[dict[str, Any]],
    reason: str,
    request: Request,
    *,
    to_store_credit: bool = False,
    notify: bool = False,
) -> OrderDocuments:
    """What was paid for these goods, which the customer keeps or never got. Raises NotPossible, NothingToRefund, Invalid for more
    than was bought and not paid back yet."""
    check_may_refund(deps, found)
    owner = store_credit_owner(found, wanted=to_store_credit)
    for _ in range(MAX_ATTEMPTS):
        if refunded_before(found, ADMIN, request):
            break
        lines = chosen_lines(found.order["basket"], not_refunded(found), items, "refunded")
        if not min(share_of(found, lines)[0], refundable(found)["amount"]):
            raise NothingToRefund
        found, written = _add(deps, found, lines, reason, ADMIN, request, owner, notify=notify)
        if written:
            break
    else:
        raise OrderBusy
    return settle_refunds(deps, found)


def refund_cancelled(
    deps: Dependencies, found: OrderDocuments, lines: Sequence[SoldLine], reason: str, cause: str
) -> OrderDocuments:
    """Decides the refund of lines that were cancelled, once for each `cause`; none where they cost nothing."""
    for _ in range(MAX_ATTEMPTS):
        if refunded_before(found, cause, None):
            return found
        if not min(share_of(found, lines)[0], refundable(found)["amount"]):
            return found
        found, written = _add(deps, found, lines, reason, cause, None, None)
        if written:
            return found
    raise OrderBusy


def not_refunded(found: OrderDocuments) -> Quantities:
    """How many of each line were not paid back yet."""
    done = quantities_by_key(found.refunded_lines)
    left = {
        line_key(line): line["quantity"] - done.get(line_key(line), 0)
        for line in found.order["basket"]
        if not line.get("gift_card")
    }
    return {key: quantity for key, quantity in left.items() if quantity > 0}


def _add(
    deps: Dependencies,
    found: OrderDocuments,
    lines: Sequence[SoldLine],
    reason: str,
    cause: str,
    request: Request,
    owner: str | None,
    *,
    notify: bool = False,
) -> tuple[OrderDocuments, bool]:
    """The order with the refund; read again, and False, when another refund took its number."""
    value, taxes = share_of(found, lines)
    left = refundable(found)
    reference = new_reference(REFUND, request) if cause == ADMIN else cause
    refund = refund_of(
        found,
        money(min(value, left["amount"]), left["currency"]),
        reason,
        cause,
        reference,
        request,
        returned=taxes,
        store_credit_of=owner,
        lines=lines,
        notify=notify,
    )
    stored, created = deps.orders.add(refund)
    if created:
        return found.with_document(stored), True
    return deps.orders.order(found.order["orderid"]), False
