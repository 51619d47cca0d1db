"""Returns as people deal with them: a customer requests one, staff approve or refuse it and receive the goods.

Nothing is paid back before the goods are here, unless the shop's settings say so. Every step is a document under a fixed id, so that of
two people who do it at once one does it, and done again it changes nothing.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from services.orders.actions.exchange_offers import give_up, keep_goods, keep_on, wanted_lines
from services.orders.actions.refunds import MAX_ATTEMPTS, OrderBusy, require_provider, same_request
from services.orders.actions.returns import refund_returns
from services.orders.declarations.exchanges import ExchangeOffer
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
from shared.errors import Conflict, Invalid, NotFound, Unavailable

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
        doc, created = deps.orders.add(
            _request_document(deps, found, body, request, by, same_product=not at_any_time)
        )
        if created:
            found = found.with_document(doc)
            if doc.get("exchange") and deps.terms.returns.approved:
                found = _approved_at_once(deps, found, doc)
            return _paid_back(deps, found, doc["reference"])
        found = deps.orders.order(found.order["orderid"])
    raise OrderBusy


def approve_return(
    deps: Dependencies,
    found: OrderDocuments,
    number: str,
    actor: str,
    items: Sequence[Mapping[str, Any]] | None = None,
) -> Returned:
    """The customer may send the goods. `items`: what is sent instead of them, of any product; what the customer wants without it, the
    money for all of it if empty. A second time changes nothing.

    Raises ReturnEnded for one that was refused, OutOfStock, ExchangeNotPayable, Invalid.
    """
    back = by_number(found, number)
    if back.status == REQUESTED:
        wanted = back.wanted
        if items is not None:
            wanted = wanted_lines(deps, found, back.requested, items, same_product=False)
        offer = keep_goods(deps, found, back, wanted)
        terms = deps.terms.returns
        first = terms.refund_first or (offer is not None and terms.exchange_first)
        refund_first = first and not cost_nothing({"lines": back.lines})
        decision, created = deps.orders.add(
            _decision(
                found,
                back,
                DECISION_KEY,
                APPROVE,
                "",
                actor,
                refund_first,
                offer,
                buy_label=deps.buys_labels,
            )
        )
        if offer is not None and not created and "exchange" not in decision:
            give_up(deps, offer)
        found = found.with_document(decision)
        back = by_reference(found, back.reference)
    if back.status == REFUSED:
        raise ReturnEnded(f"Return {number} was refused.")
    if back.status == APPROVED and not back.is_refunded_first:
        keep_on(deps, back)
    return _paid_back(deps, found, back.reference)


def refuse_return(
    deps: Dependencies, found: OrderDocuments, number: str, reason: str, actor: str
) -> Returned:
    """The shop does not take the goods, or they never came. Raises ReturnEnded for one that was received or paid back."""
    back = by_number(found, number)
    if back.status == REQUESTED:
        decision, _ = deps.orders.add(_decision(found, back, DECISION_KEY, REFUSE, reason, actor))
        found = found.with_document(decision)
        back = by_reference(found, back.reference)
    if back.status == APPROVED and not back.is_refunded_first:
        end, _ = deps.orders.add(_decision(found, back, END_KEY, REFUSE, reason, actor))
        found = found.with_document(end)
        back = by_reference(found, back.reference)
    if back.status != REFUSED:
        raise ReturnEnded(f"Return {number} was {'received' if back.receipt else 'paid back'} already.")
    return found, back


def receive_return(
    deps: Dependencies, found: OrderDocuments, number: str, items: list[dict[str, Any]], actor: str
) -> Returned:
    """The goods are here: they are paid back, and the worker puts the resaleable ones into stock. Raises ReturnNotApproved,
    ReturnEnded unless the same was received, Invalid for more than was requested."""
    back = by_number(found, number)
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
        back = by_reference(found, back.reference)
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
    return found, by_reference(found, reference)


def _approved_at_once(deps: Dependencies, found: OrderDocuments, request: ReturnRequest) -> OrderDocuments:
    """As the shop's settings say; what cannot be sent, or kept in stock just now, is left to its people."""
    try:
        return approve_return(deps, found, str(request["number"]), "shop")[0]
    except (Conflict, Invalid, Unavailable):
        return deps.orders.order(found.order["orderid"])


def _check_time(deps: Dependencies, found: OrderDocuments) -> None:
    arrived = found.last_delivery
    last = last_day_to_return(arrived, deps.terms.returns.days) if arrived else None
    if last is not None and now() > last:
        raise ReturnTooLate(f"Goods of this order could be sent back until {iso(last)[:10]}.")


def _request_document(
    deps: Dependencies,
    found: OrderDocuments,
    body: dict[str, Any],
    request: Request,
    by: str,
    *,
    same_product: bool,
) -> ReturnRequest:
    number = max((back.number for back in found.order_returns), default=0) + 1
    earlier = [{"lines": not_refused(found.order_returns)}]
    lines = returned_lines(found.order["basket"], earlier, body["items"], found.arrived_lines)
    terms = deps.terms.returns
    wanted = wanted_lines(deps, found, lines, body["items"], same_product=same_product)
    at_once = terms.approved and not wanted
    approved: dict[str, Any] = {"approved": True} if at_once else {}
    if at_once and terms.refund_first and not cost_nothing({"lines": lines}):
        approved["refund_first"] = True
    if at_once and deps.buys_labels:
        approved["buy_label"] = True
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
        **({"exchange": wanted} if wanted else {}),
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
    exchange: ExchangeOffer | None = None,
    *,
    buy_label: bool = False,
) -> ReturnDecision:
    return RETURN_DECISION.build(
        order_key(found.order["orderid"], f"{back.reference}{key}"),
        **event_fields(found.order),
        reference=back.reference,
        decision=decision,
        reason=reason,
        by=actor,
        **({"exchange": exchange} if exchange else {}),
        **({"refund_first": True} if refund_first else {}),
        **({"buy_label": True} if buy_label else {}),
    )


def by_number(found: OrderDocuments, number: str) -> OrderReturn:
    """Raises NoSuchReturn."""
    for back in found.order_returns:
        if str(back.number) == number:
            return back
    raise NoSuchReturn(f"This order has no return {number}.")


def by_reference(found: OrderDocuments, reference: str) -> OrderReturn:
    return next(back for back in found.order_returns if back.reference == reference)


def _quantities(lines: Any) -> list[tuple[str, str, int]]:
    return sorted(
        (str(line.get("sku") or line["productid"]), line.get("condition", ""), line["quantity"])
        for line in lines
    )
