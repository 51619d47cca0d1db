"""Money that the bank has reserved for an order: what `rules.captures` decides about it is written, then done at the provider, once."""

import logging

from services.orders.clients.payments import Capture, PaymentClosed
from services.orders.declarations.events import PaymentCapture, Refund
from services.orders.dependencies import Dependencies
from services.orders.documents import CAPTURE, CAPTURED, order_key
from services.orders.rules.assembly import OrderDocuments
from services.orders.rules.captures import (
    due,
    listed_refunds,
    nothing_is_kept,
    paid_back_of,
    provider_part,
    refunds_settled,
    reserved,
    unlisted,
)
from services.orders.rules.parcels import Quantities
from services.orders.rules.tries import MAX_ATTEMPTS, OrderBusy
from services.orders.rules.writing import event_fields, numbered_key
from shared.money import money

log = logging.getLogger(__name__)


def decide(
    deps: Dependencies, found: OrderDocuments, left: Quantities | None, *, final: bool
) -> OrderDocuments:
    """The next decision, which settles the refunds that none did: takes what is due before all has gone out but what is `left`, with
    None nothing. The order as it is read again where somebody else has decided first."""
    number = max(found.captures, default=0) + 1
    refunds = unlisted(found)
    back = {name: amount for name, amount in refunds_settled(found, refunds).items() if amount}
    amount = max(0, due(found, left)) if left is not None else 0
    capture = CAPTURE.build(
        order_key(found.order["orderid"], numbered_key("capture", number)),
        **event_fields(found.order),
        total=money(amount, found.order["total"]["currency"]),
        refunds=[refund["reference"] for refund in refunds],
        **({"paid_back": back} if back else {}),
        final=final,
    )
    stored, created = deps.orders.add(capture)
    return found.with_document(stored) if created else deps.orders.order(found.order["orderid"])


def complete_captures(deps: Dependencies, found: OrderDocuments) -> OrderDocuments:
    """Has the provider do what was decided and not seen to be done. Money that the bank let go is written down as lost.
    Raises ProviderUnavailable."""
    for number, decided in found.captures.items():
        if number in found.captured or not (decided["total"]["amount"] or decided.get("final", True)):
            continue
        payment, total = found.require_payment(), decided["total"]
        try:
            ref, lost = _done(deps, found, number, decided), False
        except PaymentClosed:
            log.warning("order %s: the bank has let its money go", found.order["orderid"])
            ref, lost, total = payment["provider_ref"], True, money(0, total["currency"])
        captured = CAPTURED.build(
            order_key(found.order["orderid"], numbered_key("captured", number)),
            **event_fields(found.order),
            total=total,
            provider=payment["provider"],
            provider_ref=ref,
            **({"lost": True} if lost else {}),
        )
        found = found.with_document(deps.orders.add(captured)[0])
    return found


def settle_reserved(
    deps: Dependencies, found: OrderDocuments, refund: Refund
) -> tuple[OrderDocuments, str | None]:
    """Of a refund what the provider has to pay back of money that it had reserved: the provider's reference.

    None while nothing was taken: then it waits, and is settled by not being taken; the whole is released.
    """
    payment, orderid = found.require_payment(), found.order["orderid"]
    if not found.captured:
        if not nothing_is_kept(found):
            return found, None
        released = deps.hosted(payment["provider"]).release(orderid, payment["provider_ref"])
        if released is not None:
            return found, released
        found = deps.orders.order(
            orderid
        )  # it was captured first, by a dispatch that this order was read before
    found = _listed(deps, complete_captures(deps, found), refund)
    part = paid_back_of(found, refund)
    if not part:
        return found, payment["provider_ref"]
    total = money(part, refund["total"]["currency"])
    provider = deps.provider(payment["provider"])
    return found, provider.refund(orderid, found.charge_ref, refund["reference"], total)


def _done(deps: Dependencies, found: OrderDocuments, number: int, decided: PaymentCapture) -> str:
    payment, orderid = found.require_payment(), found.order["orderid"]
    hosted = deps.hosted(payment["provider"])
    before = sum(each["total"]["amount"] for place, each in found.captured.items() if place < number)
    if not before and not decided["total"]["amount"]:
        return hosted.release(orderid, payment["provider_ref"]) or payment["provider_ref"]
    capture = Capture(number, decided["total"], before, decided.get("final", True))
    return hosted.capture(orderid, payment["provider_ref"], capture)


def _listed(deps: Dependencies, found: OrderDocuments, refund: Refund) -> OrderDocuments:
    """With a decision that settles the refund, where it makes a difference: while money is open that could be left untaken."""
    for _ in range(MAX_ATTEMPTS):
        state = reserved(found)
        if refund["reference"] in listed_refunds(found.captures) or (state.final and not state.open):
            return found
        if not provider_part(found, refund):
            return found
        found = decide(deps, found, None, final=False)
    raise OrderBusy
