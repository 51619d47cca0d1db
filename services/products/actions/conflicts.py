"""What two replicas wrote apart is brought together by rule: products and search rules by their last edit, slots of stock by `rules.ledger`."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from services.products.actions.maintenance import PAGE, SETTLE_AFTER, correct_stock, refresh
from services.products.declarations.stock import Movement, Reservation, Settlement
from services.products.dependencies import Dependencies
from services.products.documents import MOVEMENT, reservation_id, settlement_id
from services.products.rules import ledger
from shared.clock import iso, now, timestamp
from shared.couch import Document, NoSuchDocument, UpdateConflict, time_ordered_id


def settle_conflicts(deps: Dependencies) -> int:
    """Applies the written rules to documents that replicas wrote differently; returns how many revisions went."""
    return sum(_settle(deps, row["id"], row["key"]) for row in deps.catalogue.conflicts(PAGE))


def _settle(deps: Dependencies, docid: str, kind: str) -> int:
    try:
        leaves = deps.ledger.leaves(docid)
        gone = _RULES.get(kind, _losing_movements)(deps, leaves)
        deps.ledger.remove(gone)
        if gone and kind == "movement":
            _correct(deps, leaves[0])
            _give_back(deps, [leaf for leaf in MOVEMENT.among(leaves) if leaf not in gone])
        if gone and kind == "product":
            refresh(deps, [docid])
    except (NoSuchDocument, UpdateConflict):
        return 0
    return len(gone)


def _older_edits(deps: Dependencies, leaves: Sequence[Document]) -> Sequence[Document]:
    """The edit made last stays, a move to another category being one; stock and rating are summed up again."""
    return sorted(leaves, key=lambda leaf: (leaf["edited"], leaf["_rev"]))[:-1]


def _overruled_settlements(deps: Dependencies, leaves: Sequence[Document]) -> Sequence[Document]:
    final_outcome = ledger.final_outcome([leaf["outcome"] for leaf in leaves])
    stays = next(leaf for leaf in leaves if leaf["outcome"] == final_outcome)
    return [leaf for leaf in leaves if leaf is not stays]


def _losing_movements(deps: Dependencies, leaves: Sequence[Document]) -> Sequence[Document]:
    movements = MOVEMENT.among(leaves)
    first, line = leaves[0], ledger.line_of(leaves[0])
    chain = deps.ledger.chain(line)
    elsewhere = {each["mark"] for each in chain if each["slot"] > first["slot"]}
    elsewhere |= {leaf["mark"] for leaf in movements if _is_needless(deps, leaf)}
    ends = [leaf for leaf in movements if "moved_to" in leaf]
    followed = {leaf["mark"] for leaf in ends if _is_followed(deps, leaf)}
    goes_on = any(each["slot"] > first["slot"] for each in chain)
    elsewhere |= {leaf["mark"] for leaf in ends if goes_on or _is_left(leaf)}
    orders = [leaf["orderid"] for leaf in leaves if "orderid" in leaf]
    ids = {settlement_id(line.taxonomy, line.key, orderid): orderid for orderid in orders}
    outcomes = {ids[docid]: doc["outcome"] for docid, doc in deps.reservations.settlements(list(ids)).items()}
    return ledger.losers(movements, outcomes, elsewhere, followed)


def _is_followed(deps: Dependencies, end: Movement) -> bool:
    there = replace(ledger.line_of(end), taxonomy=tuple(end["moved_to"]))
    return deps.ledger.is_followed(end, there, deps.ledger.chain(there)) is not False


def _is_left(end: Movement) -> bool:
    """Whether whoever wrote it has had the time to take along what there was."""
    return end["delta"] != 0 and end["date"] <= iso(now() - SETTLE_AFTER)


def _is_needless(deps: Dependencies, leaf: Movement) -> bool:
    """Whether it takes what its order, which was sold, has in slots that nobody else wrote."""
    if leaf["delta"] >= 0 or (ended := _sale_of(deps, leaf)) is None:
        return False
    reservation, settlement = ended
    line, orderid = ledger.line_of(leaf), leaf["orderid"]
    due = ledger.due(reservation, settlement["outcome"], deps.reservations.returned(line, orderid))
    return deps.reservations.held_by_order(orderid, [line])[line.key] >= due


def _sale_of(deps: Dependencies, leaf: Movement) -> tuple[Reservation, Settlement] | None:
    """What its order had reserved, and that it was sold. 2 reads."""
    line, orderid = ledger.line_of(leaf), leaf.get("orderid", "")
    reserved_as = reservation_id(line.taxonomy, line.key, orderid)
    settled_as = settlement_id(line.taxonomy, line.key, orderid)
    reservation = deps.reservations.by_id([reserved_as]).get(reserved_as)
    settlement = deps.reservations.settlements([settled_as]).get(settled_as)
    if reservation and settlement and settlement["outcome"] == ledger.SOLD:
        return reservation, settlement
    return None


def _give_back(deps: Dependencies, kept: Iterable[Movement]) -> None:
    """An order that keeps a slot may have taken another in its place; `correct_settled` may have looked at it for the last time."""
    moment = now()
    for leaf in kept:
        ended = _sale_of(deps, leaf)
        if ended and ended[1]["date"] <= iso(moment - SETTLE_AFTER):
            line = ledger.line_of(leaf)
            held = deps.reservations.held_by_order(leaf["orderid"], [line])[line.key]
            correct_stock(deps, *ended, held, iso(moment))


def _fewer_searches(deps: Dependencies, leaves: Sequence[Document]) -> Sequence[Document]:
    """A count is never too high: what has counted most stays."""
    return sorted(leaves, key=lambda leaf: (sum(each[0] for each in leaf["queries"].values()), leaf["_rev"]))[
        :-1
    ]


def _later_totals(deps: Dependencies, leaves: Sequence[Document]) -> Sequence[Document]:
    """They say the same of the same movements; the one that was written first stays."""
    return sorted(leaves, key=lambda leaf: (leaf["date"], leaf["_rev"]))[1:]


_RULES = {
    **dict.fromkeys(("product", "forward", "synonym", "searchredirect", "searchpin"), _older_edits),
    "settlement": _overruled_settlements,
    "stocktotal": _later_totals,
    "dailysearches": _fewer_searches,
}


def _correct(deps: Dependencies, movement: Document) -> None:
    """While a slot was in doubt its lowest level counted; now the sum of the movements does."""
    deps.ledger.correct(ledger.line_of(movement), time_ordered_id(), timestamp())
