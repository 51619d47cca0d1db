"""Which counted uses of promotions an order would take: chosen when it is priced, and told to who only asks for a quote."""

import hashlib
import hmac
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from services.orders.actions.promotions import FIRST_SLOTS, add_slots, limit_of
from services.orders.declarations.promotions import ChosenSlot, PlannedUse, PromotionUse
from services.orders.dependencies import Dependencies
from services.orders.documents import customer_use_key
from services.orders.rules.identity import same_person
from services.orders.rules.pricing import (
    Promotion,
    Promotions,
    Quote,
    Shopper,
    normalized,
    not_valid,
    used_up,
)

CHOICES, MIN_FREE = 50, 10


@dataclass(frozen=True)
class PlannedUses:
    """What an order takes; `used_up` are promotions that apply by themselves and cannot be used any more."""

    uses: tuple[PlannedUse, ...] = ()
    used_up: frozenset[str] = frozenset()


def shopper(
    deps: Dependencies,
    promotions: Promotions,
    userid: str | None,
    group: str,
    codes: Sequence[str],
    moment: str,
) -> Shopper:
    """Who buys, as far as promotions ask; 1 global query where one is for first orders only."""
    typed = [promotions.by_code.get(normalized(code)) for code in codes]
    known = [each for each in (*typed, *promotions.automatic) if each is not None]
    asks = userid is not None and any(each.first_order and each.holds_at(moment) for each in known)
    first = asks and userid is not None and not deps.orders.has_ordered(userid)
    return Shopper(moment, tuple(codes), group, is_first_order=first, has_account=userid is not None)


def plan_uses(deps: Dependencies, priced: Quote, email: str) -> PlannedUses:
    """The uses that the order will take. 1 partition query for each promotion with a limit. Raises CodeUsedUp."""
    planned = {
        promotion.id: _planned(deps, promotion, code, email)
        for promotion, code in priced.promotions
        if promotion.is_counted
    }
    uses = tuple(use for use in planned.values() if use is not None)
    return PlannedUses(uses, frozenset(planned) - {use["promotion"] for use in uses})


def check_uses(deps: Dependencies, priced: Quote, email: Callable[[], str]) -> PlannedUses:
    """Whether an order could be placed now by who has this e-mail address ("": nobody knows). Raises CodeUsedUp, CodeNotValid."""
    gone = set()
    for promotion, code in priced.promotions:
        if promotion.limit and not _free_uses(deps, promotion.id, promotion.limit):
            if code:
                raise used_up(code)
            gone.add(promotion.id)
        elif promotion.per_customer and (address := email()) and not _has_use_left(deps, promotion, address):
            if code:
                raise not_valid(code, "per_customer")
            gone.add(promotion.id)
    return PlannedUses(used_up=frozenset(gone))


def choose_slot(deps: Dependencies, promotion: str, limit: int) -> ChosenSlot | None:
    """One of the first free ones by chance, so that those who come together do not choose the same; None when all are used."""
    free = _free_uses(deps, promotion, limit)
    if not free:
        return None
    slot = random.choice(free)
    return {"promotion": promotion, "number": slot["number"], "rev": slot["_rev"]}


def customer_use_ids(promotion: str, customer: str, per_customer: int) -> list[str]:
    return [customer_use_key(promotion, customer, number) for number in range(1, per_customer + 1)]


def open_customer_uses(
    deps: Dependencies, ids: Sequence[str], known: dict[str, PromotionUse]
) -> Iterator[str]:
    """Those that a customer can still take, free ones first; last the ones of orders that came to nothing, 1 partition query each."""
    yield from (docid for docid in ids if docid not in known or known[docid]["free"])
    for docid in ids:
        taken = docid in known and not known[docid]["free"]
        if taken and deps.orders.order(known[docid]["orderid"]).cancellation is not None:
            yield docid


def _planned(deps: Dependencies, promotion: Promotion, code: str, email: str) -> PlannedUse | None:
    """None where one that applies by itself cannot be used any more. Of a code the claim says so, for the customer."""
    use: PlannedUse = {"promotion": promotion.id, "code": code}
    if promotion.limit:
        slot = choose_slot(deps, promotion.id, promotion.limit)
        if slot is None and code:
            raise used_up(code)
        if slot is None:
            return None
        use["slot"], use["limit"] = slot, promotion.limit
    if promotion.per_customer:
        if not code and not _has_use_left(deps, promotion, email):
            return None
        use["customer"], use["per_customer"] = _customer(deps, email), promotion.per_customer
    return use


def _has_use_left(deps: Dependencies, promotion: Promotion, email: str) -> bool:
    """1 read."""
    ids = customer_use_ids(promotion.id, _customer(deps, email), promotion.per_customer or 0)
    return next(open_customer_uses(deps, ids, deps.promotions.read(ids)), None) is not None


def _free_uses(deps: Dependencies, promotion: str, limit: int) -> list[PromotionUse]:
    """Where few are left of those that there are, more are added first, up to the limit as it is now: that at hand may be what a node listed
    before it was lowered, or an order's that was priced then. 1 partition query, 2 more and 1 read where few are left of a large limit, and on
    a cluster 1 read where that finds none: it is of one node's index, which may not have the slots of a new promotion yet, or what was given
    back."""
    free = deps.promotions.free_uses(promotion, count=CHOICES)
    if len(free) < MIN_FREE and limit > FIRST_SLOTS:
        limit = min(limit, limit_of(deps, promotion) or limit)
        add_slots(deps, promotion, limit)
        free = deps.promotions.free_uses(promotion, count=CHOICES)
    return free or deps.promotions.free_uses_behind_list(promotion, count=min(limit, CHOICES))


def _customer(deps: Dependencies, email: str) -> str:
    """Tells customers apart without telling who they are: one with an account is the same person as a guest of that e-mail address."""
    secret, person = deps.settings.secret_key.encode(), f"code guest {same_person(email)}"
    return hmac.new(secret, person.encode(), hashlib.sha256).hexdigest()[:32]
