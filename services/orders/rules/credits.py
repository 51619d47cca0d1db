"""What gift cards and store credit hold: chains of numbered entries that cannot be overdrawn.

The chain. The entries of a gift card, or of a customer's store credit in a currency, are documents 1, 2, 3 ... Each holds its
`delta` and the `balance` after it. Who wants to change the balance must have read the last entry n and writes entry n + 1, whose id
only one writer can take; who is refused reads again. So of twenty who spend at once each sees what the one before has left.

Once. What is done has a `reference` (an order, a refund), and is not done again where the chain holds it. An attempt to order that
ended leaves an entry too, `closed` or `given_back`: a checkout that is slower than the sweep finds it and spends nothing.
"""

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from services.orders.declarations.credits import (
    CLOSED,
    GIVEN_BACK,
    MAX_BALANCE,
    SPENT,
    STORE_CREDIT,
    CreditEntry,
    CreditPayment,
)
from services.orders.declarations.order import Order
from services.orders.documents import CREDIT_ENTRY, credit_partition
from services.orders.rules.promotion_uses import Standing
from shared.clock import timestamp
from shared.couch import document_id, time_ordered_id
from shared.errors import Conflict
from shared.money import Money, add, money, shown

STORE_CREDIT_NAME: Final = "Store credit"
NO_PROVIDER: Final = "none"
"""What a payment is by that gift cards and store credit cover."""


class BalanceSpent(Conflict):
    code, title = "balance_spent", "The balance was spent meanwhile"


class AttemptEnded(Conflict):
    """The attempt to order was ended before it had spent the balance."""

    code, title = "attempt_closed", "This attempt to order was closed"


@dataclass(frozen=True)
class CreditKey:
    """Which chain: a gift card's by its id, a customer's store credit by user id and currency."""

    kind: str
    id: str
    currency: str = ""

    @property
    def partition(self) -> str:
        return credit_partition(self.kind, self.id)

    @property
    def prefix(self) -> str:
        """How the keys of its entries begin: a customer has a chain for each currency."""
        return f"{self.currency}-entry" if self.kind == STORE_CREDIT else "entry"

    def entry_id(self, number: int) -> str:
        return document_id(self.partition, f"{self.prefix}{number:06d}")


@dataclass(frozen=True)
class Change:
    """What an entry does: `delta` minor units, for which `reason`, once for a `reference`; one that is `owed` also where less than nothing is
    left."""

    delta: int
    reason: str
    reference: str
    by: str
    note: str = ""
    orderid: str = ""
    owed: bool = False


@dataclass(frozen=True)
class Chain:
    """All entries, oldest first: of each number its revisions, of which there is one but where replicas diverged."""

    key: CreditKey
    slots: Sequence[Sequence[CreditEntry]]

    @property
    def entries(self) -> list[CreditEntry]:
        return [leaves[0] for leaves in self.slots]

    @property
    def next_number(self) -> int:
        """The lowest that nobody has: what one node alone has of it is refused to its writer from then on."""
        taken = {leaves[0]["number"] for leaves in self.slots}
        return next(number for number in itertools.count(1) if number not in taken)

    @property
    def balance(self) -> int:
        """The lowest that any revision leaves."""
        return sum(min(leaf["delta"] for leaf in leaves) for leaves in self.slots)

    @property
    def currency(self) -> str:
        return self.slots[0][0]["currency"] if self.slots else self.key.currency

    @property
    def conflicts(self) -> list[Sequence[CreditEntry]]:
        return [leaves for leaves in self.slots if len(leaves) > 1]

    def found(self, reference: str, *reasons: str) -> CreditEntry | None:
        """The entry that did this, if it is done."""
        return next(
            (each for each in self.entries if each["reference"] == reference and each["reason"] in reasons),
            None,
        )

    def spent_by(self, orderid: str) -> bool:
        """Whether an order has spent something of it and was not given it back."""
        return self.found(orderid, SPENT) is not None and not self.is_closed_for(orderid)

    def is_closed_for(self, orderid: str) -> bool:
        return self.found(orderid, CLOSED, GIVEN_BACK) is not None

    def following(self, change: Change, about: Mapping[str, str] | None = None) -> CreditEntry:
        """The next entry; `about` is what a first one says of the card. Raises BalanceSpent when it would leave less than nothing."""
        balance = self.balance + change.delta
        if change.delta < 0 and balance < 0 and not change.owed:
            left = money(max(0, self.balance), self.currency)
            raise BalanceSpent(
                f"It was spent meanwhile: {shown(left)} are left. Nothing was charged.", balance=left
            )
        known = _about(self.slots[0][0]) if self.slots else about or {}
        return entry_of(self.key, self.next_number, change, balance, known)


def entry_of(
    key: CreditKey, number: int, change: Change, balance: int, about: Mapping[str, str]
) -> CreditEntry:
    return CREDIT_ENTRY.build(
        key.entry_id(number),
        kind=key.kind,
        id=key.id,
        number=number,
        delta=change.delta,
        balance=min(balance, MAX_BALANCE),
        reason=change.reason,
        reference=change.reference,
        mark=time_ordered_id(),
        date=timestamp(),
        by=change.by,
        note=change.note,
        **about,
        **({"orderid": change.orderid} if change.orderid else {}),
    )


def about_store_credit(currency: str) -> dict[str, str]:
    return {"currency": currency, "name": STORE_CREDIT_NAME, "issued": "", "expires": ""}


def _about(entry: CreditEntry) -> dict[str, str]:
    return {
        "currency": entry["currency"],
        "name": entry["name"],
        "issued": entry["issued"],
        "expires": entry["expires"],
    }


def settled(
    leaves: Sequence[CreditEntry], chain: Chain, standing: Mapping[str, Standing]
) -> tuple[CreditEntry, list[CreditEntry]]:
    """Of several revisions of one number the one that stays, and those whose doing is written behind it; the others only go.

    Of those who wrote a number at most one was told that it is theirs. An order that was paid was, when what it spent is under no other
    number: what an open order wrote beside it was refused, and that order asks again. Of several open ones the earliest stays, and the
    others as far as the balance goes: whose part goes finds it spent when it asks again, or is paid on the provider's page. A request that
    was sent again to another node may have written for the same order as well; it spends once.
    """
    by_time = sorted(leaves, key=lambda leaf: (leaf["date"], leaf["mark"]))
    undone = [leaf for leaf in by_time if not is_elsewhere(leaf, chain)]
    stays = min(undone or by_time, key=lambda leaf: _precedence(leaf, standing))
    is_told = stays["reason"] == SPENT and _standing(stays, standing) is Standing.PAID
    behind = [
        leaf
        for leaf in undone
        if leaf is not stays
        and not _is_of_one_attempt(leaf, stays)
        and not (is_told and leaf["reason"] == SPENT and _standing(leaf, standing) is Standing.OPEN)
    ]
    return stays, _covered(behind, chain, stays, standing)


def _covered(
    behind: Sequence[CreditEntry], chain: Chain, stays: CreditEntry, standing: Mapping[str, Standing]
) -> list[CreditEntry]:
    """Without what open orders spent that would leave less than nothing."""
    others = [leaves for leaves in chain.slots if leaves[0]["number"] != stays["number"]]
    left = sum(min(leaf["delta"] for leaf in leaves) for leaves in others) + stays["delta"]
    kept = []
    for leaf in behind:
        is_open = leaf["reason"] == SPENT and _standing(leaf, standing) is Standing.OPEN
        if not is_open or left + leaf["delta"] >= 0:
            kept.append(leaf)
            left += leaf["delta"]
    return kept


def _precedence(leaf: CreditEntry, standing: Mapping[str, Standing]) -> int:
    """What an order that was paid spent comes first. Of an attempt's spending and its end that was written with it the spending stays
    while the order is open, the end when it has ended."""
    if leaf["reason"] == SPENT:
        return {Standing.PAID: 0, Standing.OPEN: 1, Standing.ENDED: 3}[_standing(leaf, standing)]
    return 2 if leaf["reason"] == CLOSED else 1


def _standing(leaf: CreditEntry, standing: Mapping[str, Standing]) -> Standing:
    return standing.get(leaf.get("orderid", ""), Standing.OPEN)


def _is_of_one_attempt(leaf: CreditEntry, stays: CreditEntry) -> bool:
    """Whether both do the same, or are an order's spending and its end: that one of them stays is the whole of it."""
    ends = (SPENT, CLOSED, GIVEN_BACK)
    is_same = leaf["reason"] == stays["reason"] or (leaf["reason"] in ends and stays["reason"] in ends)
    return leaf["reference"] == stays["reference"] and is_same


def is_elsewhere(entry: CreditEntry, chain: Chain) -> bool:
    """Whether what an entry does is done, or was given up, under another number."""
    others = [each for leaves in chain.slots for each in leaves if each["number"] != entry["number"]]
    done = any(
        (each["reference"], each["reason"]) == (entry["reference"], entry["reason"]) for each in others
    )
    ended = any(
        each["reference"] == entry["reference"] and each["reason"] in (CLOSED, GIVEN_BACK) for each in others
    )
    return done or ended


def key_of(credit: CreditPayment) -> CreditKey:
    """The chain that a part of an order's payment is taken from."""
    return CreditKey(credit["kind"], credit["id"], credit["amount"]["currency"])


def credits_of(order: Order) -> list[CreditPayment]:
    return order.get("credits", [])


def paid_by_credits(credits: Sequence[CreditPayment]) -> int:
    return sum(credit["amount"]["amount"] for credit in credits)


def to_charge(order: Order) -> Money:
    """What is left for the payment provider."""
    total = order["total"]
    return money(total["amount"] - paid_by_credits(credits_of(order)), total["currency"])


def split(total: int, available: Sequence[int]) -> list[int]:
    """How much of a total each pays, the first one first, none more than it has."""
    parts = []
    for each in available:
        parts.append(min(max(0, each), total))
        total -= parts[-1]
    return parts


def refund_parts(paid: Sequence[CreditPayment], refunded: int, amount: int) -> list[CreditPayment]:
    """Of a refund of `amount`, after others of `refunded` together, what goes back to gift cards and store credit: as much as they paid
    and have not got back yet. They come before the card, the first one first."""
    whole = [credit["amount"]["amount"] for credit in paid]
    left = [most - back for most, back in zip(whole, split(refunded, whole), strict=True)]
    return [
        {**credit, "amount": money(part, credit["amount"]["currency"])}
        for credit, part in zip(paid, split(amount, left), strict=True)
        if part
    ]


def without_expired(parts: Sequence[CreditPayment], userid: str, day: str) -> list[CreditPayment]:
    """What would go to gift cards whose last `day` is over, where nobody could spend it, goes to the customer's store credit."""
    expired = [part for part in parts if part.get("expires") and part["expires"] < day]
    if not expired:
        return list(parts)
    return with_store_credit(
        [part for part in parts if part not in expired], userid, add(*(part["amount"] for part in expired))
    )


def entry_answer(entry: CreditEntry) -> dict[str, Any]:
    currency = entry["currency"]
    return {
        "number": entry["number"],
        "amount": money(entry["delta"], currency),
        "balance": money(entry["balance"], currency),
        "reason": entry["reason"],
        "date": entry["date"],
        "by": entry["by"],
        "note": entry["note"],
        **({"orderid": entry["orderid"]} if entry.get("orderid") else {}),
    }


def with_store_credit(parts: Sequence[CreditPayment], userid: str, amount: Money) -> list[CreditPayment]:
    """The parts of a refund with so much more to a customer's store credit."""
    more: CreditPayment = {"kind": STORE_CREDIT, "id": userid, "name": STORE_CREDIT_NAME, "amount": amount}
    same = [each for each in parts if (each["kind"], each["id"]) == (STORE_CREDIT, userid)]
    if same:
        more["amount"] = add(amount, same[0]["amount"])
    return [*(each for each in parts if each not in same), more]


def is_covered(order: Order) -> bool:
    """Whether gift cards, store credit and discounts leave nothing to pay, so that no provider is asked."""
    return not to_charge(order)["amount"]
