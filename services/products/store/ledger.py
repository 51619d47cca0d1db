"""The stock ledger: reads the end of a chain, writes the next slot, and knows whose a slot is. See `rules.ledger`."""

import random
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from datetime import timedelta
from itertools import groupby, pairwise
from threading import Lock
from typing import Any, TypeVar

from redis import Redis

from services.products.declarations.stock import Movement, StockTotal
from services.products.documents import (
    LEVELS,
    MOVEMENT,
    STOCK_TOTAL,
    partition_of,
    slot_id,
    slot_prefix,
)
from services.products.rules.ledger import (
    CORRECTED,
    MOVED_AWAY,
    MOVED_HERE,
    Head,
    Line,
    after,
    head_of,
    level_on_shelf,
    line_of,
    movement,
)
from services.products.rules.roll_up import level_of, total_prefix
from services.products.store.slot_cache import SlotCache
from shared.clock import iso, now
from shared.couch import (
    Database,
    Doc,
    Document,
    NoSuchDocument,
    Written,
    document_id,
    split_id,
    time_ordered_id,
)
from shared.couch.quorum import confirm, leaves_of, take_back
from shared.errors import Unavailable

_STRIPES, _MAX_MOVES, _MAX_UNSURE, _MAX_LOOKS = 64, 20, 4, 4
_TAIL = 8
_RECENT = 100
_TIMEOUT_SECONDS, _LOCK_WAIT_SECONDS, _CONTESTED_SECONDS = 2.0, 0.3, 0.05
_ON_THE_WAY = (MOVED_AWAY, MOVED_HERE)
_TAKEN_BACK_WITHIN = timedelta(minutes=1)
"""Whoever hears that too few nodes took a movement takes it back by then, or never."""

Decided = TypeVar("Decided", bound=Movement | None)


class HeadMoved(Exception):
    """A movement was written behind the end of the chain since that was read."""


class TooManyConflicts(Unavailable):
    code, title = "stock_contended", "Too many buyers at once"


class TooFewNodes(TooManyConflicts):
    """What was written is taken back."""


def too_few_nodes() -> TooFewNodes:
    return TooFewNodes("Too few database nodes answer to reserve stock safely; try again.", retry_after=2)


def being_moved(line: Line) -> TooManyConflicts:
    return TooManyConflicts(f"The stock of {line.name} is being moved; try again.", retry_after=1)


class Ledger:
    """Movements of all products and their variants."""

    def __init__(self, database: Database, redis: Redis) -> None:
        self._database = database
        self._slot_cache = SlotCache(redis, database.name)
        self._locks = [Lock() for _ in range(_STRIPES)]

    @contextmanager
    def lock(self, keys: Iterable[str]) -> Iterator[None]:
        """One thread of this process at a time moves a product's stock: not needed to be right, but it saves refused writes.

        Nobody waits long for it: while the database hangs, all get their 503 in time.
        """
        with ExitStack() as held:
            for stripe in sorted({hash(key) % _STRIPES for key in keys}):
                if self._locks[stripe].acquire(timeout=_LOCK_WAIT_SECONDS):
                    held.callback(self._locks[stripe].release)
            yield

    def cached_heads(self, lines: Sequence[Line]) -> dict[Line, Head]:
        """The heads as last seen by any process; may be late, never wrong. No database call."""
        return self._slot_cache.get(lines)

    def end(self, line: Line) -> tuple[Line, Head]:
        """Where the chain of a product ends now, also when it was moved to another category. 1 partition query; on a cluster 1 read, and 1 read
        and 1 write more where something has just come in that nobody remembers."""
        ends, moves = time.monotonic() + _TIMEOUT_SECONDS, 0
        while moves < _MAX_MOVES and time.monotonic() < ends:
            leaves, head = self._followed(line)
            if head.moved_to is None:
                return line, head
            if len(leaves) > 1:
                time.sleep(_CONTESTED_SECONDS)
                continue
            line, moves = replace(line, taxonomy=head.moved_to), moves + 1
            self.open_moved(leaves[0], line)
        raise being_moved(line)

    def known_end(self, line: Line) -> tuple[Line, Head]:
        """The same, as somebody remembers it where the asked node of a cluster lacks the last movements: for who tells the level, or works out
        how far it is from another. As costly as `end`."""
        place, head = self.end(line)
        if self._database.has_one_copy:
            return place, head
        known = self.cached_heads([place]).get(place, head)
        return place, known if known.slot > head.slot else head

    def open_moved(self, closing: Movement, line: Line) -> None:
        """Opens the chain that `closing` leads to with what it took along, once, by the first who needs it."""
        ends = time.monotonic() + _TIMEOUT_SECONDS
        while time.monotonic() < ends:
            chain = self.chain(line)
            head = head_of(self._last(reversed(chain)))
            if closing["delta"] == 0 and head.moved_to is None:
                return
            followed = self.is_followed(closing, line, chain)
            if followed:
                return
            if followed is None:
                time.sleep(_CONTESTED_SECONDS)
                continue
            doc = self.arrival(closing, line, head)
            if self.is_own(doc, self.write([doc])[0]):
                return
        raise being_moved(line)

    def is_followed(self, closing: Movement, line: Line, chain: Sequence[Movement]) -> bool | None:
        """Whether what a closing chain took along has come to `line`, whose chain this is; None while another has written that slot as
        well. Where each document has several copies 1 read more."""
        mark = closing["_id"]
        arrived = [self._as_all_have(each) for each in chain if each["mark"] == mark]
        if not arrived:
            return self._arrived_before(line, mark)
        marks = [{leaf["mark"] for leaf in leaves} for leaves in arrived]
        return True if {mark} in marks else None if any(mark in each for each in marks) else False

    def arrival(self, closing: Movement, line: Line, head: Head) -> Movement:
        """The slot after `head` that brings what a closing chain took along."""
        return movement(head, line, -closing["delta"], MOVED_HERE, closing["_id"], closing["date"])

    def closing(self, line: Line, head: Head, moved_to: Sequence[str], date: str) -> Movement:
        """The slot after `head` that ends a chain and sends its readers to where it goes on, with all that is in stock."""
        mark, more = time_ordered_id(), {"moved_to": list(moved_to)}
        return movement(head, line, -head.level, MOVED_AWAY, mark, date, **more)

    def end_here(self, line: Line) -> Head:
        """The last slot of a chain in this category. 1 partition query."""
        return head_of(self._last(self._tail(line)))

    def ends(self, slots: Mapping[Line, int]) -> dict[Line, Head]:
        """Where each chain ends in its category; of each a slot is known to be written. No database call where any process has seen that slot
        or a later one, else 1 partition query for each."""
        seen = self.cached_heads(list(slots))
        return {
            line: seen[line] if line in seen and seen[line].slot >= slot else self.end_here(line)
            for line, slot in slots.items()
        }

    def level(self, line: Line) -> int:
        """P7: the sum of the movements of a product or variant. 1 partition query."""
        partition = self._database.partition(partition_of(line.taxonomy))
        key = [line.productid, line.sku]
        return level_of(partition.view(LEVELS, start=key, end=[*key, {}], group=True))

    def levels(self, taxonomy: Sequence[str], productid: str) -> dict[str, int]:
        """P7: the same of a product and all its variants that had stock at any time, by SKU. 1 partition query."""
        partition = self._database.partition(partition_of(taxonomy))
        rows = partition.view(LEVELS, start=[productid], end=[productid, {}], group=True)
        return {
            sku or productid: level_of(found) for sku, found in groupby(rows, key=lambda row: row["key"][1])
        }

    def movements(self, line: Line, limit: int) -> list[Movement]:
        """The last movements, newest first. 1 partition query."""
        partition = self._database.partition(partition_of(line.taxonomy))
        found = MOVEMENT.among(partition.all(slot_prefix(line.key), limit=limit, descending=True))
        first = found[-1]["slot"] if len(found) == limit else 1
        return self._with_missing(line, found[::-1], first)[::-1]

    def level_at(self, line: Line, moment: str) -> int | None:
        """How many there were at a moment; None before the first movement in this category. 1 partition query, more for one long ago."""
        return level_on_shelf(self.movements_since(line, moment), moment)

    def movements_since(self, line: Line, moment: str) -> list[Movement]:
        """The last movements, newest first, back to one of that moment or before. 1 partition query, more for one long ago."""
        limit = _RECENT
        while True:
            found = self.movements(line, limit)
            if len(found) < limit or found[-1]["date"] <= moment:
                return found
            limit *= 10

    def chain(self, line: Line) -> list[Movement]:
        """Every movement, oldest first, conflicts listed. 1 partition query."""
        partition = self._database.partition(partition_of(line.taxonomy))
        return self._with_missing(
            line, MOVEMENT.among(partition.all(slot_prefix(line.key), conflicts=True)), 1
        )

    def slots_back_from(self, line: Line, slot: int) -> Iterator[list[Movement]]:
        """The revisions of each slot from this one on, the newest slot first, on into where the product was before.

        1 partition query for each hundred slots, as far as they are asked for.
        """
        partition, prefix, last = partition_of(line.taxonomy), slot_prefix(line.key), slot
        while last:
            page = MOVEMENT.among(
                self._database.partition(partition).all(
                    prefix,
                    begin_at=document_id(partition, f"{prefix}{last:09d}"),
                    limit=_RECENT,
                    descending=True,
                    conflicts=True,
                )
            )
            last = page[-1]["slot"] - 1 if len(page) == _RECENT else 0
            for doc in page:
                if doc["reason"] == MOVED_HERE:
                    partition, key = split_id(doc["mark"])
                    last = int(key.removeprefix(prefix))
                    break
                yield leaves_of(self._database, doc)

    def last_slots_of(self, orderid: str, line: Line) -> set[str]:
        """The ids of the order's among the last slots, here and where the chain goes on: those that a node lists, and by their ids those that
        it lacks."""
        found: set[str] = set()
        for place in {line, self.end(line)[0]}:
            listed = self.movements(place, _RECENT)
            last = listed[0]["slot"] if listed else 0
            seen = self.cached_heads([place]).get(place, Head()).slot
            unlisted = range(last + 1, max(last, seen) + _TAIL + 1)
            read = self._database.get_many([slot_id(place.taxonomy, place.key, slot) for slot in unlisted])
            slots = [*listed, *read.values()]
            found.update(slot["_id"] for slot in slots if slot.get("orderid") == orderid)
        return found

    def has_movement(self, line: Line, mark: str) -> bool:
        """Whether a movement with this mark is in the chain, or where it goes on. Reads it whole."""
        end, _ = self.end(line)
        return any(each["mark"] == mark for place in {line, end} for each in self.chain(place))

    def append(self, line: Line, delta: int, reason: str, mark: str, date: str, **more: Any) -> Movement:
        """Writes the next movement, also beside other writers. Raises OutOfStock, or TooManyConflicts when it never gets its turn.

        Follows a product that was moved: the movement is written where the chain goes on. What too few nodes took is written once more, a few
        times: of three who write one slot at once each may have one node.
        """
        for _ in range(_MAX_UNSURE):
            with suppress(TooFewNodes):
                return self._append(line, delta, reason, mark, date, **more)
        return self._append(line, delta, reason, mark, date, **more)

    def _append(self, line: Line, delta: int, reason: str, mark: str, date: str, **more: Any) -> Movement:
        return self.append_decided(
            line, lambda place, head: movement(head, place, delta, reason, mark, date, **more)
        )

    def append_once(self, line: Line, delta: int, reason: str, mark: str, date: str, **more: Any) -> Movement:
        """The same, unless one of the last movements has this `mark`, which is the answer then: also of two who do it at once."""

        def decide(place: Line, head: Head) -> Movement:
            recent = self.movements(place, _RECENT)
            if done := next((each for each in recent if each["mark"] == mark), None):
                return done
            if recent and recent[0]["slot"] != head.slot:
                raise HeadMoved
            return movement(head, place, delta, reason, mark, date, **more)

        return self.append_decided(line, decide)

    def append_decided(self, line: Line, decide: Callable[[Line, Head], Decided]) -> Decided:
        """Writes what `decide` says of where the chain ends now, asked again whenever somebody else was quicker, or it raises HeadMoved.

        A movement that is stored already is the answer as it is, and None writes nothing. Raises TooManyConflicts.
        """
        ends = time.monotonic() + _TIMEOUT_SECONDS
        while time.monotonic() < ends:
            line, head = self.end(line)
            try:
                doc = decide(line, head)
            except HeadMoved:
                continue
            if doc is None or "_rev" in doc or self.is_own(doc, self.write([doc])[0]):
                return doc
            time.sleep(random.uniform(0, 0.02))
        raise TooManyConflicts(
            f"The stock of {line.name} is changing too fast just now; try again.", retry_after=1
        )

    def close(self, line: Line, moved_to: Sequence[str], mark: str, date: str) -> None:
        """Ends the chain here and sends its readers to where it goes on, with all that is in stock."""
        ends = time.monotonic() + _TIMEOUT_SECONDS
        while time.monotonic() < ends:
            _, head = self._followed(line)
            if head.moved_to == tuple(moved_to):
                return
            doc = self.closing(line, head, moved_to, date) | {"mark": mark}
            if self.is_own(doc, self.write([doc])[0]):
                return
        raise TooManyConflicts(
            f"The stock of {line.name} is changing too fast just now; try again.", retry_after=1
        )

    def correct(self, line: Line, mark: str, date: str) -> None:
        """Makes the level at the end of the chain the sum of its movements."""

        def decide(place: Line, head: Head) -> Movement | None:
            total = self._sum(place, head)
            if head.level == total:
                return None
            return movement(Head(head.slot, total), place, 0, CORRECTED, mark, date)

        self.append_decided(line, decide)

    def is_broken(self, line: Line, moment: str) -> bool:
        """Whether of the last movements, none of them after `moment`, one has not the level that the one before it and its own quantity make:
        its writer followed one that was taken back since, or had to take the lowest of several. 1 partition query."""
        found = self.movements(line, _RECENT)
        if not found or found[0]["date"] > moment:
            return False
        for later, earlier in pairwise(found):
            if later["reason"] == CORRECTED:
                return False
            follows = later["slot"] == earlier["slot"] + 1
            if not follows or later["level"] != earlier["level"] + later["delta"]:
                return True
        return False

    def write(self, docs: Sequence[Document]) -> list[Written]:
        """1 write; every document on its own. Raises what a write of it alone raises for one that was refused for another reason than
        that it is there already: PartitionFull, DatabaseUnavailable."""
        written = self.write_each(docs)
        for row in written:
            row.raise_if_refused()
        return written

    def write_each(self, docs: Sequence[Document]) -> list[Written]:
        """1 write; every document on its own, and what became of each is for the caller to look at."""
        return self._database.put_many(docs)

    def is_own(self, doc: Movement, written: Written) -> bool:
        """Whether the slot belongs to this movement; if it does not, our revision is not left behind.

        But what leads a chain on, or brings stock along, stays where too few nodes took it: somebody may have followed it by now. Where it has
        the slot, what others left in it goes at once, for nobody follows the end of a chain that two wrote.
        """
        line = line_of(doc)
        if written.rev and not written.accepted:
            self._slot_cache.put({line: after(doc)})
            if doc["reason"] in _ON_THE_WAY and not self._database.has_one_copy:
                self._take_away_others(doc)
            return True
        self._slot_cache.drop([line])
        if written.accepted:
            if doc["reason"] not in _ON_THE_WAY:
                take_back(self._database, written.id, str(written.rev))
                if self._is_alone(doc):  # whoever follows it had most nodes take it before that
                    return True
            raise too_few_nodes()
        stored = next((each for each in self._tail(line) if each["slot"] == doc["slot"]), None)
        if stored and stored["mark"] != doc["mark"] and "_conflicts" not in stored:
            return False
        return self._is_only_or_withdraw(doc)

    def leaves(self, docid: str) -> list[Doc]:
        """All revisions that a document has at once, usually one. Raises NoSuchDocument."""
        return leaves_of(self._database, self._database.get(docid, conflicts=True))

    def remove(self, leaves: Iterable[Document]) -> None:
        """Takes revisions of a slot away."""
        for leaf in leaves:
            self._database.delete(leaf["_id"], leaf["_rev"])
            if "productid" in leaf:
                self._slot_cache.drop([line_of(leaf)])

    def checkpoint(self, name: str) -> Doc:
        return self._database.get_local(name) or {}

    def save_checkpoint(self, name: str, doc: Doc) -> None:
        self._database.put_local(name, doc)

    def remember(self, heads: Mapping[Line, Head]) -> None:
        self._slot_cache.put(heads)

    def _tail(self, line: Line) -> list[Movement]:
        """The last movements, newest first, conflicts listed. 1 partition query."""
        partition = self._database.partition(partition_of(line.taxonomy))
        return MOVEMENT.among(
            partition.all(slot_prefix(line.key), limit=_TAIL, descending=True, conflicts=True)
        )

    def _last(self, newest_first: Iterable[Movement]) -> list[Movement]:
        """The revisions of the last slot, usually one."""
        found = map(self._as_all_have, newest_first)
        return next((leaves for leaves in found if leaves), [])

    def _followed(self, line: Line) -> tuple[list[Movement], Head]:
        """The end of a chain in this category as it can be followed: where that stays in doubt, with the least that it may have."""
        leaves: list[Movement] = []
        for _ in range(_MAX_LOOKS):
            leaves = self._last(self._tail(line))
            if self._stays(leaves):
                return leaves, head_of(leaves)
            time.sleep(_CONTESTED_SECONDS)
        return leaves, head_of(leaves, is_sure=False)

    def _stays(self, leaves: Sequence[Movement]) -> bool:
        """Whether the end of a chain stays as it is. On a cluster too few nodes may have taken it, and its writer takes it back: who had
        followed what came in would sell it twice. So most nodes have to take that once more; its writer leaves it then. One that several
        wrote is soon one's."""
        if self._database.has_one_copy or not leaves:
            return True
        last = leaves[0]
        if len(leaves) > 1:
            return False
        if (
            last["delta"] <= 0
            or last["reason"] == MOVED_HERE
            or last["date"] < iso(now() - _TAKEN_BACK_WITHIN)
        ):
            return True
        with suppress(Unavailable):
            return self._is_alone(last)
        return False

    def _is_alone(self, doc: Movement) -> bool:
        """Whether nobody else's lies beside this movement and most of a cluster's nodes take it once more. Raises DatabaseUnavailable."""
        return bool(confirm(self._database, doc["_id"], lambda leaf: bool(leaf["mark"] == doc["mark"])))

    def _as_all_have(self, doc: Movement) -> list[Movement]:
        """The revisions of a slot. A list is one node's copy, which may show one that the others refused: where each document has several
        copies, 1 read."""
        if self._database.has_one_copy:
            return leaves_of(self._database, doc)
        return MOVEMENT.among(self._database.revisions(doc["_id"]))

    def _with_missing(self, line: Line, found: list[Movement], first: int) -> list[Movement]:
        """Movements, oldest first, with the slots from `first` on that the node which was asked lacks in between. Where each document has several
        copies 1 read for each, and 1 partition query."""
        if self._database.has_one_copy or not found:
            return found
        missing = set(range(first, found[-1]["slot"])) - {each["slot"] for each in found}
        if missing:
            rolled_up = max((each["slot"] for each in self._totals(line)), default=0)
            for slot in missing:
                if slot > rolled_up:
                    with suppress(NoSuchDocument):  # its writer has taken it back
                        docid = slot_id(line.taxonomy, line.key, slot)
                        found += MOVEMENT.among([self._database.get(docid, conflicts=True)])
        return sorted(found, key=lambda each: each["slot"])

    def _sum(self, line: Line, head: Head) -> int:
        """What the movements up to the head add up to. Where each document has several copies they are read one by one, for a view may lack some.
        Raises HeadMoved."""
        if self._database.has_one_copy:
            return self.level(line)
        chain, totals = self.chain(line), self._totals(line)
        if (chain[-1]["slot"] if chain else 0) != head.slot:
            raise HeadMoved
        last = max(totals, key=lambda each: each["slot"], default=None)
        rolled_up, before = (last["slot"], last["delta"]) if last else (0, 0)
        return before + sum(each["delta"] for each in chain if each["slot"] > rolled_up)

    def _totals(self, line: Line) -> list[StockTotal]:
        partition = self._database.partition(partition_of(line.taxonomy))
        return STOCK_TOTAL.among(partition.all(total_prefix(line.key)))

    def _arrived_before(self, line: Line, mark: str) -> bool:
        """Whether a movement with this mark brought stock here that a total stands for by now. 1 partition query."""
        return any(mark in each["arrivals"] for each in self._totals(line))

    def _is_only_or_withdraw(self, doc: Movement) -> bool:
        if self._is_alone(doc):
            return True
        if doc["reason"] != MOVED_HERE:
            leaves = self._database.revisions(doc["_id"])
            self.remove(leaf for leaf in leaves if leaf == {**doc, "_rev": leaf["_rev"]})
        return False

    def _take_away_others(self, doc: Movement) -> None:
        for leaf in self._database.revisions(doc["_id"]):
            if leaf["mark"] != doc["mark"]:
                take_back(self._database, leaf["_id"], leaf["_rev"])
