"""Counted uses of promotions: planned when an order is priced, taken before it is charged, given back when it comes to nothing.

A slot is taken under the revision that it had when it was chosen, so that two orders never have the same one. Giving back also
changes the slots that the order chose and does not have: a slow checkout that comes after it gets none, and finds its attempt ended.
"""

import hashlib
import hmac
import random
from collections.abc import Sequence
from typing import Final

from services.orders.actions.promotions import FIRST_SLOTS, add_slots
from services.orders.declarations.order import Order
from services.orders.declarations.promotions import ChosenSlot, PlannedUse, PromotionUse, SlotChoice
from services.orders.dependencies import Dependencies
from services.orders.documents import (
    PROMOTION_USE,
    SLOT_CHOICE,
    choice_key,
    customer_use_key,
    use_key,
)
from services.orders.rules.assembly import OrderDocuments
from services.orders.rules.pricing import (
    Promotion,
    Promotions,
    Quote,
    Shopper,
    normalized,
    not_valid,
    used_up,
)
from shared.clock import timestamp

CHOICES, MIN_FREE, MAX_ATTEMPTS = 50, 10, 100
NO_SLOT: Final[ChosenSlot] = {"promotion": "", "number": 0, "rev": ""}


def shopper(
    deps: Dependencies,
    promotions: Promotions,
    userid: str | None,
    group: str,
    codes: Sequence[str],
    moment: str,
) -> Shopper:
    """Who buys, as far as promotions ask; 1 global query where a code is for first orders only."""
    known = [promotions.by_code.get(normalized(code)) for code in codes]
    asks = userid is not None and any(each is not None and each.first_order for each in known)
    first = asks and userid is not None and not deps.orders.has_ordered(userid)
    return Shopper(moment, tuple(codes), group, is_first_order=first)


def plan_uses(deps: Dependencies, priced: Quote, owner: str) -> tuple[PlannedUse, ...]:
    """The uses that the order will take. 1 partition query for each promotion with a limit. Raises CodeUsedUp."""
    return tuple(
        _planned(deps, promotion, code, owner)
        for promotion, code in priced.promotions
        if promotion.limit or promotion.per_customer
    )


def check_uses(deps: Dependencies, priced: Quote, owner: str) -> None:
    """Whether an order could be placed now. Raises CodeUsedUp, CodeNotValid."""
    for promotion, code in priced.promotions:
        if promotion.limit and not _free_slots(deps, promotion):
            raise used_up(code)
        if promotion.per_customer and owner:
            ids = _customer_ids(promotion.id, _customer(deps, owner), promotion.per_customer)
            taken = [use for use in deps.promotions.read(ids).values() if not use["free"]]
            if len(taken) >= promotion.per_customer:
                raise not_valid(code, "per_customer")


def take(deps: Dependencies, found: OrderDocuments) -> bool:
    """Takes the order's planned uses, or others where somebody was quicker. 1 write; nothing for an order without any.

    False when the attempt has been ended meanwhile. Raises CodeUsedUp, CodeNotValid. May be repeated.
    """
    order = found.order
    planned = order.get("uses", [])
    refused = deps.promotions.write([claim for use in planned for claim in _first_claims(order, use)])
    for use in planned if refused else ():
        slot, customer = use.get("slot"), use.get("customer")
        if slot and use_key(use["promotion"], slot["number"]) in refused and not _take_slot(deps, order, use):
            return False
        if customer and customer_use_key(use["promotion"], customer, 1) in refused:
            _take_customer_use(deps, order, use, customer)
    return True


def give_back(deps: Dependencies, found: OrderDocuments) -> None:
    """Frees what the order has and bars it from taking more. May be repeated."""
    order = found.order
    for use in order.get("uses", []):
        if slot := use.get("slot"):
            chosen = [slot, *_all_choices(deps, order, use["promotion"])]
            _free(deps, order, {use_key(each["promotion"], each["number"]): each["rev"] for each in chosen})
        if customer := use.get("customer"):
            ids = _customer_ids(use["promotion"], customer, use["per_customer"])
            _free(deps, order, dict.fromkeys(ids, ""))


def _planned(deps: Dependencies, promotion: Promotion, code: str, owner: str) -> PlannedUse:
    use: PlannedUse = {"promotion": promotion.id, "code": code}
    if promotion.limit:
        use["slot"] = _choose(deps, promotion.id, promotion.limit, code)
        use["limit"] = promotion.limit
    if promotion.per_customer:
        use["customer"] = _customer(deps, owner)
        use["per_customer"] = promotion.per_customer
    return use


def _choose(deps: Dependencies, promotion: str, limit: int, code: str) -> ChosenSlot:
    """One of the first free ones by chance, so that those who come together do not choose the same. Raises CodeUsedUp."""
    free = _free_uses(deps, promotion, limit)
    if not free:
        raise used_up(code)
    slot = random.choice(free)
    return {"promotion": promotion, "number": slot["number"], "rev": slot["_rev"]}


def _free_slots(deps: Dependencies, promotion: Promotion) -> list[PromotionUse]:
    return _free_uses(deps, promotion.id, promotion.limit or 0)


def _free_uses(deps: Dependencies, promotion: str, limit: int) -> list[PromotionUse]:
    """Where few are left of those that there are, more are added first, up to the limit."""
    free = deps.promotions.free_uses(promotion, count=CHOICES)
    if len(free) >= MIN_FREE or limit <= FIRST_SLOTS:
        return free
    add_slots(deps, promotion, limit)
    return deps.promotions.free_uses(promotion, count=CHOICES)


def _customer(deps: Dependencies, owner: str) -> str:
    """Tells customers apart without telling who they are."""
    return hmac.new(deps.settings.secret_key.encode(), f"code {owner}".encode(), hashlib.sha256).hexdigest()[
        :32
    ]


def _customer_ids(promotion: str, customer: str, per_customer: int) -> list[str]:
    return [customer_use_key(promotion, customer, number) for number in range(1, per_customer + 1)]


def _first_claims(order: Order, use: PlannedUse) -> list[PromotionUse]:
    claims = []
    if slot := use.get("slot"):
        claims.append(_slot_claim(order, slot))
    if customer := use.get("customer"):
        claims.append(_customer_claim(order, use["promotion"], customer, 1))
    return claims


def _slot_claim(order: Order, slot: ChosenSlot) -> PromotionUse:
    docid = use_key(slot["promotion"], slot["number"])
    return _claim(docid, order, slot["promotion"], slot["number"], slot["rev"])


def _customer_claim(order: Order, promotion: str, customer: str, number: int, rev: str = "") -> PromotionUse:
    docid = customer_use_key(promotion, customer, number)
    return _claim(docid, order, promotion, number, rev, customer=customer)


def _claim(docid: str, order: Order, promotion: str, number: int, rev: str, **more: str) -> PromotionUse:
    claim = PROMOTION_USE.build(
        docid,
        promotion=promotion,
        number=number,
        free=False,
        orderid=order["orderid"],
        date=timestamp(),
        **more,
    )
    if rev:
        claim["_rev"] = rev
    return claim


def _take_slot(deps: Dependencies, order: Order, use: PlannedUse) -> bool:
    """Another slot, unless the planned one is the order's already; False when the attempt has been ended."""
    slot, promotion = use["slot"], use["promotion"]
    for attempt in range(1, MAX_ATTEMPTS):
        if _has(deps, order, use_key(promotion, slot["number"])):
            return True
        slot = _next_choice(deps, order, use, attempt)
        if not slot["number"]:
            return False
        if not deps.promotions.write([_slot_claim(order, slot)]):
            return True
    raise used_up(use["code"])


def _has(deps: Dependencies, order: Order, docid: str) -> bool:
    use = deps.promotions.read([docid]).get(docid)
    return use is not None and use["orderid"] == order["orderid"]


def _next_choice(deps: Dependencies, order: Order, use: PlannedUse, attempt: int) -> ChosenSlot:
    """Written down before it is taken, so that whoever gives it back knows of it; another request's, if that was quicker."""
    promotion = use["promotion"]
    known = deps.promotions.choice(order["orderid"], promotion, attempt)
    if known is not None:
        return known["slot"]
    slot = _choose(deps, promotion, use["limit"], use["code"])
    return _written_choice(deps, order, promotion, attempt, slot)


def _written_choice(
    deps: Dependencies, order: Order, promotion: str, attempt: int, slot: ChosenSlot
) -> ChosenSlot:
    choice: SlotChoice = SLOT_CHOICE.build(
        choice_key(order["orderid"], promotion, attempt),
        orderid=order["orderid"],
        attempt=attempt,
        slot=slot,
        date=timestamp(),
    )
    return deps.orders.add(choice)[0]["slot"]


def _all_choices(deps: Dependencies, order: Order, promotion: str) -> list[ChosenSlot]:
    """Every slot that the order chose after the planned one; from now on it chooses none."""
    found: list[ChosenSlot] = []
    for attempt in range(1, MAX_ATTEMPTS):
        slot = _written_choice(deps, order, promotion, attempt, NO_SLOT)
        if not slot["number"]:
            break
        found.append(slot)
    return found


def _take_customer_use(deps: Dependencies, order: Order, use: PlannedUse, customer: str) -> None:
    """Raises CodeNotValid when the customer has none left. One of an order that came to nothing is taken over."""
    promotion, number = use["promotion"], 0
    ids = _customer_ids(promotion, customer, use["per_customer"])
    known = deps.promotions.read(ids)
    if any(each["orderid"] == order["orderid"] for each in known.values()):
        return
    for number, docid in enumerate(ids, 1):
        before = known.get(docid)
        if before is not None and not before["free"] and not _came_to_nothing(deps, before["orderid"]):
            continue
        rev = before["_rev"] if before else ""
        if not deps.promotions.write([_customer_claim(order, promotion, customer, number, rev)]):
            return
    raise not_valid(use["code"], "per_customer")


def _came_to_nothing(deps: Dependencies, orderid: str) -> bool:
    return deps.orders.order(orderid).cancellation is not None


def _free(deps: Dependencies, order: Order, revisions: dict[str, str]) -> None:
    """Frees those of the order. Of what it only chose the revision (as it was then) changes, so that it cannot take it any more."""
    ids = list(revisions)
    while ids:
        known = deps.promotions.read(ids)
        mine = [use for use in known.values() if use["orderid"] == order["orderid"]]
        chosen = [use for use in known.values() if use["free"] and use["_rev"] == revisions[use["_id"]]]
        freed = [{**use, "free": True, "orderid": "", "date": timestamp()} for use in (*mine, *chosen)]
        ids = list(deps.promotions.write(freed))
