"""What holds when two diverged replicas wrote the same document of an order: decided by rule, never by an operator.

Refunds and returns are numbered, so both of two replicas' hold: the one that loses its number gets the next free
one. So do parcels of a part of an order and lines that were cancelled: both parcels have left. Of everything else one stays: an erased person stays erased, a parcel on its way wins over a cancellation, goods that came back
and a return that was approved over its refusal, an exchange whose other goods are paid over one that came to nothing (else these would be sent
and the money paid back), else what was written first. Of two decisions about reserved money that one stays, as the provider does one
of a number: what of the other is still due is reckoned again, and the refunds that it settled are settled by a decision behind the last. Of two shipments that a
label was to be bought of the one stays whose parcel has left, else the one that is bought; the other's label is given back.
"""

from collections.abc import Callable
from typing import Any, Final

from services.orders.declarations.exchanges import PAID
from services.orders.documents import CAPTURE, CAPTURED, DISPATCH, LINE_CANCELLATION, RETURN_EXCHANGE
from services.orders.rules.writing import numbered_key
from shared.couch import Doc, Document

NUMBERED = ("refund", "return", "returnrequest")
_CHAINS: Final = {"decision": "decision", LINE_CANCELLATION.name: "decision", DISPATCH.name: "dispatch"}


def settled(leaves: list[Doc], courierid: str = "", shipment: str = "") -> tuple[Doc, list[Doc]]:
    """(the revision that stays, those that go), the same on every replica that sees these leaves; of arrivals that of parcel `courierid`, of
    what is about labels that of `shipment`."""
    ranked = sorted(
        leaves,
        key=lambda leaf: (
            bool(courierid) and leaf.get("courierid") != courierid,
            bool(shipment) and leaf.get("shipment") != shipment,
            *_rank(leaf),
        ),
    )
    return ranked[0], ranked[1:]


def renumbered(loser: Doc, stays: Doc, taken: set[int]) -> Doc | None:
    """A losing refund or return under the next free number; None if nothing of it is lost."""
    if loser["type"] not in NUMBERED or same(loser, stays):
        return None
    number = max(taken | {loser["number"]}) + 1
    partition = loser["_id"].partition(":")[0]
    moved = {name: value for name, value in loser.items() if name != "_rev"}
    return moved | {"_id": f"{partition}:{loser['type']}{number}", "number": number}


def next_in_chain(loser: Doc, stays: Doc, last: Callable[[str], int]) -> Doc | None:
    """A losing parcel, or decision on one or on cancelled lines, behind the last of its chain; None where one of the two stays."""
    if loser["type"] == CAPTURE.name:
        return _refunds_of(loser, stays, last("capture") + 1)
    name = _CHAINS.get(loser["type"])
    if name is None or loser.get("decision") == "cancel" or _is_same_part(loser, stays):
        return None
    partition = loser["_id"].partition(":")[0]
    moved = {each: value for each, value in loser.items() if each != "_rev"}
    return moved | {"_id": f"{partition}:{numbered_key(name, last(name) + 1)}"}


def _refunds_of(loser: Doc, stays: Doc, number: int) -> Doc | None:
    """A decision that takes nothing, for the refunds that the losing one alone has settled: the provider may have paid them back."""
    lacking = [reference for reference in loser["refunds"] if reference not in stays["refunds"]]
    if not lacking:
        return None
    back = {name: amount for name, amount in loser.get("paid_back", {}).items() if name in lacking}
    moved = {each: value for each, value in loser.items() if each not in ("_rev", "paid_back")}
    return moved | {
        "_id": f"{loser['_id'].partition(':')[0]}:{numbered_key('capture', number)}",
        "total": loser["total"] | {"amount": 0},
        "refunds": lacking,
        "final": False,
        **({"paid_back": back} if back else {}),
    }


def _is_same_part(loser: Doc, stays: Doc) -> bool:
    """Whether two documents of a chain are of one parcel, or of whole orders, of which one has left."""
    if "reference" in loser:
        return bool(loser["reference"] == stays.get("reference"))
    if "lines" not in loser and "lines" not in stays:
        return True
    return bool((loser["courier"], loser["courierid"]) == (stays.get("courier"), stays.get("courierid")))


def same(one: Document, other: Document) -> bool:
    """Whether two refunds or returns are one, whatever their numbers."""
    return bool(one["reference"] == other["reference"])


def _rank(leaf: Doc) -> tuple[Any, ...]:
    is_personal, is_refusal = not leaf.get("erased"), leaf.get("decision") in ("cancel", "refuse")
    is_nothing = leaf["type"] == RETURN_EXCHANGE.name and leaf["outcome"] != PAID
    seen = -leaf["total"]["amount"] if leaf["type"] == CAPTURED.name else 0
    return (is_personal, is_refusal or is_nothing, seen, leaf.get("date", ""), leaf["_rev"])
