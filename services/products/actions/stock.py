"""Stock for checkout and for admins; how it is kept from being oversold is told in `rules.ledger`."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import timedelta
from typing import Any

from services.products.declarations.product import Product
from services.products.declarations.stock import Movement, Reservation, Settlement
from services.products.dependencies import Dependencies
from services.products.documents import (
    RESERVATION,
    SETTLEMENT,
    reservation_id,
    settlement_id,
)
from services.products.rules import ledger as rules
from services.products.rules.ledger import Head, Line, OutOfStock, after, line_of
from services.products.rules.variants import skus_of
from services.products.store.ledger import TooFewNodes, too_few_nodes
from shared.clock import parse
from shared.couch import UpdateConflict, Written, time_ordered_id
from shared.errors import Conflict, Invalid, Unavailable

_RECENT = 100
_RELEASE = "release"
_SUGGESTIONS = 10
_SETTLED_AFTER = timedelta(seconds=30)


class ReservationClosed(Conflict):
    code, title = "reservation_closed", "This order's reservation has ended"


class ReservationDiffers(Conflict):
    code, title = "reservation_differs", "This order has reserved something else"


class StillReturning(Unavailable):
    code, title = "still_returning", "These goods are being put back into stock"


def reserve(
    deps: Dependencies,
    orderid: str,
    lines: Sequence[Line],
    expires: str,
    date: str,
    *,
    again: bool = False,
    happened: str = "",
) -> None:
    """Takes every line out of stock for this order, or nothing. Usually one write; a repeated request takes nothing twice.

    `happened`: when goods were handed over that the shop only hears of now, for who counts the shelf.
    With `again` it looks first whether the order has them: what it took twice it would have to give back.
    Raises OutOfStock (`items`: [{productid, available}]), ReservationClosed, ReservationDiffers.
    """
    with deps.ledger.lock(line.key for line in lines):
        if again and len(known := _claims(deps, orderid, lines)) == len(lines):
            return _repeat(deps, orderid, lines, known, date)
        ends = _ends(deps, lines)
        short = [line for line in lines if line.orderable(ends[line][1].level) < line.quantity]
        if short:
            return _repeat_or_reject(deps, orderid, lines, _out_of_stock(short, ends), date)
        slots = [_slot(*ends[line], orderid, date, happened) for line in lines]
        claims = [_claim(line, orderid, expires, date) for line in lines]
        written = deps.ledger.write([*claims, *slots])
        claimed, taken = written[: len(lines)], written[len(lines) :]
        try:
            _complete_reservation(deps, lines, slots, claimed, taken, orderid, date)
        except OutOfStock:
            _end(deps, orderid, lines, rules.RELEASED, date)
            raise
    return None


def keep_on(deps: Dependencies, orderid: str, lines: Sequence[Line], expires: str) -> None:
    """What is reserved stays so until `expires`, if that is later. One that has ended already is not reserved again."""
    for claim in _claims(deps, orderid, lines).values():
        if claim["expires"] < expires:
            with suppress(UpdateConflict):  # another request has done the same
                deps.reservations.keep_on({**claim, "expires": expires})


def confirm(deps: Dependencies, orderid: str, lines: Sequence[Line], date: str) -> None:
    """The reserved goods are sold. Raises ReservationClosed when they were given back and cannot be had again."""
    for line, settled in _settle(deps, orderid, lines, rules.SOLD, date).items():
        if settled is not None and settled["outcome"] != rules.SOLD:
            _reserve_again(deps, orderid, line, settled, date)


def release(deps: Dependencies, orderid: str, lines: Sequence[Line], reference: str, date: str) -> None:
    """The goods go back: once when they were only reserved, once for each `reference` after they were sold.

    What comes back (`reference`) although nothing says that it was reserved was sold long ago: its movements were rolled up.
    """
    if reference != _RELEASE:
        known = {*_claims(deps, orderid, lines), *_outcomes(deps, orderid, lines)}
        for line in lines:
            if line not in known:
                _return_sold(deps, orderid, line, reference, date)
        lines = [line for line in lines if line in known]
    if lines:
        _end(deps, orderid, lines, rules.RELEASED, date, reference)


def line_for(product: Product, asked: str, sku: str | None) -> Line:
    """What is counted of a product: itself, or the variant that `sku`, or else `asked`, names. Raises Invalid."""
    named = sku or asked
    known = skus_of(product) or [product["productid"]]
    if named not in known:
        few = ", ".join(known[:_SUGGESTIONS]) + (" ..." if len(known) > _SUGGESTIONS else "")
        raise Invalid(
            "Say which variant.", errors={"sku": [f"{named} is no SKU of this product: it has {few}."]}
        )
    return Line(
        product["productid"], tuple(product["taxonomy"]), 0, "" if named == product["productid"] else named
    )


def adjust(deps: Dependencies, line: Line, delta: int, note: str, mark: str, date: str) -> Movement:
    """Goods come in or are written off by an admin; the same `mark` does it once. Raises OutOfStock below zero."""
    return deps.ledger.append_once(line, delta, rules.ADJUSTED, mark, date, note=note)


def _ends(deps: Dependencies, lines: Sequence[Line]) -> dict[Line, tuple[Line, Head]]:
    """Where each chain ends; read from the database where nobody remembers it or too few seem to be left."""
    heads = deps.ledger.cached_heads(lines)
    known = {
        line: (line, heads[line])
        for line in lines
        if line in heads and line.orderable(heads[line].level) >= line.quantity
    }
    return {line: known.get(line) or deps.ledger.end(line) for line in lines}


def _out_of_stock(short: Sequence[Line], ends: Mapping[Line, tuple[Line, Head]]) -> OutOfStock:
    names = ", ".join(line.name for line in short)
    available = [line.left(ends[line][1].level) for line in short]
    return OutOfStock(f"Not enough in stock of {names}.", items=available)


def _claims(deps: Dependencies, orderid: str, lines: Sequence[Line]) -> dict[Line, Reservation]:
    """What the order has reserved of these, as far as it has. 1 read."""
    ids = {line: reservation_id(line.taxonomy, line.key, orderid) for line in lines}
    stored = deps.reservations.by_id(list(ids.values()))
    return {line: stored[docid] for line, docid in ids.items() if docid in stored}


def _repeat_or_reject(
    deps: Dependencies, orderid: str, lines: Sequence[Line], refusal: OutOfStock, date: str
) -> None:
    """Too few are left: perhaps because this very order has them."""
    claims = _claims(deps, orderid, lines)
    if not claims:
        raise refusal
    with suppress(OutOfStock):
        if len(claims) == len(lines):
            return _repeat(deps, orderid, lines, claims, date)
    _end(deps, orderid, lines, rules.RELEASED, date)
    raise refusal


def _slot(line: Line, head: Head, orderid: str, date: str, happened: str) -> Movement:
    more = {"happened": happened} if happened else {}
    return rules.movement(
        head,
        line,
        -line.quantity,
        rules.RESERVED,
        time_ordered_id(),
        date,
        orderid=orderid,
        **more,
    )


def _claim(line: Line, orderid: str, expires: str, date: str) -> Reservation:
    return RESERVATION.build(
        reservation_id(line.taxonomy, line.key, orderid),
        **line.fields,
        orderid=orderid,
        quantity=line.quantity,
        date=date,
        expires=expires,
        **({"backorder_limit": line.backorder_limit} if line.backorder_limit else {}),
    )


def _complete_reservation(
    deps: Dependencies,
    lines: Sequence[Line],
    slots: Sequence[Movement],
    claimed: Sequence[Written],
    taken: Sequence[Written],
    orderid: str,
    date: str,
) -> None:
    """Who was refused a reservation, or has it on too few nodes of a cluster (another request for the order may have it on the others),
    gives its slot back; the latter asks again. Raises TooManyConflicts."""
    if all(row.rev and not row.accepted for row in (*claimed, *taken)):
        deps.ledger.remember({line_of(slot): after(slot) for slot in slots})
        return
    repeated = []
    for line, slot, claim, written in zip(lines, slots, claimed, taken, strict=True):
        is_own = _is_own(deps, slot, written)
        if claim.error or claim.accepted:
            if claim.error:
                repeated.append(line)
            if is_own:
                deps.ledger.append(
                    line, line.quantity, rules.RELEASED, time_ordered_id(), date, orderid=orderid
                )
        elif not is_own:
            more = {"happened": slot["happened"]} if "happened" in slot else {}
            mark = slot["mark"]
            deps.ledger.append(line, -line.quantity, rules.RESERVED, mark, date, orderid=orderid, **more)
    if any(claim.accepted for claim in claimed):
        raise too_few_nodes()
    if repeated:
        _repeat(deps, orderid, repeated, _claims(deps, orderid, repeated), date)


def _is_own(deps: Dependencies, slot: Movement, written: Written) -> bool:
    """False also where too few nodes took it: that is taken back, and of three who write one slot at once each may have one node."""
    try:
        return deps.ledger.is_own(slot, written)
    except TooFewNodes:
        return False


def _repeat(
    deps: Dependencies, orderid: str, lines: Sequence[Line], claims: Mapping[Line, Reservation], date: str
) -> None:
    """This order was here before: take what is missing. What others took for it meanwhile is theirs to give back."""
    outcomes = _outcomes(deps, orderid, lines)
    held = deps.reservations.held_by_order(orderid, lines, exclusive=True)
    for line in lines:
        claim = claims[line]
        outcome = outcomes.get(line)
        if outcome in (rules.RELEASED, rules.EXPIRED):
            raise ReservationClosed(
                f"The goods of order {orderid} were given back ({outcome}); place a new order."
            )
        if claim["quantity"] != line.quantity:
            raise ReservationDiffers(f"Order {orderid} has reserved {claim['quantity']} of {line.name}.")
        kept = held[line.key]
        _set_held(deps, orderid, line, kept, max(kept, line.quantity), date)


def _set_held(deps: Dependencies, orderid: str, line: Line, held: int, due: int, date: str) -> None:
    if held != due:
        reason = rules.RELEASED if held > due else rules.RESERVED
        deps.ledger.append(line, held - due, reason, time_ordered_id(), date, orderid=orderid)


def _settle(
    deps: Dependencies, orderid: str, lines: Sequence[Line], outcome: str, date: str
) -> dict[Line, Settlement | None]:
    """Writes how each reservation ended; for one that had ended already, how (None: this write decided). 1 write.

    A write that too few nodes took decides nothing: another writer, or the sweep, goes on.
    """
    docs = [_settlement(line, orderid, outcome, date) for line in lines]
    written = deps.ledger.write(docs)
    late = [doc["_id"] for doc, row in zip(docs, written, strict=True) if row.error or row.accepted]
    stored = deps.reservations.settlements(late)
    return {line: stored.get(doc["_id"]) for line, doc in zip(lines, docs, strict=True)}


def _settlement(line: Line, orderid: str, outcome: str, date: str, reference: str = "") -> Settlement:
    """With a mark of its own: of two that are alike to the letter a cluster takes both for the first."""
    more: dict[str, Any] = {"reference": reference} if reference else {}
    return SETTLEMENT.build(
        settlement_id(line.taxonomy, line.key, orderid, reference),
        **line.fields,
        orderid=orderid,
        outcome=outcome,
        quantity=line.quantity,
        date=date,
        mark=time_ordered_id(),
        **more,
    )


def _outcomes(deps: Dependencies, orderid: str, lines: Sequence[Line]) -> dict[Line, str]:
    ids = {line: settlement_id(line.taxonomy, line.key, orderid) for line in lines}
    stored = deps.reservations.settlements(list(ids.values()))
    return {line: stored[docid]["outcome"] for line, docid in ids.items() if docid in stored}


def _end(
    deps: Dependencies,
    orderid: str,
    lines: Sequence[Line],
    outcome: str,
    date: str,
    reference: str = _RELEASE,
) -> None:
    settled = _settle(deps, orderid, lines, outcome, date)
    decided = [line for line, before in settled.items() if before is None]
    held = deps.reservations.held_by_order(orderid, decided) if decided else {}
    for line, before in settled.items():
        if before is None:
            _set_held(deps, orderid, line, held[line.key], 0, date)
        elif before["outcome"] == rules.SOLD:
            _return_sold(deps, orderid, line, reference, date)


def _return_sold(deps: Dependencies, orderid: str, line: Line, reference: str, date: str) -> None:
    """Goods that were sold come back; the settlement's id makes it once for each reference.

    A crash may have come between settlement and movement: who repeats this at once is told to come again, for the first writer may be
    at it still; some time later the missing movement is written.
    """
    doc = _settlement(line, orderid, rules.RELEASED, date, reference)
    written = deps.ledger.write([doc])[0]
    if written.error or written.accepted:
        recent = deps.ledger.movements(line, _RECENT)
        if any(each["mark"] == doc["_id"] for each in recent) or deps.ledger.has_movement(line, doc["_id"]):
            return
        stored = deps.reservations.settlements([doc["_id"]])[doc["_id"]]
        if parse(stored["date"]) >= parse(date) - _SETTLED_AFTER:
            raise StillReturning("The goods are being put back into stock; ask again.", retry_after=5)
    deps.ledger.append(line, line.quantity, rules.RELEASED, doc["_id"], date, orderid=orderid, note=reference)


def _reserve_again(deps: Dependencies, orderid: str, line: Line, settled: Settlement, date: str) -> None:
    """A payment came after the goods were given back: they are taken again if they are there."""
    try:
        settled = deps.reservations.put_settlement({**settled, "outcome": rules.SOLD, "date": date})
    except UpdateConflict:
        return confirm(deps, orderid, [line], date)
    held = deps.reservations.held_by_order(orderid, [line], exclusive=True)[line.key]
    try:
        _set_held(deps, orderid, line, held, line.quantity, date)
    except OutOfStock as short:
        deps.reservations.put_settlement({**settled, "outcome": rules.EXPIRED})
        raise ReservationClosed(
            f"The goods of order {orderid} were sold to another customer.", **short.extra
        ) from None
    return None
