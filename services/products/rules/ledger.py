"""Stock as a chain of immutable movements that cannot be oversold, also on a cluster where a 409 is not a lock.

The chain. The movements of a product, or of each of its variants, are documents with sequential ids, slot 1, 2, 3 ... Each holds its `delta` and the
`level` after it. Who wants to move stock must have read the last slot n (its level is then exact: nothing is behind it),
may only go where `level + delta >= 0` (see back-orders), and writes slot n + 1. Slots are never written again, so a cached one
(a cache) can at worst be late; then the next slot is taken, the write is refused and he reads again.

Back-orders. Goods with that setting go below zero, down to their limit: what stands below zero is sold and not here yet. So what
comes in goes to those who wait before anybody else can have it, by the same slot; `rules.backorders` tells who waits.

One owner per slot. A copy of a document on a cluster accepts only the first writer of an id, and a write is answered 201
when a majority of the copies accepted it: two writers cannot both have a majority. So a slot belongs to who was told 201,
and to nobody else: `accepted` (202, no majority) is not ownership. What a cluster can do is keep a refused writer's
revision as a conflict, even show it as the winning one. Hence:
- a refused writer whose own revision is stored removes it (unless a quorum read shows it alone: then it was ours all along,
  an answer was lost on the way);
- while a slot shows more than one revision, its level is the lowest of them, or that before them: at worst too little is sold;
- what came in, and may be on too few nodes, is written once more by who follows it; its writer takes it back no more then;
- a revision that a crashed writer left behind is settled by `losers`, the written rule, run by the sweep;
- a list is one node's copy, which may show such a revision alone: the end of a chain is read by its id, with all that most nodes have of it.

Another category. A product that moves takes its stock along: a last slot (MOVED_AWAY) says where the chain goes on, and a slot there
(MOVED_HERE, marked with the id of the last one) brings what was left, written by the first who needs it. Both are written for all who come
after, so a writer that too few nodes heard leaves them where they are, and nobody follows an end that two wrote.

Reservations. Reserving writes, in one bulk, a reservation with a fixed id (order, SKU) and the slot. A repeated
request meets the reservation and takes nothing twice; one whose reservation was only `accepted` gives its slot back. A settlement with a fixed id, sold or released or expired, ends it;
who writes it first decides, and the goods of one not sold go back as a further slot. The sweep ends reservations whose
time is up, gives back what a crash left out, and takes back what a crash took twice: the view `held` tells how many an
order keeps out of stock, and `due` how many it should.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from services.products.declarations.stock import Movement, Reservation
from services.products.documents import MOVEMENT, slot_id, stock_key
from shared.couch import Doc
from shared.errors import Conflict

CREATED, ADJUSTED, RESERVED, RELEASED = "created", "adjusted", "reserved", "released"
MOVED_AWAY, MOVED_HERE, CORRECTED = "moved_away", "moved_here", "corrected"
SOLD, EXPIRED = "sold", "expired"
OUTCOMES: Final = (SOLD, RELEASED, EXPIRED)


class OutOfStock(Conflict):
    code, title = "out_of_stock", "There is not enough in stock"


@dataclass(frozen=True)
class Head:
    """The last slot of a chain. `moved_to` is the taxonomy in which the chain goes on, when the product was moved."""

    slot: int = 0
    level: int = 0
    moved_to: tuple[str, ...] | None = None


@dataclass(frozen=True)
class Line:
    """So many of one product, or of its variant `sku`, in the category it was sold from; `backorder_limit`: so many may wait for
    goods that are still to come."""

    productid: str
    taxonomy: tuple[str, ...]
    quantity: int
    sku: str = ""
    backorder_limit: int = field(default=0, compare=False)

    @property
    def key(self) -> str:
        """Under what its stock is kept."""
        return stock_key(self.productid, self.sku)

    @property
    def name(self) -> str:
        """What people call it."""
        return self.sku or self.productid

    @property
    def fields(self) -> Doc:
        """What a document says of it."""
        about = {"productid": self.productid, "taxonomy": list(self.taxonomy)}
        return about | {"sku": self.sku} if self.key != self.productid else about

    def orderable(self, level: int) -> int:
        """How many can still be ordered where its chain is at this level."""
        return max(level + self.backorder_limit, 0)

    def left(self, level: int) -> Doc:
        """How many of it are left, for who asked for more."""
        variant = {"sku": self.sku} if self.key != self.productid else {}
        return {"productid": self.productid, **variant, "available": self.orderable(level)}


def line_of(doc: Mapping[str, Any], quantity: int = 0) -> Line:
    """The line that a movement, reservation or settlement is of."""
    limit = doc.get("backorder_limit", 0)
    return Line(doc["productid"], tuple(doc["taxonomy"]), quantity, doc.get("sku", ""), limit)


def head_of(leaves: Sequence[Movement], *, is_sure: bool = True) -> Head:
    """The head from all revisions of the last slot, usually one: the lowest level counts, of several or where it is not sure also that before
    them, for they may be taken back."""
    if not leaves:
        return Head()
    levels = [leaf["level"] for leaf in leaves]
    if len(leaves) > 1 or not is_sure:
        levels += [leaf["level"] - leaf["delta"] for leaf in leaves]
    moved = next((leaf["moved_to"] for leaf in leaves if "moved_to" in leaf), None)
    return Head(leaves[0]["slot"], min(levels), tuple(moved) if moved else None)


def movement(
    head: Head,
    line: Line,
    delta: int,
    reason: str,
    mark: str,
    date: str,
    **more: Any,
) -> Movement:
    """The document of the slot after `head`. Raises OutOfStock when fewer are left than it takes."""
    level = head.level + delta
    if delta < 0 and reason != MOVED_HERE and -delta > line.orderable(head.level):
        left = line.orderable(head.level)
        raise OutOfStock(f"Only {left} of {line.name} are left.", items=[line.left(head.level)])
    slot = head.slot + 1
    return MOVEMENT.build(
        slot_id(line.taxonomy, line.key, slot),
        **line.fields,
        slot=slot,
        delta=delta,
        level=level,
        reason=reason,
        mark=mark,
        date=date,
        **more,
    )


def level_on_shelf(movements: Sequence[Movement], moment: str) -> int | None:
    """How many lay there at a moment, of `movements` from the newest back; None where they do not reach so far.

    What had left the shelf by then, and the chain only heard of later (`happened`), is taken off.
    """
    late = 0
    for each in movements:
        if each["date"] <= moment:
            return each["level"] + late
        if each.get("happened", moment + "~") <= moment:
            late += each["delta"]
    return None


def after(doc: Movement) -> Head:
    """The head once this movement is written."""
    return head_of([doc])


def losers(
    leaves: Sequence[Movement],
    outcomes: Mapping[str, str],
    elsewhere: Collection[str],
    followed: Collection[str] = (),
) -> list[Movement]:
    """Which revisions of one slot must go; empty while it cannot be told.

    `elsewhere` are the marks of those who have other slots in its place: a writer that lost this one and went on, an order that came
    again after its writer had died. An order that was sold was told that it has its slot. An order released or expired keeps none.
    When only one is left that none of this speaks against, it stays. `followed` are the marks of those that end the chain and whose stock has
    come to where they lead: one of them stays, whatever else is known.
    """
    if ends := [leaf for leaf in leaves if leaf["mark"] in followed]:
        return [leaf for leaf in leaves if leaf is not ends[0]]
    gone = [
        leaf
        for leaf in leaves
        if leaf["mark"] in elsewhere or outcomes.get(leaf.get("orderid", "")) in (RELEASED, EXPIRED)
    ]
    left = [leaf for leaf in leaves if leaf not in gone]
    sold = [leaf for leaf in left if outcomes.get(leaf.get("orderid", "")) == SOLD]
    if len(sold) == 1:
        return [leaf for leaf in leaves if leaf is not sold[0]]
    if not left:
        return sorted(leaves, key=lambda leaf: leaf["mark"])[1:]
    return gone if len(left) == 1 else []


def final_outcome(outcomes: Collection[str]) -> str:
    """Of outcomes that diverged replicas wrote: a customer who was told `sold` has it."""
    return min(outcomes, key=OUTCOMES.index)


def due(reservation: Reservation, outcome: str, returned: int) -> int:
    """How many an order should keep out of stock, `returned` of them having come back after the sale."""
    return reservation["quantity"] - returned if outcome == SOLD else 0
