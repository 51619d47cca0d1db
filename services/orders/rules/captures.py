"""How much of an order's reserved money is taken with each parcel, so that what was taken and paid back always adds up to the order.

The decisions about it are numbered: `capture`, `capture2`, ... Each takes a part of what is reserved, or none, and says which refunds it
settles: a refund of money that was not taken is settled by not taking it, one of money that was is paid back. Who wants to decide has
read the last one and writes the next, whose id only one writer can take. `captured`, `captured2`, ... say that the provider has done it.

Before a parcel goes out everything is taken that no later parcel needs: the share of the goods that have gone out, with their discounts
and tax; of the first parcel the shipping, too. So cents that a share is rounded by are taken with a later one, with the last one all
that is left. Gift cards and store credit pay first: they were taken with the order, and a card should not be charged for goods
that lie here still while the balance of a gift card is more than what has gone out.
"""

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from services.orders.declarations.events import PaymentCapture, Refund
from services.orders.declarations.parts import SoldLine, line_key
from services.orders.rules.assembly import OrderDocuments
from services.orders.rules.credits import paid_by_credits
from services.orders.rules.exchanges import moved_money
from services.orders.rules.parcels import Quantities
from services.orders.rules.returns import goods_value, quantities_by_key
from services.orders.rules.writing import sold
from shared.money import Money, money

MAX_CAPTURES: Final = 50
"""Stripe takes reserved money in no more parts than this; the last one is kept for the last parcel."""


class Reserved(NamedTuple):
    """What became of the reserved money, in minor units: `open` is neither taken nor given up for a refund."""

    captured: int
    open: int
    paid_back: int
    final: bool
    lost: bool

    @property
    def kept(self) -> int:
        """What was taken and not paid back."""
        return self.captured - self.paid_back


def reserved(found: OrderDocuments) -> Reserved:
    """What was decided but not done yet counts as done."""
    captures, done = found.captures, found.captured
    captured = sum((done.get(number) or capture)["total"]["amount"] for number, capture in captures.items())
    back = sum(amount for each in captures.values() for amount in each.get("paid_back", {}).values())
    listed = listed_refunds(captures)
    given_up = sum(provider_part(found, each) for each in found.refunds if each["reference"] in listed) - back
    return Reserved(
        captured,
        max(0, found.charged - captured - given_up),
        back,
        any(each.get("final", True) for each in captures.values()),
        any(each.get("lost") for each in done.values()),
    )


def listed_refunds(captures: Mapping[int, PaymentCapture]) -> frozenset[str]:
    """References of the refunds that the decisions settle."""
    return frozenset(reference for each in captures.values() for reference in each["refunds"])


def capturable(found: OrderDocuments) -> Money:
    """What can still be taken of the reserved money: without the refunds that were decided."""
    left = reserved(found).open - sum(provider_part(found, refund) for refund in unlisted(found))
    return money(max(0, left), found.order["total"]["currency"])


def taken(found: OrderDocuments) -> Money:
    """What the provider has taken so far, with what was paid back since."""
    total = found.charged
    if found.was_reserved:
        total = sum(each["total"]["amount"] for each in found.captured.values())
    return money(total, found.order["total"]["currency"])


def pays_for_gift_cards(found: OrderDocuments) -> bool:
    """Whether the money for the gift cards that it bought was taken: with the first parcel, or all at once."""
    takes_parts = found.require_payment().get("several_captures", False)
    return found.is_captured or (takes_parts and bool(found.parcels))


def takes_a_part(found: OrderDocuments) -> bool:
    """Whether a parcel that is not the last one can take its share: the provider takes parts, and one is left beside the final one."""
    parts = sum(bool(each["total"]["amount"]) for each in found.captures.values())
    return found.require_payment().get("several_captures", False) and parts + 1 < MAX_CAPTURES


def unlisted(found: OrderDocuments) -> list[Refund]:
    """Refunds that no decision settles yet. Of an exchange it must be known first what it pays for."""
    listed = listed_refunds(found.captures)
    return [
        refund
        for refund in found.refunds
        if refund["reference"] not in listed and not found.awaits_exchange(refund)
    ]


def charged_part(refund: Refund) -> int:
    """What the provider pays back of a refund."""
    return refund["total"]["amount"] - paid_by_credits(refund.get("credits", []))


def provider_part(found: OrderDocuments, refund: Refund) -> int:
    """The same, without what has paid for other goods."""
    if found.awaits_exchange(refund):
        return 0
    return moved_money(refund)[2] if found.is_exchanged(refund) else charged_part(refund)


def nothing_is_kept(found: OrderDocuments) -> bool:
    """Whether refunds are of all that the provider reserved."""
    return found.charged <= sum(provider_part(found, refund) for refund in found.refunds)


def paid_back_of(found: OrderDocuments, refund: Refund) -> int:
    """What the provider pays back of a refund: what its decision says, all where no decision names it."""
    for each in found.captures.values():
        if refund["reference"] in each["refunds"]:
            return each.get("paid_back", {}).get(refund["reference"], 0)
    return provider_part(found, refund)


def due(found: OrderDocuments, left: Quantities) -> int:
    """What is to be taken before all has gone out but these pieces; less than nothing where more was taken than has gone out."""
    refunds = unlisted(found)
    not_taken = sum(provider_part(found, refund) for refund in refunds)
    not_taken -= sum(refunds_settled(found, refunds).values())
    return reserved(found).open - not_taken - _share_of(found, left) - _not_refunded_yet(found)


def refunds_settled(found: OrderDocuments, refunds: Sequence[Refund]) -> dict[str, int]:
    """How much of each is paid back of money that was taken, by reference: what later parcels need stays reserved for them as far as
    the money that was taken reaches."""
    state = reserved(found)
    spare = max(0, state.open - _share_of(found, found.left_to_send))
    kept, parts = state.kept, dict[str, int]()
    for refund in refunds:
        part = provider_part(found, refund)
        parts[refund["reference"]] = back = min(kept, max(0, part - spare))
        kept, spare = kept - back, max(0, spare - (part - back))
    return parts


def left_after(found: OrderDocuments, lines: Sequence[SoldLine] | None) -> Quantities:
    """What is left to send once these lines have gone out, or with None nothing."""
    if lines is None:
        return {}
    gone = quantities_by_key(lines)
    rest = {key: quantity - gone.get(key, 0) for key, quantity in found.left_to_send.items()}
    return {key: quantity for key, quantity in rest.items() if quantity > 0}


def _share_of(found: OrderDocuments, left: Quantities) -> int:
    """What the provider is to take for these pieces once they go out, beyond what gift cards and store credit pay."""
    return max(0, _payable(found, {})) - max(0, _payable(found, left))


def _payable(found: OrderDocuments, left: Quantities) -> int:
    """What is paid for the goods that have gone out if these have not, less what gift cards and store credit pay of it."""
    order = found.order
    unsent = quantities_by_key(line for each in found.line_cancellations for line in each["lines"])
    for key, quantity in left.items():
        unsent[key] = unsent.get(key, 0) + quantity
    if left and all(
        unsent.get(line_key(line), 0) >= line["quantity"]
        for line in order["basket"]
        if not line.get("gift_card")
    ):
        return 0
    lines = [
        sold(line, unsent[line_key(line)], 0) for line in order["basket"] if unsent.get(line_key(line), 0)
    ]
    return found.require_payment()["total"]["amount"] - goods_value(order, lines) - _credits_kept(found)


def _credits_kept(found: OrderDocuments) -> int:
    """What gift cards and store credit pay of the order after its refunds."""
    paid = paid_by_credits(found.require_payment().get("credits", []))
    back = sum(paid_by_credits(refund.get("credits", [])) for refund in found.refunds)
    return max(0, paid - back)


def _not_refunded_yet(found: OrderDocuments) -> int:
    """What the refunds of cancelled lines will come to that a crash has left undecided."""
    causes = {refund["cause"] for refund in found.refunds}
    lines = [
        line for each in found.line_cancellations if each["reference"] not in causes for line in each["lines"]
    ]
    if not lines:
        return 0
    before = found.refunded_lines
    value = goods_value(found.order, [*before, *lines]) - goods_value(found.order, before)
    return max(0, value - _credits_kept(found))
