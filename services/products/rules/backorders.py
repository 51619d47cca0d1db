"""Goods sold beyond their stock: which are, until how many wait, and who waits.

The chain of such goods goes below zero, and what stands below zero is sold and not here yet. Who waits is read from the chain alone: the
last pieces that orders took and have not given back, so many as are below zero. Whatever raises the level (a delivery, a count, a return,
a cancelled line) thereby goes to the oldest order that waits, in the very slot that it came with; a later buyer takes a later slot. Once a
piece is no longer among the last ones it never is again: taking goods away stops at zero, and new orders come behind. So an order that was
told that its goods are here keeps them, and nothing is given out twice, whoever is killed.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from services.products.declarations.limits import GIFT_CARD, MAX_STOCK
from services.products.declarations.stock import Movement
from shared.couch import Doc


def terms_of(doc: Mapping[str, Any], variant: Mapping[str, Any] | None, shop_default: bool) -> Doc | None:
    """On which terms a product, or a variant of it, is sold beyond its stock; None where it is not. The variant's own word counts first."""
    said = [each for each in (variant, doc) if each is not None]
    allowed = next((each["backorder"] for each in said if each.get("backorder") is not None), shop_default)
    if not allowed or doc.get("kind") == GIFT_CARD:
        return None
    limit = next((each["backorder_limit"] for each in said if each.get("backorder_limit")), None)
    date = next((each["backorder_date"] for each in said if each.get("backorder_date")), "")
    waiting = doc.get("variant_waiting", {}).get(variant["sku"], 0) if variant else doc.get("waiting", 0)
    return {"date": date} | ({"limit": limit, "left": max(limit - waiting, 0)} if limit else {})


def terms_fields(doc: Mapping[str, Any], variant: Mapping[str, Any] | None, shop_default: bool) -> Doc:
    """As an answer has them: nothing where it is not sold beyond its stock."""
    terms = terms_of(doc, variant, shop_default)
    return {"backorder_terms": terms} if terms else {}


def waiting_fields(levels: Mapping[str, int], skus: Sequence[str]) -> Doc:
    """What a product's document says of pieces that are sold and not here yet; nothing where there are none. `skus`: of its variants."""
    waiting = {sku: min(-level, MAX_STOCK) for sku, level in levels.items() if level < 0}
    if not skus:
        return {"waiting": sum(waiting.values())} if waiting else {}
    of_variants = {sku: waiting[sku] for sku in skus if sku in waiting}
    return {"variant_waiting": of_variants, "waiting": sum(of_variants.values())} if of_variants else {}


def waiting_by_order(slots: Iterable[Sequence[Movement]], level: int) -> dict[str, int]:
    """How many pieces of each order wait, by order id, where the chain ends at this `level`.

    `slots` are the revisions of each slot, the newest slot first; no more of them are taken than are needed. Of a slot that is in doubt
    all orders wait that one of its revisions names.
    """
    missing, given_back, found = -level, dict[str, int](), dict[str, int]()
    for leaves in slots if missing > 0 else ():
        taken = []
        for leaf in leaves:
            orderid, delta = leaf.get("orderid"), leaf["delta"]
            if not orderid:
                continue
            if delta > 0:
                given_back[orderid] = given_back.get(orderid, 0) + delta
                continue
            back = min(-delta, given_back.get(orderid, 0))
            given_back[orderid] = given_back.get(orderid, 0) - back
            waits = min(-delta - back, missing)
            if waits:
                found[orderid] = found.get(orderid, 0) + waits
                taken.append(waits)
        missing -= min(taken, default=0)
        if missing <= 0:
            break
    return found
