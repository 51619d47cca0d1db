"""What holds when two diverged replicas wrote the same document of an order: decided by rule, never by an operator.

Refunds and returns are numbered, so both of two replicas' hold: the one that loses its number gets the next free
one. Of everything else one stays: an erased person stays erased, a parcel on its way wins over a cancellation, goods that came back
and a return that was approved over its refusal, else what was written first.
"""

from typing import Any

from shared.couch import Doc, Document

NUMBERED = ("refund", "return", "returnrequest")


def settled(leaves: list[Doc]) -> tuple[Doc, list[Doc]]:
    """(the revision that stays, those that go), the same on every replica that sees these leaves."""
    ranked = sorted(leaves, key=_rank)
    return ranked[0], ranked[1:]


def renumbered(loser: Doc, stays: Doc, taken: set[int]) -> Doc | None:
    """A losing refund or return under the next free number; None if nothing of it is lost."""
    if loser["type"] not in NUMBERED or same(loser, stays):
        return None
    number = max(taken | {loser["number"]}) + 1
    partition = loser["_id"].partition(":")[0]
    moved = {name: value for name, value in loser.items() if name != "_rev"}
    return moved | {"_id": f"{partition}:{loser['type']}{number}", "number": number}


def same(one: Document, other: Document) -> bool:
    """Whether two refunds or returns are one, whatever their numbers."""
    return bool(one["reference"] == other["reference"])


def _rank(leaf: Doc) -> tuple[Any, ...]:
    is_personal, is_refusal = not leaf.get("erased"), leaf.get("decision") in ("cancel", "refuse")
    return (is_personal, is_refusal, leaf.get("date", ""), leaf["_rev"])
