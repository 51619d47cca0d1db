"""Returns as people deal with them: a customer requests one, staff approve or refuse it and receive the goods.

Nothing is paid back before the goods are here, unless the shop's settings say so. Every step is a document under a fixed id, so that of
two people who do it at once one does it, and done again it changes nothing.
"""

from typing import Any

from services.orders.actions.refunds import MAX_ATTEMPTS, OrderBusy, require_provider, same_request
from services.orders.actions.returns import refund_returns
from services.orders.declarations.returns import APPROVE, REFUSE, ReturnDecision, ReturnRequest
from services.orders.dependencies import Dependencies
from services.orders.documents import RETURN, RETURN_DECISION, RETURN_REQUEST, order_key
from services.orders.rules.assembly import OrderDocuments
from services.orders.rules.identity import new_reference
from services.orders.rules.order_returns import (
    APPROVED,
    DECISION_KEY,
    END_KEY,
    RECEIVED,
    REFUSED,
    REQUESTED,
    OrderReturn,
    came_back,
    not_refused,
)
from services.orders.rules.progress import cost_nothing, require
from services.orders.rules.returns import last_day_to_return, received_lines, returned_lines
from services.orders.rules.writing import event_fields
from shared.clock import iso, now
from shared.errors import Conflict, NotFound, Unavailable

Request = tuple[str, str] | None
Returned = tuple[OrderDocuments, OrderReturn]


class NoSuchReturn(NotFound):
    code, title = "no_such_return", "There is no such return"


class ReturnTooLate(Conflict):
    code, title = "return_too_late", "It is too late to send goods back"


class ReturnEnded(Conflict):
    code, title = "return_ended", "The return was received or refused already"


class ReturnNotApproved(Conflict):
    code, title = "return_not_approved", "The return was not approved yet"


def request_return(
    deps: Dependencies,
    found: OrderDocuments,
    body: dict[str, Any],
    request: Request,
    by: str,
    *,
    at_any_time: bool = False,
) -> Returned:
    """Asks to send `body["items"]` back. Raises NotPossible before delivery, ReturnTooLate, Invalid for more than was bought less
    what came or comes back; `at_any_time`: for staff there is no last day."""
    for _ in range(MAX_ATTEMPTS):
        known = [back for back in found.order_returns if request and same_request(back.first, request)]
        if known:
            return found, known[0]
        require(found.progress, "return")
        require_provider(deps, found)
        if not at_any_time:
            _check_time(deps, found)
        doc, created = deps.orders.add(_request_document(deps, found, body, request, by))
        if created:
            return _paid_back(deps, found.with_document(doc), doc["reference"])
        found = deps.orders.order(found.order["orderid"])
    raise OrderBusy


def approve_return(deps: Dependencies, found: OrderDocuments, number: str, actor: str) -> Returned:
    """The customer may send the goods. Raises ReturnEnded for one that was refused; a second time changes nothing."""
    back = _by_number(found, number)
    if back.status == REQUESTED:
        refund_first = deps.terms.returns.refund_first and not cost_nothing({"lines": back.lines})
        decision, _ = deps.orders.add(_decision(found, back, DECISION_KEY, APPROVE, "", actor, refund_first))
        found = found.with_document(decision)
        back = _by_reference(found, back.reference)
    if back.status == REFUSED:
        raise ReturnEnded(f"Return {number} was refused.")
    return _paid_back(deps, found, back.reference)


def refuse_return(
    deps: Dependencies, found: OrderDocuments, number: str, reason: str, actor: str
) -> Returned:
    """The shop does not take the goods, or they never came. Raises ReturnEnded for one that was received or paid back."""
    back = _by_number(found, number)
    if back.status == REQUESTED:
        decision, _ = deps.orders.add(_decision(found, back, DECISION_KEY, REFUSE, reason, actor))
        found = found.with_document(decision)
        back = _by_reference(found, back.reference)
    if back.status == APPROVED and not back.is_refunded_first:
        end, _ = deps.orders.add(_decision(found, back, END_KEY, REFUSE, reason, actor))
        found = found.with_document(end)
        back = _by_reference(found, back.reference)
    if back.status != REFUSED:
        raise ReturnEnded(f"Return {number} was {'received' if back.receipt else 'paid back'} already.")
    return found, back


def receive_return(
    deps: Dependencies, found: OrderDocuments, number: str, items: list[dict[str, Any]], actor: str
) -> Returned:
    """The goods are here: they are paid back, and the worker puts the resaleable ones into stock. Raises ReturnNotApproved,
    ReturnEnded unless the same was received, Invalid for more than was requested."""
    back = _by_number(found, number)
    if back.status == REQUESTED:
        raise ReturnNotApproved(f"Approve return {number} first.")
    if back.status == REFUSED:
        raise ReturnEnded(f"Return {number} was refused.")
    others = came_back(each for each in found.order_returns if each.reference != back.reference)
    lines = received_lines(found.order["basket"], others, back.requested, items)
    if back.status != RECEIVED:
        receipt = RETURN.build(
            order_key(found.order["orderid"], f"{back.reference}{END_KEY}"),
            **event_fields(found.order),
            number=back.number,
            reference=back.reference,
            lines=lines,
            reason=back.first["reason"],
            request=None,
            requested=True,
            by=actor,
            **({"refund_first": True} if back.is_refunded_first else {}),
        )
        stored, _ = deps.orders.add(receipt)
        found = found.with_document(stored)
        back = _by_reference(found, back.reference)
    if back.receipt is None or _quantities(back.receipt["lines"]) != _quantities(lines):
        raise ReturnEnded(f"Return {number} was {back.status} already.")
    return _paid_back(deps, found, back.reference)


def _paid_back(deps: Dependencies, found: OrderDocuments, reference: str) -> Returned:
    """What is due by now is paid back; what that meets is left to the worker."""
    try:
        if found.unrefunded_returns:
            found = refund_returns(deps, found)
    except (Unavailable, OrderBusy):
        found = deps.orders.order(found.order["orderid"])
    return found, _by_reference(found, reference)


def _check_time(deps: Dependencies, found: OrderDocuments) -> None:
    arrived = found.last_delivery
    last = last_day_to_return(arrived, deps.terms.returns.days) if arrived else None
    if last is not None and now() > last:
        raise ReturnTooLate(f"Goods of this order could be sent back until {iso(last)[:10]}.")


def _request_document(
    deps: Dependencies, found: OrderDocuments, body: dict[str, Any], request: Request, by: str
) -> ReturnRequest:
    number = max((back.number for back in found.order_returns), default=0) + 1
    earlier = [{"lines": not_refused(found.order_returns)}]
    lines = returned_lines(found.order["basket"], earlier, body["items"], found.arrived_lines)
    terms = deps.terms.returns
    approved: dict[str, Any] = {"approved": True} if terms.approved else {}
    if terms.approved and terms.refund_first and not cost_nothing({"lines": lines}):
        approved["refund_first"] = True
    return RETURN_REQUEST.build(
        order_key(found.order["orderid"], f"returnrequest{number}"),
        **event_fields(found.order),
        number=number,
        reference=new_reference("return", request),
        lines=lines,
        reason=body["reason"],
        note=body["note"],
        request=list(request) if request else None,
        by=by,
        **approved,
    )


def _decision(
    found: OrderDocuments,
    back: OrderReturn,
    key: str,
    decision: str,
    reason: str,
    actor: str,
    refund_first: bool = False,
) -> ReturnDecision:
    return RETURN_DECISION.build(
        order_key(found.order["orderid"], f"{back.reference}{key}"),
        **event_fields(found.order),
        reference=back.reference,
        decision=decision,
        reason=reason,
        by=actor,
        **({"refund_first": True} if refund_first else {}),
    )


def _by_number(found: OrderDocuments, number: str) -> OrderReturn:
    for back in found.order_returns:
        if str(back.number) == number:
            return back
    raise NoSuchReturn(f"This order has no return {number}.")


def _by_reference(found: OrderDocuments, reference: str) -> OrderReturn:
    return next(back for back in found.order_returns if back.reference == reference)


def _quantities(lines: Any) -> list[tuple[str, str, int]]:
    return sorted(
        (str(line.get("sku") or line["productid"]), line.get("condition", ""), line["quantity"])
        for line in lines
    )
