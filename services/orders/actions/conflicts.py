"""Orders that two replicas wrote apart are brought together by the rules of `rules.merging`."""

import logging

from services.orders.actions.shop import Shop
from services.orders.rules.merging import NUMBERED, renumbered, same, settled
from shared.couch import Doc
from shared.errors import Conflict, NotFound

log = logging.getLogger(__name__)

PAGE = 200


def settle_conflicts(shop: Shop) -> int:
    """Settles documents with conflicting revisions; how many revisions went. May run anywhere, any number of times."""
    return sum(_settle(shop, docid) for docid in shop.orders.conflicted(limit=PAGE))


def _settle(shop: Shop, docid: str) -> int:
    try:
        stays, going = settled(shop.orders.leaves(docid))
        for loser in going:
            _keep_what_counts(shop, loser, stays)
            shop.orders.remove_revision(docid, loser["_rev"])
    except (Conflict, NotFound):
        log.info("%s changed while its conflict was settled; it is looked at again", docid)
        return 0
    return len(going)


def _keep_what_counts(shop: Shop, loser: Doc, stays: Doc) -> None:
    """Written before the loser goes: a crash in between leaves the conflict, and the content is seen to be there."""
    if loser["type"] not in NUMBERED:
        return
    siblings = shop.orders.order(loser["orderid"]).of_type(loser["type"])
    taken = {doc["number"] for doc in siblings}
    moved = renumbered(loser, stays, taken)
    if moved and not any(same(moved, doc) for doc in siblings if doc["_id"] != loser["_id"]):
        shop.orders.add(moved)
