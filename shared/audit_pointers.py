"""What entries of the audit trail are found by: for each its actor and its subjects, at any time, in one partition query.

    auditof{hash of an actor}:{key}       whose act it was
    auditof{hash of a subject}:{key}      what it was about, and whose act it was

`key` is the entry's own: it says when, and the entry's id follows from it. An entry and its pointers are one write, before the act
is begun. `complete_pointers` writes those of entries that an older version made.
"""

import hashlib
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import Any, Final

from shared.couch import Database, DeclaredType, Document, DocumentType, StoredDocument, document_id, split_id

FIRST, LAST = "audit2", "audit3"
"""The ids of all entries are between these: their months begin with the year."""
ENTRIES_AT_ONCE: Final = 500
POINTERS_AT_ONCE: Final = 1000
STATE: Final = "audit-pointers"


class AuditPointer(StoredDocument):
    """To the entry with the same key."""

    actor: str


POINTER: DeclaredType[AuditPointer] = DocumentType.declared("auditpointer", AuditPointer)


def pointers_to(entry: Document) -> list[AuditPointer]:
    """Of its actor and of each of its subjects, as they are written beside it."""
    actor, key = entry["actor"], split_id(entry["_id"])[1]
    subjects = dict.fromkeys(each for each in (*entry.get("subjects", ()), entry["subject"]) if each)
    partitions = (_partition(actor=actor), *(_partition(subject=each) for each in subjects))
    return [POINTER.build(document_id(name, key), actor=actor) for name in partitions]


def pointed(
    database: Database, actor: str, subject: str, span: tuple[str, str], limit: int
) -> Iterator[list[str]]:
    """Keys in [first, end) of entries of an actor, about a subject, or both: the newest first, page by page.
    1 partition query for each page of `limit` pointers."""
    first, end = span
    partition = database.partition(_partition(subject=subject) if subject else _partition(actor=actor))
    while True:
        begin_at = document_id(partition.key, end)
        found = POINTER.among(partition.all(descending=True, limit=limit + 1, begin_at=begin_at))
        actors = {split_id(each["_id"])[1]: each["actor"] for each in found}
        yield [key for key, who in actors.items() if first <= key < end and actor in ("", who)]
        if len(found) <= limit or min(actors) < first:
            return
        end = min(actors)


def complete_pointers(database: Database, progress: Callable[[str], None]) -> None:
    """Goes through the entries from the month on that the last run ended in. May be killed and repeated: pointers that are there stay.
    1 read, 1 global query for 500 entries and 1 write for a thousand of their pointers."""
    state: dict[str, Any] = database.get_local(STATE) or {}
    start = str(state.get("month", FIRST))
    while True:
        entries = database.across_partitions.documents(start, LAST, limit=ENTRIES_AT_ONCE)
        _write_pointers(database, entries)
        if entries:
            month = split_id(entries[-1]["_id"])[0]
            if month != state.get("month"):
                state = {**state, "month": month}
                state["_rev"] = database.put_local(STATE, state)
                progress(f"{database.name}: what was done can be found by actor and subject up to {month}")
        if len(entries) < ENTRIES_AT_ONCE:
            return
        start = entries[-1]["_id"] + "\0"


def _write_pointers(database: Database, entries: Iterable[Document]) -> None:
    pointers = (pointer for entry in entries for pointer in pointers_to(entry))
    while some := list(islice(pointers, POINTERS_AT_ONCE)):
        database.add_many(some)


def _partition(*, actor: str = "", subject: str = "") -> str:
    """A hash, for a subject may hold what no partition key may."""
    text = f"subject {subject}" if subject else f"actor {actor}"
    return f"auditof{hashlib.sha256(text.encode()).hexdigest()[:32]}"
