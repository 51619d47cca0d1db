"""Orders of a closed year into files and back. Every step may be killed anywhere and is run again.

What is removed from the database lies in a file whose checksum was compared, and is what that file says; in its place, in the same write,
comes a document (`order{id}:archived`) that holds what lists and reports add up. Documents of one order are in one partition, so in one shard.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from typing import Any, Final

from services.orders.documents import ARCHIVED_ORDER, ORDER
from services.orders.rules.archive import (
    archived_of,
    archived_order,
    checksum,
    moved,
    reason_to_stay,
    without_revision,
)
from services.orders.rules.assembly import OrderDocuments
from services.orders.store.archive import ArchiveStore, removal
from services.orders.store.archive_files import ArchiveFiles
from shared.couch import Document
from shared.errors import Invalid

PAGE: Final = 1000
TOGETHER: Final = 40
"""Orders of one write."""
SHOWN: Final = 20
"""Orders that were left, of which it is said why."""

Say = Callable[[str], None]


@dataclass
class Outcome:
    """How many orders were done, and why others were not."""

    done: int = 0
    left: dict[str, str] = field(default_factory=dict)

    def report(self, verb: str) -> Iterator[str]:
        yield f"{self.done} orders {verb}, {len(self.left)} left as they are."
        for orderid, why in list(self.left.items())[:SHOWN]:
            yield f"  {orderid}: {why}"
        if len(self.left) > SHOWN:
            yield f"  and {len(self.left) - SHOWN} more"


def save(
    store: ArchiveStore,
    files: ArchiveFiles,
    year: int,
    moment: datetime,
    say: Say,
    *,
    orders: int,
    is_enough: Callable[[], bool] = lambda: False,
) -> Outcome:
    """Writes the orders that were placed in `year` and have ended into the archive, `orders` of them in a file; the database stays as it is.

    Goes on where it was ended; once it is through, it takes what has ended since. It ends early when it `is_enough`: then the archive is not
    whole yet. 1 global query for 1,000 orders, 1 partition query each. Raises Invalid for a year that has not ended.
    """
    if year >= moment.astimezone(UTC).year:
        raise Invalid(f"{year} has not ended: an archive holds a closed year.")
    files.begin(year)
    known = {order[0]["orderid"] for part in files.parts for order in files.read(part)}
    outcome, after = Outcome(), files.after
    waiting: list[list[Document]] = []
    while True:
        orderids, last = store.orderids(year, after, limit=min(PAGE, orders))
        for orderid in orderids:
            docs = [] if orderid in known else store.order(orderid)
            if not docs or archived_of(OrderDocuments(docs)):
                continue
            if why := reason_to_stay(docs, moment):
                outcome.left[orderid] = why
            else:
                waiting.append(moved(docs))
        after = last or after
        if waiting and (len(waiting) >= orders or last is None):
            files.add(waiting, after if last else None)
            outcome.done += len(waiting)
            say(f"{files.parts[-1]['file']}: {len(waiting)} orders")
            waiting = []
        if last is None:
            files.add([], None)
            return outcome
        if is_enough():
            files.add(waiting, after)
            outcome.done += len(waiting)
            return outcome


def verify(files: ArchiveFiles, say: Say) -> int:
    """Reads all of it back; how many orders there are. Raises ArchiveDamaged, Invalid."""
    total = 0
    for part in files.parts:
        total += verify_part(files, part)
        say(f"{part['file']}: {part['orders']} orders, {part['documents']} documents")
    return total


def verify_part(files: ArchiveFiles, part: dict[str, Any]) -> int:
    """Of one file. Raises ArchiveDamaged, Invalid."""
    found = list(files.read(part))
    if (len(found), sum(map(len, found))) != (part["orders"], part["documents"]):
        raise Invalid(f"{part['file']} holds other orders than the manifest says.")
    return len(found)


def remove(store: ArchiveStore, files: ArchiveFiles, moment: datetime, say: Say) -> Outcome:
    """Takes out of the database what the archive holds of orders that are still as they were saved. 1 partition query an order, 1 write for TOGETHER."""
    outcome = Outcome()
    store.note("archive orders", str(files.year), orders=sum(part["orders"] for part in files.parts))
    for part in files.parts:
        say(f"{part['file']}: {remove_part(store, files, part, moment, outcome)} orders looked at")
    store.compact()
    return outcome


def remove_part(
    store: ArchiveStore, files: ArchiveFiles, part: dict[str, Any], moment: datetime, outcome: Outcome
) -> int:
    """Of the orders of one file; how many there are. What becomes of them is added to the outcome. Raises ArchiveDamaged."""
    orders, name = list(files.read(part)), f"{files.folder.name}/{part['file']}"
    _rewrite(store, orders, partial(_removal_of, archive=name, moment=moment), outcome)
    return len(orders)


def restore(store: ArchiveStore, files: ArchiveFiles, say: Say, orderid: str = "") -> Outcome:
    """Puts the documents of one order, or of all, back under their ids. 1 partition query an order, 1 write for TOGETHER."""
    outcome = Outcome()
    store.note("restore orders", orderid or str(files.year))
    for part in _parts_with(store, files, orderid):
        say(f"{part['file']}: {restore_part(store, files, part, outcome, orderid)} orders looked at")
    if orderid and not outcome.done and not outcome.left:
        outcome.left[orderid] = "it is not in this archive"
    return outcome


def restore_part(
    store: ArchiveStore, files: ArchiveFiles, part: dict[str, Any], outcome: Outcome, orderid: str = ""
) -> int:
    """The orders of one file, or the one; how many there are. Raises ArchiveDamaged."""
    orders = [order for order in files.read(part) if orderid in ("", order[0]["orderid"])]
    _rewrite(store, orders, _return_of, outcome)
    return len(orders)


def _removal_of(
    saved: list[Document], live: list[Document], archive: str, moment: datetime
) -> list[Document] | str:
    """What is to be written so that nothing but the archived order is left; or why it stays."""
    known = {doc["_id"]: doc for doc in saved}
    here = [doc for doc in live if doc["_id"] in known]
    if any(without_revision(doc) != known[doc["_id"]] for doc in here):
        return "it has changed since it was saved"
    if any(doc["type"] == ARCHIVED_ORDER.name for doc in live):
        return [removal(doc) for doc in here]
    if not live:
        return "it is gone from the database"
    others = [doc for doc in live if doc["_id"] not in known]
    whole: list[Document] = [*saved, *others]
    if moved(whole) != saved:
        return "it has changed since it was saved"
    if why := reason_to_stay(whole, moment):
        return why
    return [dict(archived_order(whole, archive, moment)), *(removal(doc) for doc in here)]


def _return_of(saved: list[Document], live: list[Document]) -> list[Document] | str:
    """What is to be written so that the order is as it was, its first document last: without it no job touches the order."""
    here = {doc["_id"]: without_revision(doc) for doc in live}
    if any(here.get(doc["_id"], doc) != doc for doc in saved):
        return "the database has another version of it"
    archived: Any = next((doc for doc in live if doc["type"] == ARCHIVED_ORDER.name), None)
    if archived is not None and archived["sha256"] != checksum(saved):
        return "another version of it was archived: look for the archive that it names"
    missing = [doc for doc in saved if doc["_id"] not in here]
    missing.sort(key=lambda doc: doc["type"] == ORDER.name)
    return [*missing, *([removal(archived)] if archived is not None else [])]


def _rewrite(
    store: ArchiveStore,
    orders: Sequence[list[Document]],
    change: Callable[[list[Document], list[Document]], list[Document] | str],
    outcome: Outcome,
) -> None:
    """Writes what `change` makes of each saved order and its live documents, TOGETHER at once, or notes why it says that nothing may be."""
    for start in range(0, len(orders), TOGETHER):
        writes: dict[str, list[Document]] = {}
        for saved in orders[start : start + TOGETHER]:
            orderid = saved[0]["orderid"]
            found = change(saved, store.order(orderid))
            if isinstance(found, str):
                outcome.left[orderid] = found
            else:
                writes[orderid] = found
        refused = store.write([doc for docs in writes.values() for doc in docs])
        for orderid, docs in writes.items():
            if refused.isdisjoint(str(doc["_id"]) for doc in docs):
                outcome.done += bool(docs)
            else:
                outcome.left[orderid] = "somebody changed it just now: run this again"


def _parts_with(store: ArchiveStore, files: ArchiveFiles, orderid: str) -> list[dict[str, Any]]:
    """All of them, or the one that an archived order names."""
    archived = archived_of(OrderDocuments(store.order(orderid))) if orderid else None
    return [files.part_named(archived["file"].rpartition("/")[2])] if archived else files.parts
