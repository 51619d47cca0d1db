"""Orders that two replicas wrote apart are brought together by the rules of `rules.merging`."""

import logging

from services.orders.actions import credits, summaries
from services.orders.dependencies import Dependencies
from services.orders.documents import CREDIT_ENTRY, RETURN_REQUEST
from services.orders.rules.credits import CreditKey
from services.orders.rules.merging import NUMBERED, renumbered, same, settled
from shared.couch import Doc
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
        stays, going = settled(leaves)
        for loser in going:
            _preserve_numbered(deps, loser, stays)
            deps.orders.remove_revision(docid, loser["_rev"])
        summaries.summarise_order(deps, stays["orderid"])
    except (Conflict, NotFound):
        log.info("%s changed while its conflict was settled; it is looked at again", docid)
        return 0
    return len(going)


def _preserve_numbered(deps: Dependencies, loser: Doc, stays: Doc) -> None:
    """Written before the loser goes: a crash in between leaves the conflict, and the content is seen to be there."""
    if loser["type"] not in NUMBERED:
        return
    found = deps.orders.order(loser["orderid"])
    siblings = found.of_type(loser["type"])
    others = [back.number for back in found.order_returns] if loser["type"] == RETURN_REQUEST.name else []
    taken = {*others, *(doc["number"] for doc in siblings)}
    moved = renumbered(loser, stays, taken)
    if moved and not any(same(moved, doc) for doc in siblings if doc["_id"] != loser["_id"]):
        deps.orders.add(moved)
