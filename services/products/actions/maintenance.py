"""What the worker does behind the shop's back: fresh summaries, reservations whose time is up, diverged replicas."""

import logging
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

from services.products.actions import catalogue
from services.products.documents import SETTLEMENT, settlement_id, summed_up_in
from services.products.rules import ledger, ratings
from services.products.rules.ledger import Line
from services.products.rules.product import is_product
from services.products.store import Store
from shared.clock import iso, timestamp
from shared.couch import Doc, NoSuchDocument, UpdateConflict, time_ordered_id

log = logging.getLogger(__name__)

SWEPT, SUMMED_UP = "reservations-swept", "products-summed-up"
FEED_PAGE = 2000
PAGE = 200
LOOK_BACK = timedelta(minutes=5)
SETTLE_AFTER = timedelta(seconds=30)
MOVES_LOOKED_AT = timedelta(days=1)
_TRIES = 3


def sum_up(store: Store) -> int:
    """Follows movements and reviews, and refreshes their products; returns how many had changed.

    It begins where it began to find news last time: of a cluster, the copy that was summed up then may have been late.
    """
    place, changed = store.ledger.checkpoint(SUMMED_UP), 0
    since, again = place.get("again", "0"), place.get("since", "0")
    while True:
        found = store.catalogue.changes(since, FEED_PAGE)
        changed += refresh(store, filter(None, (summed_up_in(row.id) for row in found.rows)))
        since = found.last_seq
        if (since, again) != (place.get("since"), place.get("again")):
            place = {**store.ledger.checkpoint(SUMMED_UP), "since": since, "again": again}
            store.ledger.keep_checkpoint(SUMMED_UP, place)
        if len(found.rows) < FEED_PAGE:
            return changed


def refresh(store: Store, product_ids: Iterable[str]) -> int:
    """Brings `stock` and `rating` on product documents up to their movements and reviews; returns how many had changed."""
    wanted, changed = sorted(set(product_ids)), 0
    for _ in range(_TRIES):
        docs = store.catalogue.get_many(wanted).values()
        stale = [fresh for doc in docs if is_product(doc) and (fresh := _summed_up(store, doc)) != doc]
        written = store.catalogue.put_many(stale) if stale else []
        changed += sum(not row.error for row in written)
        wanted = [row.id for row in written if row.error == "conflict"]
        if not wanted:
            break
    return changed


def _summed_up(store: Store, doc: Doc) -> Doc:
    level = store.ledger.level(doc["taxonomy"], doc["productid"])
    stars = store.reviews.stars(doc["taxonomy"], doc["productid"])
    return {**doc, "stock": max(level, 0), "rating": ratings.rating(stars), "rank": ratings.rank(stars)}


@dataclass
class Swept:
    """What a sweep did. `open_since`: when the earliest reservation ended that a later sweep must look at again."""

    ended: int = 0
    given_back: int = 0
    open_since: str = "~"


def sweep(store: Store, now: datetime) -> Swept:
    """Ends reservations whose time is up and gives back what is out of stock without a reason.

    A reservation is ended in one sweep and its goods go back in a later one, SETTLE_AFTER the end was written: a sale
    that was written at the same moment elsewhere in the cluster is seen by then, and wins.
    """
    place = store.ledger.checkpoint(SWEPT)
    cursor, swept = None, Swept()
    while True:
        page = store.ledger.reservations(place.get("until", ""), iso(now), PAGE, cursor)
        _sweep_page(store, page.items, now, swept)
        if page.next is None:
            break
        cursor = page.next
    until = min(iso(now - LOOK_BACK), swept.open_since)
    store.ledger.keep_checkpoint(SWEPT, {**store.ledger.checkpoint(SWEPT), "until": until})
    return swept


def _sweep_page(store: Store, reservations: list[Doc], now: datetime, swept: Swept) -> None:
    ids = [settlement_id(each["taxonomy"], each["productid"], each["orderid"]) for each in reservations]
    settled = store.ledger.get_many(ids)
    late = [each for each, docid in zip(reservations, ids, strict=True) if docid not in settled]
    written = store.ledger.write([_expired(each, iso(now)) for each in late]) if late else []
    swept.ended += sum(not row.error for row in written)
    keys = [(each["orderid"], each["productid"]) for each in reservations]
    held = store.ledger.held(keys) if settled else {}
    for each, docid, key in zip(reservations, ids, keys, strict=True):
        settlement = settled.get(docid)
        if settlement and settlement["date"] <= iso(now - SETTLE_AFTER):
            swept.given_back += _put_right(store, each, settlement, held.get(key, 0), iso(now))
        else:
            swept.open_since = min(swept.open_since, each["expires"])


def _expired(reservation: Doc, date: str) -> Doc:
    taxonomy, productid, orderid = reservation["taxonomy"], reservation["productid"], reservation["orderid"]
    return SETTLEMENT.new(
        settlement_id(taxonomy, productid, orderid), productid=productid, taxonomy=taxonomy, orderid=orderid,
        outcome=ledger.EXPIRED, quantity=reservation["quantity"], date=date,
    )  # fmt: skip


def _put_right(store: Store, reservation: Doc, settlement: Doc, held: int, date: str) -> int:
    """Brings what an order keeps out of stock to what it should; how many were given back.

    Fewer than were sold are kept out when a payment and this sweep crossed: they are taken again while they last.
    """
    if held == ledger.due(reservation, settlement["outcome"], 0):
        return 0
    taxonomy, productid, orderid = reservation["taxonomy"], reservation["productid"], reservation["orderid"]
    outcome = ledger.strongest([leaf["outcome"] for leaf in store.ledger.leaves(settlement["_id"])])
    surplus = held - ledger.due(reservation, outcome, store.ledger.returned(taxonomy, productid, orderid))
    if not surplus:
        return 0
    line, reason = (
        Line(productid, tuple(taxonomy), abs(surplus)),
        ledger.RELEASED if surplus > 0 else ledger.RESERVED,
    )
    try:
        store.ledger.append(line, surplus, reason, time_ordered_id(), date, orderid=orderid)
    except ledger.OutOfStock:
        log.error("order %s: %s of %s were sold twice", orderid, -surplus, productid)
        return 0
    return max(surplus, 0)


def settle_conflicts(store: Store) -> int:
    """Applies the written rules to documents that replicas wrote differently; returns how many revisions went."""
    return sum(_settle(store, row["id"], row["key"]) for row in store.catalogue.conflicts(PAGE))


def finish_moves(store: Store, now: datetime) -> int:
    """Takes products out of the category they left when a crash came in between; returns how many there were."""
    moved = store.catalogue.moved_since(iso(now - MOVES_LOOKED_AT))
    left_behind = [doc for doc in store.catalogue.get_many(list(moved.values())).values() if is_product(doc)]
    for doc in left_behind:
        catalogue.finish_moves(store, doc["productid"], iso(now))
    return len(left_behind)


def _settle(store: Store, docid: str, kind: str) -> int:
    try:
        leaves = store.ledger.leaves(docid)
        gone = _RULES.get(kind, _lost_slots)(store, leaves)
        store.ledger.remove(gone)
        if gone and kind == "movement":
            _correct(store, leaves[0])
        if gone and kind == "product":
            refresh(store, [docid])
    except (NoSuchDocument, UpdateConflict):
        return 0
    return len(gone)


def _older_products(store: Store, leaves: list[Doc]) -> list[Doc]:
    """The edit made last stays, a move to another category being one; stock and rating are summed up again."""
    return sorted(leaves, key=lambda leaf: (leaf["edited"], leaf["_rev"]))[:-1]


def _weaker_settlements(store: Store, leaves: list[Doc]) -> list[Doc]:
    strongest = ledger.strongest([leaf["outcome"] for leaf in leaves])
    stays = next(leaf for leaf in leaves if leaf["outcome"] == strongest)
    return [leaf for leaf in leaves if leaf is not stays]


def _lost_slots(store: Store, leaves: list[Doc]) -> list[Doc]:
    first = leaves[0]
    chain = store.ledger.chain(first["taxonomy"], first["productid"])
    later = {each["mark"] for each in chain if each["slot"] > first["slot"]}
    orders = [leaf["orderid"] for leaf in leaves if "orderid" in leaf]
    ids = {settlement_id(first["taxonomy"], first["productid"], orderid): orderid for orderid in orders}
    outcomes = {ids[docid]: doc["outcome"] for docid, doc in store.ledger.get_many(list(ids)).items()}
    return ledger.losers(leaves, outcomes, later)


_RULES = {"product": _older_products, "forward": _older_products, "settlement": _weaker_settlements}


def _correct(store: Store, movement: Doc) -> None:
    """While a slot was in doubt its lowest level counted; now the sum of the movements does."""
    line = Line(movement["productid"], tuple(movement["taxonomy"]), 0)
    store.ledger.correct(line, time_ordered_id(), timestamp())
