"""Spending and giving back what gift cards and store credit hold, once each, beside any number of others."""

import logging
import random
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Final

from services.orders.actions.code_uses import standing_of
from services.orders.declarations.credits import (
    CLOSED,
    GIVEN_BACK,
    REFUNDED,
    SPENT,
    STORE_CREDIT,
    CreditEntry,
    CreditPayment,
)
from services.orders.dependencies import Dependencies
from services.orders.rules.assembly import OrderDocuments
from services.orders.rules.credits import (
    AttemptEnded,
    Chain,
    Change,
    CreditKey,
    about_store_credit,
    entry_of,
    is_elsewhere,
    key_of,
    settled,
)
from services.orders.rules.promotion_uses import Standing
from shared.couch import NoSuchDocument, UpdateConflict
from shared.errors import Unavailable

log = logging.getLogger(__name__)

MAX_SECONDS: Final = 8.0
MAX_PAUSE: Final = 0.03

Decide = Callable[[Chain], Change | None]
"""What to do at the end of a chain as it is now; None when there is nothing to do."""


class TooManyWriters(Unavailable):
    code, title = "credit_contended", "Too many spend this at once"


def spend(
    deps: Dependencies, credit: CreditPayment, orderid: str, by: str, known: Chain | None = None
) -> None:
    """Takes what the credit pays of an order, once. Raises BalanceSpent, AttemptEnded.

    `known` is the chain as it was read before: where nothing was written since, it need not be read again.
    """

    def change(chain: Chain) -> Change | None:
        if chain.is_closed_for(orderid):
            raise AttemptEnded("This attempt to order was ended; order again with a new Idempotency-Key.")
        if spent := chain.found(orderid, SPENT):
            deps.credits.confirm(spent)
            return None
        return Change(-credit["amount"]["amount"], SPENT, orderid, by, orderid=orderid)

    append(deps, key_of(credit), change, known)


def record_spent(deps: Dependencies, credit: CreditPayment, orderid: str, by: str) -> None:
    """What a paid order has spent stands in the chain, once: where its entry gave way to another order's while it was charged, the balance
    may be below 0 afterwards, and says what was spent twice."""

    def change(chain: Chain) -> Change | None:
        if chain.found(orderid, SPENT) or chain.is_closed_for(orderid):
            return None
        log.error("order %s: %s was spent by another order as well", orderid, credit["name"])
        return Change(-credit["amount"]["amount"], SPENT, orderid, by, orderid=orderid, owed=True)

    append(deps, key_of(credit), change)


def close(deps: Dependencies, credit: CreditPayment, orderid: str) -> bool:
    """Whether an order has spent the credit; if not, from now on it can't."""
    spent = False

    def change(chain: Chain) -> Change | None:
        nonlocal spent
        spent = chain.spent_by(orderid)
        if spent or chain.is_closed_for(orderid):
            return None
        return Change(0, CLOSED, orderid, "shop", orderid=orderid)

    append(deps, key_of(credit), change)
    return spent


def give_back(deps: Dependencies, credit: CreditPayment, orderid: str) -> None:
    """What an order that came to nothing had spent is there again, once; what it had not spent it can't spend any more."""

    def change(chain: Chain) -> Change | None:
        if chain.is_closed_for(orderid):
            return None
        if not chain.spent_by(orderid):
            return Change(0, CLOSED, orderid, "shop", orderid=orderid)
        return Change(credit["amount"]["amount"], GIVEN_BACK, orderid, "shop", orderid=orderid)

    append(deps, key_of(credit), change)


def refund(deps: Dependencies, credit: CreditPayment, orderid: str, reference: str, note: str) -> None:
    """What is refunded of an order goes back, once for each `reference`."""
    add(
        deps,
        key_of(credit),
        Change(credit["amount"]["amount"], REFUNDED, f"{orderid}.{reference}", "shop", note, orderid),
    )


def add(deps: Dependencies, key: CreditKey, change: Change, about: Mapping[str, str] | None = None) -> Chain:
    """Writes an entry once for its reference; the chain with it. `about` is what the first entry of a chain says."""
    return append(
        deps, key, lambda chain: None if chain.found(change.reference, change.reason) else change, about=about
    )


def append(
    deps: Dependencies,
    key: CreditKey,
    decide: Decide,
    known: Chain | None = None,
    about: Mapping[str, str] | None = None,
) -> Chain:
    """Writes the change that is decided on at the end of a chain, until it is written or there is nothing to do.

    1 partition query and 1 write. Raises TooManyWriters when others are always quicker.
    """
    ends = time.monotonic() + MAX_SECONDS
    while time.monotonic() < ends:
        chain = known or deps.credits.chain(key)
        known = None
        for leaves in chain.conflicts:
            with suppress(UpdateConflict, NoSuchDocument):  # another writer has settled it
                settle(deps, key, leaves)
        if chain.conflicts:
            time.sleep(random.uniform(0, MAX_PAUSE))
            continue
        change = decide(chain)
        if change is None:
            return chain
        entry = chain.following(change, _about(chain, key, about))
        if deps.credits.write(entry):
            return Chain(key, [*chain.slots, [entry]])
        time.sleep(random.uniform(0, MAX_PAUSE))
    raise TooManyWriters("Others spend this at the same time; try again.", retry_after=1)


def settle(deps: Dependencies, key: CreditKey, leaves: Sequence[CreditEntry]) -> int:
    """Of several revisions of one number one stays by the rule of `settled`; what others did is written behind it, unless it is done or was
    given up. 1 partition query, and 1 for each order that wrote it. Raises OrderBehind.

    Only replicas that met again, or a writer that died, leave several; then alone a balance can be below 0.
    """
    orderids = {leaf["orderid"] for leaf in leaves if leaf.get("orderid")}
    standing = {orderid: _standing(deps.orders.confirmed_order(orderid)) for orderid in orderids}
    stays, behind = settled(leaves, deps.credits.chain(key), standing)
    going = [leaf for leaf in leaves if leaf is not stays]
    for leaf in going:
        if leaf in behind:
            _write_behind(deps, key, leaf)
        deps.credits.remove(leaf)
    return len(going)


def _standing(found: OrderDocuments) -> Standing:
    """An order that was paid was told so, whatever became of it."""
    return Standing.PAID if found.payment is not None else standing_of(found)


def _write_behind(deps: Dependencies, key: CreditKey, leaf: CreditEntry) -> None:
    ends = time.monotonic() + MAX_SECONDS
    while time.monotonic() < ends:
        chain = deps.credits.chain(key)
        if is_elsewhere(leaf, chain):
            return
        change = Change(
            leaf["delta"],
            leaf["reason"],
            leaf["reference"],
            leaf["by"],
            leaf["note"],
            leaf.get("orderid", ""),
        )
        about = {name: leaf[name] for name in ("currency", "name", "issued", "expires")}
        balance = sum(entry["delta"] for entry in chain.entries) + leaf["delta"]
        if deps.credits.write(entry_of(key, chain.next_number, change, balance, about)):
            return
    raise TooManyWriters("Others change this at the same time; try again.", retry_after=1)


def _about(chain: Chain, key: CreditKey, about: Mapping[str, str] | None) -> Mapping[str, str] | None:
    if chain.slots or key.kind != STORE_CREDIT:
        return about
    return about_store_credit(key.currency)
