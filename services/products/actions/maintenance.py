"""Periodic work of the worker: fresh summaries, reservations whose time is up, goods taken twice. What replicas wrote apart: `conflicts`."""

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import cast

from services.products.actions import catalogue
from services.products.actions.invalidation import invalidate, invalidate_after_sums
from services.products.declarations.product import Product
from services.products.declarations.stock import Reservation, Settlement
from services.products.dependencies import Dependencies
from services.products.documents import (
    SETTLEMENT,
    movement_of,
    partition_of,
    product_of_review,
    reservation_id,
    settlement_id,
    slot_prefix,
)
from services.products.rules import ledger, ratings
from services.products.rules.ledger import Line
from services.products.rules.prices import with_current_prices
from services.products.rules.product import is_product
from services.products.rules.variants import SUMMED_UP, counted_fields, levels_of, without
from shared.clock import iso, parse
from shared.couch import NoSuchDocument, document_id, time_ordered_id

log = logging.getLogger(__name__)

SWEEP_CHECKPOINT, SUMMARY_CHECKPOINT = "reservations-swept", "products-summed-up"
SETTLED_CHECKPOINT = "settled-stock-checked"
SALES_CHECKPOINT = "sale-prices-refreshed"
FEED_PAGE = 2000
PAGE = 200
OVERLAP = timedelta(minutes=5)
SETTLE_AFTER = timedelta(seconds=30)
SETTLED_OVERLAP, FIRST_SETTLED, DEEP_SETTLED = timedelta(minutes=1), timedelta(hours=1), timedelta(days=2)
MAX_MOVE_AGE = timedelta(days=1)
_MAX_ATTEMPTS = 3


def sum_up(deps: Dependencies) -> int:
    """Follows movements and reviews, and refreshes their products; returns how many had changed.

    Where the database has several copies it begins where it began to find news last time: the copy that was summed up then may have been late.
    """
    place, changed = deps.ledger.checkpoint(SUMMARY_CHECKPOINT), 0
    again = place.get("since", "0")
    since = again if deps.catalogue.has_one_copy else place.get("again", "0")
    while True:
        found = deps.catalogue.changes(since, FEED_PAGE)
        changed += refresh_after(deps, (row.id for row in found.rows))
        since = found.last_seq
        if (since, again) != (place.get("since"), place.get("again")):
            place = {**deps.ledger.checkpoint(SUMMARY_CHECKPOINT), "since": since, "again": again}
            deps.ledger.save_checkpoint(SUMMARY_CHECKPOINT, place)
        if len(found.rows) < FEED_PAGE:
            return changed


def refresh_after(deps: Dependencies, changed_ids: Iterable[str]) -> int:
    """Brings products up to what these documents, movements and reviews among others, change of them; returns how many had changed.

    Of what was sold the end of its chain is told by who wrote it, so that no index is asked, which a rush of orders would have to wait for:
    1 partition query only where nobody knows it any more. 1 partition query for each product that was reviewed, 1 read and 1 write for all.
    """
    moved: dict[str, dict[str, int]] = {}
    reviewed: set[str] = set()
    for docid in changed_ids:
        if movement := movement_of(docid):
            product_id, sku, slot = movement
            slots = moved.setdefault(product_id, {})
            slots[sku] = max(slot, slots.get(sku, 0))
        elif of_review := product_of_review(docid):
            reviewed.add(of_review)

    def made_fresh(docs: Sequence[Product]) -> list[Product]:
        lines = {doc["_id"]: [_line_of(doc, sku) for sku in moved.get(doc["_id"], ())] for doc in docs}
        ends = deps.ledger.ends(
            {line: moved[docid][line.sku] for docid, its in lines.items() for line in its}
        )
        counted = [
            _with_levels(doc, {line.name: ends[line].level for line in lines[doc["_id"]]}) for doc in docs
        ]
        return [_with_stars(deps, doc) if doc["_id"] in reviewed else doc for doc in counted]

    return _refresh(deps, moved.keys() | reviewed, made_fresh)


def refresh(deps: Dependencies, product_ids: Iterable[str]) -> int:
    """Brings `stock` and `rating` on product documents up to their movements and reviews; returns how many had changed."""
    return _refresh(
        deps, product_ids, lambda docs: [_with_stars(deps, _with_sums(deps, doc)) for doc in docs]
    )


def refresh_stock(deps: Dependencies, counted: Mapping[str, Iterable[Line]]) -> int:
    """Brings the stock of these, by their product's document, up to the ends of their chains. No index is asked, which may be long behind
    after an import: 1 partition query for each, 1 read and 1 write for all."""

    def made_fresh(docs: Sequence[Product]) -> list[Product]:
        return [
            _with_levels(
                doc, {line.name: deps.ledger.known_end(line)[1].level for line in counted[doc["_id"]]}
            )
            for doc in docs
        ]

    return _refresh(deps, counted, made_fresh)


def _refresh(
    deps: Dependencies, product_ids: Iterable[str], made_fresh: Callable[[Sequence[Product]], list[Product]]
) -> int:
    wanted, changed = sorted(set(product_ids)), 0
    for _ in range(_MAX_ATTEMPTS):
        docs = [doc for doc in deps.catalogue.get_many(wanted).values() if is_product(doc)]
        stale = [after for after, before in zip(made_fresh(docs), docs, strict=True) if after != before]
        written = deps.catalogue.put_many(stale) if stale else []
        changed += sum(not row.error for row in written)
        invalidate_after_sums(deps, docs, stale)
        wanted = [row.id for row in written if row.error == "conflict"]
        if not wanted:
            break
    return changed


def _line_of(doc: Product, sku: str) -> Line:
    return Line(doc["productid"], tuple(doc["taxonomy"]), 0, sku)


def _with_sums(deps: Dependencies, doc: Product) -> Product:
    """With the stock that its movements add up to. 1 partition query."""
    levels = deps.ledger.levels(doc["taxonomy"], doc["productid"])
    return cast(Product, {**without(doc, SUMMED_UP), **counted_fields(doc, levels)})


def _with_stars(deps: Dependencies, doc: Product) -> Product:
    """With the rating that its reviews add up to. 1 partition query."""
    stars = deps.reviews.stars(doc["taxonomy"], doc["productid"])
    return cast(Product, {**doc, "rating": ratings.rating(stars), "rank": ratings.rank(stars)})


def _with_levels(doc: Product, counted: Mapping[str, int]) -> Product:
    """With these levels, by SKU, in place of those that it was made with."""
    levels = {**levels_of(doc), **counted}
    return cast(Product, {**without(doc, SUMMED_UP), **counted_fields(doc, levels)})


@dataclass
class SweepResult:
    """What a sweep did. `open_since`: when the earliest reservation ended that a later sweep must look at again."""

    ended: int = 0
    returned: int = 0
    open_since: str = "~"


def sweep(deps: Dependencies, now: datetime) -> SweepResult:
    """Ends reservations whose time is up and gives back what is out of stock without a reason.

    A reservation is ended in one sweep and its goods go back in a later one, SETTLE_AFTER the end was written: a sale
    that was written at the same moment elsewhere in the cluster is seen by then, and wins.
    """
    place = deps.ledger.checkpoint(SWEEP_CHECKPOINT)
    cursor, swept = None, SweepResult()
    while True:
        page = deps.reservations.ending_between(place.get("until", ""), iso(now), PAGE, cursor)
        _sweep_page(deps, page.items, now, swept)
        if page.next is None:
            break
        cursor = page.next
    until = min(iso(now - OVERLAP), swept.open_since)
    deps.ledger.save_checkpoint(
        SWEEP_CHECKPOINT, {**deps.ledger.checkpoint(SWEEP_CHECKPOINT), "until": until}
    )
    return swept


def _sweep_page(
    deps: Dependencies, reservations: list[Reservation], now: datetime, swept: SweepResult
) -> None:
    lines = [ledger.line_of(each, each["quantity"]) for each in reservations]
    ids = [
        settlement_id(line.taxonomy, line.key, each["orderid"])
        for line, each in zip(lines, reservations, strict=True)
    ]
    settled = deps.reservations.settlements(ids)
    late = [each for each, docid in zip(reservations, ids, strict=True) if docid not in settled]
    written = deps.ledger.write_each([_expired(each, iso(now)) for each in late]) if late else []
    swept.ended += sum(not row.error for row in written)
    keys = [(each["orderid"], line.key) for line, each in zip(lines, reservations, strict=True)]
    held = deps.reservations.held(keys) if settled else {}
    for each, docid, key in zip(reservations, ids, keys, strict=True):
        settlement = settled.get(docid)
        if settlement and settlement["date"] <= iso(now - SETTLE_AFTER):
            swept.returned += correct_stock(deps, each, settlement, held.get(key, 0), iso(now))
        else:
            swept.open_since = min(swept.open_since, each["expires"])


def _expired(reservation: Reservation, date: str) -> Settlement:
    line, orderid = ledger.line_of(reservation), reservation["orderid"]
    return SETTLEMENT.build(
        settlement_id(line.taxonomy, line.key, orderid),
        **line.fields,
        orderid=orderid,
        outcome=ledger.EXPIRED,
        quantity=reservation["quantity"],
        date=date,
    )


def correct_stock(
    deps: Dependencies, reservation: Reservation, settlement: Settlement, held: int, date: str
) -> int:
    """Brings what an order keeps out of stock to what it should; how many were given back.

    Fewer than were sold are kept out when a payment and this sweep crossed: they are taken again while they last. A slot of the order that
    another writer has as well counts for nobody: nothing is taken again before it is known whose it is. Where each document has several copies
    `held` may be of one that lacks what went back since: the slots say it before anything is written.
    """
    if held == ledger.due(reservation, settlement["outcome"], 0):
        return 0
    line, orderid = ledger.line_of(reservation), reservation["orderid"]
    outcome = ledger.final_outcome([leaf["outcome"] for leaf in deps.ledger.leaves(settlement["_id"])])
    due = ledger.due(reservation, outcome, deps.reservations.returned(line, orderid))
    surplus = held - due
    if surplus and not deps.catalogue.has_one_copy:
        surplus = deps.reservations.held_by_order(orderid, [line])[line.key] - due
    if not surplus or (surplus < 0 and orderid in _orders_in_doubt(deps, line)):
        return 0
    reason = ledger.RELEASED if surplus > 0 else ledger.RESERVED
    try:
        deps.ledger.append(line, surplus, reason, time_ordered_id(), date, orderid=orderid)
    except ledger.OutOfStock:
        log.error("order %s: %s of %s were sold twice", orderid, -surplus, line.name)
        return 0
    return max(surplus, 0)


def _orders_in_doubt(deps: Dependencies, line: Line) -> set[str]:
    """Whose slots of a product have several revisions. 1 global query for each page of what was written apart, and the reads of those slots."""
    prefix = document_id(partition_of(line.taxonomy), slot_prefix(line.key))
    found: set[str] = set()
    for row in deps.catalogue.all_conflicts(PAGE):
        if row["id"].startswith(prefix):
            with suppress(NoSuchDocument):
                found.update(leaf.get("orderid", "") for leaf in deps.ledger.leaves(row["id"]))
    return found


def refresh_sale_prices(deps: Dependencies, now: datetime) -> int:
    """Brings what lists sort and filter by up to the sales that began or ended; returns how many products changed.

    Those of the last minutes are looked at again: an index may have been late. 1 global query when nothing happened.
    """
    place, moment, changed = deps.ledger.checkpoint(SALES_CHECKPOINT), iso(now), 0
    seen = place.get("until", iso(now - MAX_MOVE_AGE))
    due = deps.catalogue.sale_changes(iso(parse(seen) - OVERLAP), moment)
    wanted = list(due)
    for _ in range(_MAX_ATTEMPTS):
        docs = [doc for doc in deps.catalogue.get_many(wanted).values() if is_product(doc)] if wanted else []
        fresh = [with_current_prices(doc, moment) for doc in docs]
        stale = [doc for doc, before in zip(fresh, docs, strict=True) if doc != before]
        written = deps.catalogue.put_many(stale) if stale else []
        changed += sum(not row.error for row in written)
        stale_ids = {doc["_id"] for doc in stale}
        invalidate(deps, [doc for doc in docs if due[doc["_id"]] > seen or doc["_id"] in stale_ids])
        wanted = [row.id for row in written if row.error == "conflict"]
        if not wanted:
            break
    if not wanted and (due or parse(seen) < now - 2 * OVERLAP):
        place = {**deps.ledger.checkpoint(SALES_CHECKPOINT), "until": moment}
        deps.ledger.save_checkpoint(SALES_CHECKPOINT, place)
    return changed


def correct_settled(deps: Dependencies, now: datetime) -> int:
    """Gives back what an order took twice because a request for it was cut off and repeated; how many that were.

    It looks at reservations that were sold or released SETTLE_AFTER ago, when no request for them is under way any more, and where the
    database has several copies once more at those of the last minutes: the copy that was asked then may have been late.
    """
    overlap = SETTLED_OVERLAP if deps.catalogue.has_one_copy else OVERLAP
    until = now - SETTLE_AFTER
    place = deps.ledger.checkpoint(SETTLED_CHECKPOINT)
    returned = _correct_between(deps, place.get("since", iso(now - FIRST_SETTLED)), iso(until), now)
    deps.ledger.save_checkpoint(SETTLED_CHECKPOINT, {**place, "since": iso(until - overlap)})
    return returned


def correct_settled_of_two_days(deps: Dependencies, now: datetime) -> int:
    """The same for all that were sold or released within DEEP_SETTLED, wherever `correct_settled` is: after a node of a cluster was away for long."""
    return _correct_between(deps, iso(now - DEEP_SETTLED), iso(now - SETTLE_AFTER), now)


def _correct_between(deps: Dependencies, since: str, until: str, now: datetime) -> int:
    cursor, returned = None, 0
    while True:
        page = deps.reservations.settled_between(since, until, PAGE, cursor)
        returned += _correct_page(deps, page.items, iso(now))
        if not deps.catalogue.has_one_copy:
            _correct_levels(deps, {ledger.line_of(each) for each in page.items}, now)
        if page.next is None:
            return returned
        cursor = page.next


def _correct_page(deps: Dependencies, settlements: Sequence[Settlement], date: str) -> int:
    if not settlements:
        return 0
    lines = [ledger.line_of(each, each["quantity"]) for each in settlements]
    keys = [(each["orderid"], line.key) for each, line in zip(settlements, lines, strict=True)]
    ids = [
        reservation_id(line.taxonomy, line.key, orderid)
        for line, (orderid, _) in zip(lines, keys, strict=True)
    ]
    reservations, held = deps.reservations.by_id(ids), deps.reservations.held(keys)
    return sum(
        correct_stock(deps, reservations[docid], settlement, held.get(key, 0), date)
        for settlement, key, docid in zip(settlements, keys, ids, strict=True)
        if docid in reservations
    )


def _correct_levels(deps: Dependencies, lines: Iterable[Line], now: datetime) -> None:
    """Makes the level of a chain that has rested the sum of its movements, where writers who met in one slot left another one."""
    for line in lines:
        if deps.ledger.is_broken(line, iso(now - SETTLE_AFTER)):
            deps.ledger.correct(line, time_ordered_id(), iso(now))


def finish_moves(deps: Dependencies, now: datetime) -> int:
    """Takes products out of the category they left when a crash came in between; returns how many there were."""
    moved = deps.catalogue.moved_since(iso(now - MAX_MOVE_AGE))
    stale_copies = [doc for doc in deps.catalogue.get_many(list(moved.values())).values() if is_product(doc)]
    for doc in stale_copies:
        catalogue.finish_moves(deps, doc["productid"], iso(now))
    return len(stale_copies)
