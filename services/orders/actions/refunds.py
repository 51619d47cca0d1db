"""Paying back: decided by a refund document (numbered, so two cannot pass each other), then settled at the provider."""

from collections.abc import Mapping, Sequence
from typing import Any

from services.orders.actions import credits
from services.orders.actions.refund_failures import record_failure
from services.orders.actions.reserved_money import settle_reserved
from services.orders.clients.payments import RefundFailed
from services.orders.declarations.credits import CreditPayment
from services.orders.declarations.events import LineCancellation, OrderPayment, Refund
from services.orders.declarations.exchanges import EXCHANGE, ExchangeShare
from services.orders.declarations.labels import ParcelShipment
from services.orders.declarations.parts import AppliedTax, SoldLine
from services.orders.declarations.returns import Return, ReturnRequest
from services.orders.dependencies import Dependencies
from services.orders.documents import REFUND, SETTLEMENT, order_key
from services.orders.rules.assembly import OrderDocuments
from services.orders.rules.captures import charged_part
from services.orders.rules.credits import paid_by_credits, refund_parts, with_store_credit, without_expired
from services.orders.rules.exchanges import moved_money
from services.orders.rules.identity import new_reference
from services.orders.rules.manual_payments import is_manual
from services.orders.rules.pricing import NO_TAX
from services.orders.rules.progress import REFUND as REFUND_REFERENCE
from services.orders.rules.progress import require
from services.orders.rules.refund_failures import failures, unpaid_failures
from services.orders.rules.refund_taxes import refunded_taxes, taxes_of_lines
from services.orders.rules.returns import goods_value
from services.orders.rules.tries import MAX_ATTEMPTS as MAX_ATTEMPTS
from services.orders.rules.tries import OrderBusy as OrderBusy
from services.orders.rules.writing import event_fields
from shared.clock import timestamp
from shared.errors import Conflict, Invalid, NotFound
from shared.idempotency import check_same
from shared.money import Money, money, shown


class RefundTooLarge(Conflict):
    code, title = "refund_too_large", "More than was paid cannot be refunded"


class NoSuchRefund(NotFound):
    code, title = "no_such_refund", "There is no such refund"


class NotByHand(Conflict):
    code, title = "not_by_hand", "The payment provider pays this refund back"


def refund_order(
    deps: Dependencies,
    found: OrderDocuments,
    total: Money,
    reason: str,
    request: tuple[str, str] | None,
    *,
    to_store_credit: bool = False,
    notify: bool = False,
) -> OrderDocuments:
    """An admin's refund of a part or all. `request`: (key, fingerprint) of an Idempotency-Key; the same key refunds once. `notify`: the
    worker writes the customer an e-mail about it.

    What gift cards and store credit paid goes back to them first; the rest to the card, or with `to_store_credit` to the
    customer's store credit.
    """
    payment = check_may_refund(deps, found)
    if total["currency"] != payment["total"]["currency"]:
        raise Invalid(
            "Refund in the currency that was paid.", errors={"amount": ["Not the order's currency."]}
        )
    owner = store_credit_owner(found, wanted=to_store_credit)
    _check_step(deps, found, total, owner)
    found = add_refund(deps, found, total, reason, "admin", request, store_credit_of=owner, notify=notify)
    return settle_refunds(deps, found)


def check_may_refund(deps: Dependencies, found: OrderDocuments) -> OrderPayment:
    """The payment to pay back of. Raises NotPossible, ProviderNotConnected."""
    require(found.progress, "refund")
    require_provider(deps, found)
    return found.require_payment()


def store_credit_owner(found: OrderDocuments, *, wanted: bool) -> str | None:
    """Whose store credit gets a refund, if it is `wanted` there. Raises Invalid for a guest's order."""
    owner = found.order["userid"]
    if wanted and owner is None:
        raise Invalid(
            "A guest has no store credit: pay back to the card.",
            errors={"to": ["Guests have no store credit."]},
        )
    return owner if wanted else None


def add_refund(
    deps: Dependencies,
    found: OrderDocuments,
    total: Money | None,
    reason: str,
    cause: str,
    request: tuple[str, str] | None = None,
    store_credit_of: str | None = None,
    *,
    notify: bool = False,
) -> OrderDocuments:
    """Decides a refund: of `total`, or of all that remains. A `cause` other than admin is refunded once. Raises RefundTooLarge."""
    reference = new_reference(REFUND_REFERENCE, request) if cause == "admin" else cause
    for _ in range(MAX_ATTEMPTS):
        if refunded_before(found, cause, request):
            return found
        amount = total or refundable(found)
        if not amount["amount"]:
            return found
        _check_refundable(found, amount)
        refund, created = deps.orders.add(
            refund_of(
                found,
                amount,
                reason,
                cause,
                reference,
                request,
                store_credit_of=store_credit_of,
                notify=notify,
            )
        )
        if created:
            return found.with_document(refund)
        found = deps.orders.order(found.order["orderid"])
    raise OrderBusy


def share_of(found: OrderDocuments, lines: Sequence[SoldLine]) -> tuple[int, list[AppliedTax]]:
    """What was paid for these goods with their discounts, and the taxes of it: what they add to the goods that were paid back before,
    so that the parts of a line add up to the line."""
    before = found.refunded_lines
    value = goods_value(found.order, [*before, *lines]) - goods_value(found.order, before)
    return value, taxes_of_lines(found.order, before, lines)


def refund_of(
    found: OrderDocuments,
    amount: Money,
    reason: str,
    cause: str,
    reference: str,
    request: tuple[str, str] | None = None,
    *,
    returned: Sequence[AppliedTax] = (),
    store_credit_of: str | None = None,
    lines: Sequence[SoldLine] = (),
    exchange: ExchangeShare | None = None,
    notify: bool = False,
) -> Refund:
    """The next refund of an order, by number; `returned` are the taxes of its goods, `lines` the goods that no return names, `exchange`
    what of it pays for others. About an imported order nobody gets an e-mail, `notify` or not."""
    number = found.last_number("refund") + 1
    parts = _credits(found, amount, store_credit_of)
    by_hand = is_manual(found.require_payment()) and amount["amount"] > paid_by_credits(parts)
    return REFUND.build(
        order_key(found.order["orderid"], f"refund{number}"),
        **event_fields(found.order),
        number=number,
        reference=reference,
        total=amount,
        reason=reason,
        cause=cause,
        request=list(request) if request else None,
        **({"lines": list(lines)} if lines else {}),
        **({"exchange": exchange} if exchange else {}),
        **_taxes(found, amount, list(returned)),
        **({"credits": parts} if parts else {}),
        **({"by_hand": True} if by_hand else {}),
        **({"notify": True} if notify and not found.order.get("imported") else {}),
    )


def settle_refunds(deps: Dependencies, found: OrderDocuments) -> OrderDocuments:
    """Has the provider pay every refund that it was not seen to pay yet; its key is the refund's reference.

    What staff took in cash or otherwise they pay back themselves: `record_refund`.
    Of money that is only reserved a refund is what is not captured: `rules.captures`; the whole is released. What another order's
    reserved money has paid for, in an exchange, waits until that is captured: a provider pays back nothing that it has not taken. Gift cards and store credit get their part at once.
    """
    payment = found.require_payment()
    for refund in found.refunds:
        reference = refund["reference"]
        if found.settled(refund) or not refund["total"]["amount"] or found.awaits_exchange(refund):
            continue
        orderid = found.order["orderid"]
        back, part = refund.get("credits", []), charged_part(refund)
        if found.is_exchanged(refund):
            _, back, part = moved_money(refund)
        firsts = _first_orders(deps, back)
        waiting = {id for id, first in firsts.items() if first.was_reserved and not first.captured}
        for credit in back:
            if credit["kind"] != EXCHANGE or credit["id"] not in waiting:
                _give_credit_back(deps, credit, orderid, refund, firsts)
        if waiting:
            continue
        if part and refund.get("by_hand"):
            continue
        ref: str | None = payment["provider_ref"]
        try:
            if part and found.was_reserved:
                found, ref = settle_reserved(deps, found, refund)
            elif part:
                amount = money(part, refund["total"]["currency"])
                ref = deps.provider(payment["provider"]).refund(
                    orderid, payment["provider_ref"], reference, amount
                )
        except RefundFailed as error:
            for failed in error.parts:
                found = record_failure(deps, found, payment["provider"], failed)
        if ref is None:
            continue
        settlement, _ = deps.orders.add(
            SETTLEMENT.build(
                order_key(orderid, f"{reference}settled"),
                **event_fields(found.order),
                reference=reference,
                total=refund["total"],
                provider=payment["provider"],
                provider_ref=ref,
            )
        )
        found = found.with_document(settlement)
    return found


def record_refund(
    deps: Dependencies, found: OrderDocuments, number: int, reference: str, actor: str
) -> OrderDocuments:
    """Staff have paid back a refund `by_hand`, or what the provider could not; a second time changes nothing. Raises NoSuchRefund, NotByHand."""
    refund = next((each for each in found.refunds if each["number"] == number), None)
    if refund is None:
        raise NoSuchRefund(f"This order has no refund {number}.")
    orderid, key, failed = found.order["orderid"], refund["reference"], failures(found, refund)
    unpaid = unpaid_failures(found, refund)
    if failed and not unpaid:
        return found
    if not failed and not refund.get("by_hand"):
        raise NotByHand("It goes back by itself, the way it was paid.")
    settlement, _ = deps.orders.add(
        SETTLEMENT.build(
            order_key(orderid, f"{key}repaid{len(failed)}" if failed else f"{key}settled"),
            **event_fields(found.order),
            reference=key,
            total=money(unpaid, refund["total"]["currency"]) if failed else refund["total"],
            **({"after_failure": True} if failed else {}),
            provider=found.require_payment()["provider"],
            provider_ref=reference,
            by=actor,
        )
    )
    return found.with_document(settlement)


def _first_orders(deps: Dependencies, back: Sequence[CreditPayment]) -> dict[str, OrderDocuments]:
    """The orders whose money has paid for others' goods, by id."""
    return {credit["id"]: deps.orders.order(credit["id"]) for credit in back if credit["kind"] == EXCHANGE}


def _give_credit_back(
    deps: Dependencies,
    credit: CreditPayment,
    orderid: str,
    refund: Refund,
    firsts: Mapping[str, OrderDocuments],
) -> None:
    """To the gift card or store credit; what goods had paid that came back, to who had paid for those. Of reserved money that the bank
    let go nothing was paid, and nothing goes back."""
    if credit["kind"] != EXCHANGE:
        credits.refund(deps, credit, orderid, refund["reference"], refund["reason"])
        return
    first = firsts[credit["id"]]
    if first.was_reserved and not any(each["total"]["amount"] for each in first.captured.values()):
        return
    provider = deps.provider(first.require_payment()["provider"])
    provider.refund(credit["id"], first.charge_ref, f"{orderid}-{refund['reference']}", credit["amount"])


def refundable(found: OrderDocuments) -> Money:
    """Nothing, when two replicas together have paid back more than was paid."""
    paid = found.require_payment()["total"]
    remaining = paid["amount"] - sum(refund["total"]["amount"] for refund in found.refunds)
    return money(max(0, remaining), paid["currency"])


def require_provider(deps: Dependencies, found: OrderDocuments) -> None:
    """Raises ProviderNotConnected where money would have to go back to a provider that is not there any more."""
    if found.charged and not is_manual(found.require_payment()):
        deps.provider(found.require_payment()["provider"])


def _credits(found: OrderDocuments, amount: Money, store_credit_of: str | None) -> list[CreditPayment]:
    """Where a refund goes beside the card. What an exchange moved from another order's card counts as the card."""
    before, owner = sum(refund["total"]["amount"] for refund in found.refunds), found.order["userid"]
    parts = refund_parts(found.require_payment().get("credits", []), before, amount["amount"])
    if owner is not None:
        parts = without_expired(parts, owner, timestamp()[:10])
    if store_credit_of is not None:
        parts = [part for part in parts if part["kind"] != EXCHANGE]
    rest = amount["amount"] - paid_by_credits(parts)
    if store_credit_of is not None and rest:
        parts = with_store_credit(parts, store_credit_of, money(rest, amount["currency"]))
    return parts


def _taxes(found: OrderDocuments, amount: Money, returned: list[AppliedTax]) -> dict[str, Any]:
    """And what of it is for gift cards. Nothing of a payment of the last version, which holds no taxes."""
    paid = found.require_payment().get("taxes")
    if not paid:
        return {}
    before = [refund.get("taxes", []) for refund in found.refunds]
    taxes = refunded_taxes(paid, before, amount["amount"], returned)
    cards = sum(tax["base"]["amount"] for tax in taxes if tax["name"] == NO_TAX.name and not tax["rate"])
    sold = found.require_payment().get("gift_cards_sold")
    return {"taxes": taxes} | ({"gift_cards_sold": cards} if sold and cards else {})


def refunded_before(found: OrderDocuments, cause: str, request: tuple[str, str] | None) -> bool:
    if cause != "admin":
        return any(refund["cause"] == cause for refund in found.refunds)
    return request is not None and any(same_request(refund, request) for refund in found.refunds)


def same_request(
    doc: Refund | Return | ReturnRequest | LineCancellation | ParcelShipment, request: tuple[str, str]
) -> bool:
    """Raises KeyReused when the key came with another body."""
    if not doc["request"] or doc["request"][0] != request[0]:
        return False
    check_same(doc["request"][1], request[1])
    return True


def _check_step(deps: Dependencies, found: OrderDocuments, total: Money, owner: str | None) -> None:
    """Raises Invalid for an amount that the provider would never pay back."""
    payment, currency = found.require_payment(), total["currency"]
    if not found.charged or is_manual(payment):
        return
    step = deps.provider(payment["provider"]).step(currency)
    back = total["amount"] - paid_by_credits(_credits(found, total, owner))
    if back % step:
        raise Invalid(
            f"Cards are paid back in steps of {shown(money(step, currency))}: {shown(money(back, currency))} is none.",
            errors={"amount": [f"A multiple of {shown(money(step, currency))}."]},
        )


def _check_refundable(found: OrderDocuments, amount: Money) -> None:
    remaining = refundable(found)
    if amount["amount"] > remaining["amount"]:
        raise RefundTooLarge(
            f"{shown(remaining)} are left to refund, not {shown(amount)}.",
            left=remaining,
            remaining=remaining,
        )
