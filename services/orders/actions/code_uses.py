"""Counted uses of promotions: planned when an order is priced, taken before it is charged, given back when it comes to nothing.

A slot is taken under the revision that it had when it was chosen, so that two orders never have the same one; on a cluster it is
the order's that a majority of the copies gave it to. Giving back also changes the slots that the order chose and does not have: a
slow checkout that comes after it gets none, and finds its attempt ended.
"""

import logging
from collections.abc import Collection, Sequence
from typing import Final

from services.orders.actions.planned_uses import choose_slot, customer_use_ids, open_customer_uses
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
from services.orders.rules.archive import archived_of
from services.orders.rules.assembly import OrderDocuments
from services.orders.rules.pricing import PriceChanged, not_valid, used_up
from services.orders.rules.progress import CANCELLED
from services.orders.rules.promotion_uses import Standing, kept_use
from shared.clock import timestamp
from shared.errors import AisleError, Conflict, Invalid

log = logging.getLogger(__name__)

MAX_ATTEMPTS = 100
NO_SLOT: Final[ChosenSlot] = {"promotion": "", "number": 0, "rev": ""}


def take(deps: Dependencies, found: OrderDocuments) -> bool:
    """Takes the order's planned uses, or others where somebody was quicker. 1 write; nothing for an order without any.

    False when the attempt has been ended meanwhile. Raises CodeUsedUp, CodeNotValid, PriceChanged. May be repeated.
    """
    order = found.order
    planned = order.get("uses", [])
    refused = deps.promotions.claim([claim for use in planned for claim in _first_claims(order, use)])
    return all(_take(deps, order, use, refused) for use in planned) if refused else True


def give_back(deps: Dependencies, found: OrderDocuments) -> None:
    """Frees what the order has and bars it from taking more. May be repeated."""
    order = found.order
    for use in order.get("uses", []):
        chosen = _all_choices(deps, order, use["promotion"])
        if slot := use.get("slot"):
            chosen.insert(0, slot)
            _free(deps, order, {use_key(each["promotion"], each["number"]): each["rev"] for each in chosen})
        if customer := use.get("customer"):
            _free_customer_uses(deps, order, use, customer)


def settle(deps: Dependencies, leaves: Sequence[PromotionUse]) -> int:
    """Of several revisions of a use that of the order which has it stays; how many went, none while that cannot be told. Raises OrderBehind.

    An order that loses it without having another one takes another one, if one is left: it may have been told that it has one.
    """
    orders = {
        leaf["orderid"]: deps.orders.confirmed_order(leaf["orderid"]) for leaf in leaves if not leaf["free"]
    }
    standing = {orderid: standing_of(found) for orderid, found in orders.items()}
    docid = leaves[0]["_id"]
    others = _uses_beside(deps, leaves[0], list(orders.values()))
    stays = kept_use(leaves, standing, {use["orderid"] for use in others if use["_id"] != docid})
    if stays is None:
        return 0
    going = [leaf for leaf in leaves if leaf is not stays]
    for leaf in going:
        deps.orders.remove_revision(docid, leaf["_rev"])
    if not stays["free"] and standing[stays["orderid"]] is Standing.ENDED:
        deps.promotions.free([stays])
    for orderid in orders.keys() - {stays["orderid"]}:
        if standing[orderid] is not Standing.ENDED:
            _take_another(deps, orders[orderid], leaves[0])
    return len(going)


def _uses_beside(
    deps: Dependencies, use: PromotionUse, orders: Sequence[OrderDocuments]
) -> Collection[PromotionUse]:
    """All slots of the promotion; all that its customer can have, of one of a customer's. 1 partition query or 1 read."""
    if "customer" not in use:
        return deps.promotions.uses(use["promotion"])
    planned = [plan for found in orders if (plan := _planned(found, use["promotion"]))]
    most = max((plan.get("per_customer", 0) for plan in planned), default=0)
    return deps.promotions.read(customer_use_ids(use["promotion"], use["customer"], most)).values()


def _take_another(deps: Dependencies, found: OrderDocuments, use: PromotionUse) -> None:
    """Nothing where the order has one, also where two workers decided against it at once. What is one too many is only logged."""
    planned = _planned(found, use["promotion"])
    if planned is None:
        return
    try:
        if "customer" in use:
            _take_customer_use(deps, found.order, planned, use["customer"])
        elif not _has_planned_slot(deps, found.order, planned):
            _take_slot(deps, found.order, planned)
    except (Conflict, Invalid):
        log.warning("promotion %s: order %s has no use of its own", use["promotion"], found.order["orderid"])


def _planned(found: OrderDocuments, promotion: str) -> PlannedUse | None:
    uses = found.order.get("uses", []) if found.exists else []
    return next((use for use in uses if use["promotion"] == promotion), None)


def standing_of(found: OrderDocuments) -> Standing:
    """Whether an order was paid, is open, or came to nothing."""
    if archived := archived_of(found):
        return Standing.ENDED if archived["status"] == CANCELLED else Standing.PAID
    if not found.exists or found.cancellation is not None:
        return Standing.ENDED
    return Standing.OPEN if found.is_open else Standing.PAID


def _take(deps: Dependencies, order: Order, use: PlannedUse, refused: set[str]) -> bool:
    """What somebody else has written of a use is taken otherwise; False when the attempt has been ended."""
    slot, customer, promotion = use.get("slot"), use.get("customer"), use["promotion"]
    if slot and use_key(promotion, slot["number"]) in refused and not _take_slot(deps, order, use):
        return False
    refused_customer = customer and customer_use_key(promotion, customer, 1) in refused
    return not refused_customer or _take_customer_use(deps, order, use, str(customer))


def _refusal(use: PlannedUse, reason: str = "") -> AisleError:
    """Why an order cannot have what it was priced with: of a code by its name, of what applied by itself as a price that has changed."""
    if not use["code"]:
        return PriceChanged(
            "An offer of this order has been used as often as it could be; look at the new total."
        )
    return not_valid(use["code"], reason) if reason else used_up(use["code"])


def forget_customer_uses(deps: Dependencies, orderids: Sequence[str]) -> None:
    """What would say that these orders were one customer's is removed; the slots that they have stay used. May be repeated."""
    for order in deps.orders.headers(orderids).values():
        for use in order.get("uses", []):
            if customer := use.get("customer"):
                ids = customer_use_ids(use["promotion"], customer, use["per_customer"])
                uses = deps.promotions.read(ids).values()
                deps.promotions.remove([each for each in uses if each["orderid"] == order["orderid"]])


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
    """Another slot than the planned one; False when the attempt has been ended."""
    for attempt in range(1, MAX_ATTEMPTS):
        slot = _next_choice(deps, order, use, attempt)
        if not slot["number"]:
            return False
        if not deps.promotions.claim([_slot_claim(order, slot)]):
            return True
    raise _refusal(use)


def _has_planned_slot(deps: Dependencies, order: Order, use: PlannedUse) -> bool:
    return deps.promotions.confirm(use_key(use["promotion"], use["slot"]["number"]), order["orderid"])


def _next_choice(deps: Dependencies, order: Order, use: PlannedUse, attempt: int) -> ChosenSlot:
    """Written down before it is taken, so that whoever gives it back knows of it; another request's, if that was quicker."""
    promotion = use["promotion"]
    known = deps.promotions.choice(order["orderid"], promotion, attempt)
    if known is not None:
        return known["slot"]
    slot = choose_slot(deps, promotion, use["limit"])
    if slot is None:
        raise _refusal(use)
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


def _take_customer_use(deps: Dependencies, order: Order, use: PlannedUse, customer: str) -> bool:
    """Another one of the customer's; of an order that came to nothing it is taken over. False when the attempt has been ended.

    Raises CodeNotValid, or PriceChanged, when the customer has none left.
    """
    ids = customer_use_ids(use["promotion"], customer, use["per_customer"])
    for _ in range(MAX_ATTEMPTS):
        known = deps.promotions.read(ids)
        own = [docid for docid, each in known.items() if each["orderid"] == order["orderid"]]
        if any(deps.promotions.confirm(docid, order["orderid"]) for docid in own):
            return True
        if _has_ended(deps, order, use["promotion"]):
            return False
        docid = next(open_customer_uses(deps, ids, known), None)
        if docid is None:
            break
        number, rev = ids.index(docid) + 1, known[docid]["_rev"] if docid in known else ""
        claim = _customer_claim(order, use["promotion"], customer, number, rev)
        if deps.promotions.claim([claim]):
            continue
        if not _has_ended(deps, order, use["promotion"]):
            return True
        _free(deps, order, {docid: ""})
        return False
    raise _refusal(use, "per_customer")


def _has_ended(deps: Dependencies, order: Order, promotion: str) -> bool:
    """Whether its attempt was given back: 1 read for each choice that it made."""
    for attempt in range(1, MAX_ATTEMPTS):
        known = deps.promotions.choice(order["orderid"], promotion, attempt)
        if known is None:
            break
        if not known["slot"]["number"]:
            return True
    return False


def _free_customer_uses(deps: Dependencies, order: Order, use: PlannedUse, customer: str) -> None:
    """The first one is claimed also where there is none: who claims it without a look at what was written before is refused."""
    ids = customer_use_ids(use["promotion"], customer, use["per_customer"])
    deps.promotions.claim([_customer_claim(order, use["promotion"], customer, 1)])
    _free(deps, order, dict.fromkeys(ids, ""))


def _free(deps: Dependencies, order: Order, revisions: dict[str, str]) -> None:
    """Frees those of the order. Of what it only chose the revision (as it was then) changes, so that it cannot take it any more.

    Where another order's revision lies beside the order's, its own was refused and goes: free it could be shown, and taken again.
    """
    ids = list(revisions)
    while ids:
        known = deps.promotions.read(ids)
        mine = [use for use in known.values() if use["orderid"] == order["orderid"]]
        chosen = [use for use in known.values() if use["free"] and use["_rev"] == revisions[use["_id"]]]
        taken: list[PromotionUse] = [{**use, "free": False, "orderid": order["orderid"]} for use in chosen]
        ids = list(deps.promotions.free([*mine, *taken]))
