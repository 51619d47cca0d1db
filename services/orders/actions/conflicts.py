"""What two replicas wrote apart is brought together by rule: orders by those of `rules.merging`, the rest where it belongs."""

import logging

from services.orders.actions import (
    code_uses,
    credits,
    first_orders,
    label_conflicts,
    promotions,
    settings_conflicts,
    summaries,
)
from services.orders.dependencies import Dependencies
from services.orders.documents import (
    CODE_CLAIM,
    CREDIT_ENTRY,
    DELIVERY,
    FIRST_ORDER,
    PROMOTION_USE,
    RETURN_REQUEST,
    order_key,
)
from services.orders.rules.credits import CreditKey
from services.orders.rules.merging import NUMBERED, next_in_chain, renumbered, same, settled
from services.orders.rules.order_errors import OrderBehind
from services.orders.rules.writing import numbered_key
from shared.couch import Doc, Document
from shared.errors import Conflict, NotFound

log = logging.getLogger(__name__)

PAGE = 200


def settle_conflicts(deps: Dependencies) -> int:
    """Settles documents with conflicting revisions; how many revisions went. May run anywhere, any number of times."""
    return sum(_settle(deps, docid) for docid in deps.orders.conflicted(limit=PAGE))


def _settle(deps: Dependencies, docid: str) -> int:
    try:
        leaves = deps.orders.leaves(docid)
        if entries := CREDIT_ENTRY.among(leaves):
            key = CreditKey(entries[0]["kind"], entries[0]["id"], entries[0]["currency"])
            return credits.settle(deps, key, entries)
        if uses := PROMOTION_USE.among(leaves):
            return code_uses.settle(deps, uses)
        if claims := CODE_CLAIM.among(leaves):
            return promotions.settle_claims(deps, claims)
        if firsts := FIRST_ORDER.among(leaves):
            return first_orders.settle(deps.summaries, firsts)
        if settings_conflicts.is_setting(leaves[0]):
            return settings_conflicts.settle(deps, leaves)
        shipment = label_conflicts.kept_shipment(deps, leaves)
        stays, going = settled(leaves, _arrived(deps, leaves[0]), shipment)
        for loser in going:
            label_conflicts.keep_spare(deps, loser, stays)
            _preserve_numbered(deps, loser, stays)
            deps.orders.remove_revision(docid, loser["_rev"])
        summaries.summarise_order(deps, stays["orderid"])
    except (Conflict, NotFound, OrderBehind):
        log.info("%s changed while its conflict was settled; it is looked at again", docid)
        return 0
    return len(going)


def _preserve_numbered(deps: Dependencies, loser: Doc, stays: Doc) -> None:
    """Written before the loser goes: a crash in between leaves the conflict, and the content is seen to be there."""
    if loser["type"] == DELIVERY.name:
        return _preserve_delivery(deps, loser, stays)
    if loser["type"] not in NUMBERED:
        return _preserve_part(deps, loser, stays)
    found = deps.orders.order(loser["orderid"])
    siblings = found.of_type(loser["type"])
    others = [back.number for back in found.order_returns] if loser["type"] == RETURN_REQUEST.name else []
    taken = {*others, *(doc["number"] for doc in siblings)}
    moved = renumbered(loser, stays, taken)
    if moved and not any(same(moved, doc) for doc in siblings if doc["_id"] != loser["_id"]):
        _keep(deps, moved)
    return None


def _preserve_part(deps: Dependencies, loser: Doc, stays: Doc) -> None:
    """A parcel of a part of an order, or the decision on it or on cancelled lines, goes behind the last of its chain."""
    found = deps.orders.order(loser["orderid"])
    moved = next_in_chain(loser, stays, found.last_number)
    if moved and not any(_is_copy(moved, doc) for doc in found.documents if doc["_id"] != loser["_id"]):
        _keep(deps, moved)


def _keep(deps: Dependencies, moved: Document) -> None:
    """Raises Conflict where its number is taken by a document that the node's list of the order has not got yet."""
    stored, is_new = deps.orders.add(moved)
    if not is_new and not _is_copy(stored, moved):
        raise Conflict("The list of the order is behind.")


def _is_copy(one: Document, other: Document) -> bool:
    names = ("type", "reference", "courier", "courierid", "date")
    return all(one.get(name) == other.get(name) for name in names)


def _arrived(deps: Dependencies, leaf: Doc) -> str:
    """Of which parcel an arrival should tell, by its number; "" for other documents. Raises Conflict while parcels have one number yet."""
    if leaf["type"] != DELIVERY.name:
        return ""
    number = leaf["_id"].partition(":delivery")[2]
    parcels = deps.orders.leaves(order_key(leaf["orderid"], f"dispatch{number}"))
    if len(parcels) > 1:
        raise Conflict("The parcels have no numbers of their own yet.")
    return str(parcels[0]["courierid"])


def _preserve_delivery(deps: Dependencies, loser: Doc, stays: Doc) -> None:
    """The arrival of a parcel that was given another number; that of one that gave way goes with it."""
    found = deps.orders.order(loser["orderid"])
    for parcel in found.parcels:
        if (
            parcel.is_sent_as(loser["courier"], loser["courierid"])
            and loser["courierid"] != stays["courierid"]
        ):
            moved = {name: value for name, value in loser.items() if name != "_rev"}
            key = numbered_key("delivery", parcel.number)
            deps.orders.add(moved | {"_id": order_key(loser["orderid"], key)})
