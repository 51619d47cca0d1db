"""The revisions that a customer's devices see: a tree for each document, kept in one small document of the customer's partition.

A database's own feed tells of everybody, and a partition's documents tell of no deletion. So whoever syncs compares what is there with
what was told last (`observed`): what differs gets the next revision and the next number of the sequence, what is gone a tombstone. A
revision follows from the one before and the content, so every replica finds the same. What a device pushes keeps its own
revision where it was made from the newest one (`accepted`); one that was made from an older one is settled by the
rules and its branch is closed (`settled`), so that devices are left with one version.
"""

import hashlib
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from services.users.declarations.sync import Branch, Entry
from shared.replication import number_since

MAX_HISTORY: Final = 30
MAX_CLOSED: Final = 8
MAX_BURIED: Final = 10
MAX_TOMBSTONES: Final = 1000
MAX_GENERATION: Final = 1_000_000
_REVISION: Final = re.compile(r"([1-9][0-9]{0,6})-([0-9a-zA-Z]{1,64})")


@dataclass(frozen=True)
class Told:
    """What was told of a customer's documents, by id. A sequence counts within its `epoch`: to numbers of another one all is new."""

    epoch: str
    sequence: int
    entries: Mapping[str, Entry]

    def since(self, text: str) -> int:
        """The number in a client's `since`; 0 for one of another epoch. Raises ValueError for what is none."""
        return number_since(text, self.epoch, self.sequence)

    def named(self, number: int) -> str:
        return f"{number}-{self.epoch}"


def revision(branch: Branch | Entry) -> str:
    return f"{branch['start']}-{branch['ids'][0]}"


def parsed(text: Any) -> tuple[int, str]:
    """Generation and id of a revision. Raises ValueError."""
    found = _REVISION.fullmatch(text) if isinstance(text, str) else None
    if found is None or int(found[1]) > MAX_GENERATION:
        raise ValueError("Invalid rev format")
    return int(found[1]), found[2]


def branch_of(doc: Mapping[str, Any]) -> Branch:
    """The revision that a pushed document has, with the ones before that it names. Raises ValueError."""
    start, newest = parsed(doc.get("_rev"))
    named = doc.get("_revisions", {"start": start, "ids": [newest]})
    ids = named.get("ids") if isinstance(named, dict) else None
    if not isinstance(ids, list) or named.get("start") != start or not 1 <= len(ids) <= start:
        raise ValueError("Invalid _revisions")
    for each in ids:
        parsed(f"1-{each}" if isinstance(each, str) else each)
    if ids[0] != newest:
        raise ValueError("Invalid _revisions")
    return {"start": start, "ids": ids}


def holds(branch: Branch | Entry, rev: tuple[int, str]) -> bool:
    """Whether `rev` is the branch's newest revision or one that is known before it."""
    place = branch["start"] - rev[0]
    return 0 <= place < len(branch["ids"]) and branch["ids"][place] == rev[1]


def knows(entry: Entry | None, rev: tuple[int, str]) -> bool:
    return entry is not None and any(holds(branch, rev) for branch in (entry, *entry.get("closed", ())))


def is_newest(entry: Entry | None, branch: Branch) -> bool:
    """Whether a pushed branch goes on from the newest revision."""
    return entry is not None and holds(branch, (entry["start"], entry["ids"][0]))


def following(entry: Entry | None, digest: str, *, deleted: bool = False) -> Entry:
    """The next revision of what is (no longer) so."""
    before = revision(entry) if entry else ""
    number = entry["start"] + 1 if entry else 1
    newest = hashlib.md5(f"{before} {digest} {deleted}".encode(), usedforsecurity=False).hexdigest()
    return _entry(entry, number, [newest, *(entry["ids"] if entry else [])], digest, deleted)


def accepted(entry: Entry | None, branch: Branch, digest: str, *, deleted: bool = False) -> Entry:
    """A pushed branch as the newest: one that goes on from it, or, where there is nothing (any more), one of its own."""
    if entry is None or is_newest(entry, branch):
        known = entry["ids"] if entry else []
        new = branch["ids"][: branch["start"] - entry["start"]] if entry else branch["ids"]
        return _entry(entry, branch["start"], [*new, *known], digest, deleted)
    ended = _entry(entry, branch["start"], branch["ids"], digest, deleted)
    return _with_closed(ended, {"start": entry["start"], "ids": entry["ids"][:1]})


def settled(entry: Entry, branch: Branch, *, deleted: bool = False) -> Entry:
    """The entry after a pushed branch lost: it ends in a deletion, unless it is one."""
    if deleted:
        return _with_closed(entry, {"start": branch["start"], "ids": branch["ids"][:1]})
    end = hashlib.md5(f"{revision(branch)} closed".encode(), usedforsecurity=False).hexdigest()
    return _with_closed(entry, {"start": branch["start"] + 1, "ids": [end, branch["ids"][0]]})


def observed(told: Told, shown: Mapping[str, str], unseen: Collection[str] = ()) -> Told:
    """What is told of documents whose content has these digests, by id. Those that begin with one of `unseen` stay as they were told.

    The same object when there is nothing new.
    """
    entries = dict(told.entries)
    for docid, digest in sorted(shown.items()):
        entry = entries.get(docid)
        if entry is None or entry.get("deleted") or entry["digest"] != digest:
            entries[docid] = following(entry, digest)
    for docid, entry in told.entries.items():
        if docid not in shown and not entry.get("deleted") and not docid.startswith(tuple(unseen)):
            entries[docid] = following(entry, "", deleted=True)
    return numbered(told, entries)


def numbered(told: Told, entries: Mapping[str, Entry]) -> Told:
    """`told` with these entries: those that changed have the next numbers of the sequence, and the oldest tombstones go."""
    changed = [docid for docid in sorted(entries) if entries[docid] is not told.entries.get(docid)]
    if not changed:
        return told
    numbers = {docid: told.sequence + place for place, docid in enumerate(changed, 1)}
    new: dict[str, Entry] = {
        docid: {**entry, "seq": numbers[docid]} if docid in numbers else entry
        for docid, entry in entries.items()
    }
    tombstones = sorted((each["seq"], docid) for docid, each in new.items() if each.get("deleted"))
    for _, docid in tombstones[:-MAX_TOMBSTONES]:
        del new[docid]
    return Told(told.epoch, told.sequence + len(changed), new)


def united(versions: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """One document of what two replicas told apart: the longer branch of each, the others closed, in an epoch of its own, so that every device
    looks at all of it."""
    told: dict[str, list[Entry]] = {}
    for version in versions:
        for docid, entry in version["entries"].items():
            told.setdefault(docid, []).append(entry)
    epochs = " ".join(sorted(version["epoch"] for version in versions))
    return {
        **versions[-1],
        "epoch": hashlib.md5(epochs.encode(), usedforsecurity=False).hexdigest()[:12],
        "sequence": max(version["sequence"] for version in versions),
        "entries": {docid: _with_all_branches(entries) for docid, entries in told.items()},
    }


def _with_all_branches(entries: Sequence[Entry]) -> Entry:
    """The longest of several entries of a document; what only the others tell of has ended."""
    whole, *others = sorted(entries, key=lambda entry: (entry["start"], entry["ids"]), reverse=True)
    for entry in others:
        if not knows(whole, (entry["start"], entry["ids"][0])):
            whole = settled(whole, entry, deleted=bool(entry.get("deleted")))
        for branch in entry.get("closed", ()):
            if not knows(whole, (branch["start"], branch["ids"][0])):
                whole = settled(whole, branch, deleted=True)
    return whole


def _entry(before: Entry | None, start: int, ids: list[str], digest: str, deleted: bool) -> Entry:
    entry: Entry = {"seq": 0, "start": start, "ids": ids[:MAX_HISTORY], "digest": digest}
    if deleted:
        entry["deleted"], entry["ids"] = True, ids[:MAX_BURIED]
    if before and "closed" in before:
        entry["closed"] = before["closed"]
    return entry


def _with_closed(entry: Entry, branch: Branch) -> Entry:
    return {**entry, "closed": [*entry.get("closed", []), branch][-MAX_CLOSED:]}
