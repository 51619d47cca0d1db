"""Writes that exclude others, and whose a document is that only one writer may have: most of a cluster's nodes decide.

CouchDB answers 202 (`accepted`) when fewer took a write: another writer may have been told the same, and the node's copy, kept as a
conflict, may even be the one that the database shows later.
"""

import random
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any, Final, Protocol, TypeVar, cast

from .documents import Doc, Document, generation
from .errors import DatabaseUnavailable, NoSuchDocument, TooFewNodes, UpdateConflict
from .written import Written

D = TypeVar("D", bound=Document)

_TRIES: Final = 10
_UNSURE_TRIES: Final = 2
_LOOKS: Final = 4
_SETTLING_SECONDS: Final = (0.03, 0.1)
_UNKNOWN: Final = "Too few database nodes answer to know whose this is; try again."


class Copied(Protocol):
    """A database of whose documents several nodes may have copies: what is needed of `Database` here."""

    @property
    def has_one_copy(self) -> bool: ...

    def get(self, docid: str, *, rev: str | None = None) -> Doc: ...

    def revisions(self, docid: str) -> list[Doc]: ...

    def revisions_of_many(self, docids: Sequence[str]) -> dict[str, list[Doc]]: ...

    def revisions_of_all_nodes(self, docid: str) -> list[Doc]: ...

    def put(self, doc: Document, *, exclusive: bool = False) -> str: ...

    def put_many(self, docs: Iterable[Document], *, exclusive: bool = False) -> list[Written]: ...

    def delete(self, docid: str, rev: str) -> None: ...


def put(database: Copied, doc: Document) -> str:
    """Writes one document and returns its revision, as `try_put` does. Raises UpdateConflict where another writer has it."""
    rev = try_put(database, doc)
    if rev is None:
        raise UpdateConflict(f"{doc['_id']} was changed by another request first.", document=doc["_id"])
    return rev


def put_new(database: Copied, docs: Sequence[Document]) -> list[Doc]:
    """Those of documents that are not there yet which are kept now, with their revisions; 1 write. The others are for `put`, one by one."""
    rows = database.put_many(docs)
    return [
        {**doc, "_rev": row.rev} for doc, row in zip(docs, rows, strict=True) if row.rev and not row.accepted
    ]


def try_put(database: Copied, doc: Document) -> str | None:
    """The revision of a document, or of what follows its `_rev`, where nobody else was told that theirs holds; None where another has it.

    What too few nodes took is written once more. While that does not help, raises DatabaseUnavailable; then, and where another writer has
    it, ours is left neither beside another's version nor as the only one where there was none before. 1 write, on a cluster 1 read before
    it for a document that has a `_rev`, and reads and writes where the nodes did not take it at once.
    """
    is_refused = False
    if replaced(database, [doc]):
        return None
    try:
        return database.put(doc, exclusive=True)
    except UpdateConflict as conflict:
        if database.has_one_copy:
            return None
        is_refused = not conflict.extra.get("resent")
    except TooFewNodes:
        pass
    rev = decide(database, doc, is_refused=is_refused)
    if rev is None and "_rev" in doc:
        _let_settle()
    return rev


def replaces(doc: Document) -> bool:
    """Whether a document is written in place of one, which it does not only delete."""
    return "_rev" in doc and "_deleted" not in doc


def replaced(database: Copied, docs: Sequence[Document]) -> set[str]:
    """Of documents that are to follow their `_rev`, the ids of those that another writer has replaced; none where there is one copy of each.

    What was read may be one of two that were written at once, and about to be taken back: who followed it would hide what the other was told.
    So that is waited for, a moment: what has lain beside it for long stays. 1 read for each document.
    """
    parents = {doc["_id"]: doc["_rev"] for doc in docs if replaces(doc)}
    late: set[str] = set()
    if not parents or database.has_one_copy:
        return late
    for _ in range(_LOOKS):
        found = database.revisions_of_many(list(parents))
        contested = {}
        for docid, rev in parents.items():
            leaves = [
                leaf["_rev"] for leaf in found.get(docid, ()) if generation(leaf["_rev"]) >= generation(rev)
            ]
            if leaves and rev not in leaves:
                late.add(docid)
            elif len(leaves) > 1:
                contested[docid] = rev
        if not (parents := contested):
            break
        _let_settle()
    return late


def decide(database: Copied, doc: Document, *, is_refused: bool) -> str | None:
    """The revision of a write that a cluster refused at once (`is_refused`), or that too few nodes took, where it holds after all; None where
    another writer's does, and ours is taken back then. Raises DatabaseUnavailable while that cannot be told."""
    if "_rev" in doc:
        return _decide_replacement(database, doc, is_refused=is_refused)
    known = None
    try:
        if not is_refused:
            known = confirm(database, doc["_id"], _is_same_as(doc))
    finally:
        if known is None:
            _withdraw(database, doc, is_refused=is_refused)
    return str(known["_rev"]) if known else None


def decide_each(database: Copied, docs: Sequence[Document], written: Sequence[Written]) -> list[Written]:
    """The rows of a `put_many`, where what too few nodes took in place of a revision is decided: it holds, or is a `conflict`. Once too few
    nodes answer to tell, the rest stays as it is."""
    decided = list(written)
    with suppress(DatabaseUnavailable):
        for at, (doc, row) in enumerate(zip(docs, written, strict=True)):
            if row.accepted and replaces(doc):
                rev = decide(database, doc, is_refused=False)
                decided[at] = replace(row, rev=rev, error=None if rev else "conflict", accepted=False)
    if decided != list(written):
        _let_settle()
    return decided


def _let_settle() -> None:
    """Who is refused reads the document again: at once it would see what another is about to take back, and follow that."""
    time.sleep(random.uniform(*_SETTLING_SECONDS))


def _withdraw(database: Copied, doc: Document, *, is_refused: bool) -> None:
    """Of what was refused at once only what one node kept beside another writer's is ours: alone it is the other's who wrote the same."""
    leaves = database.revisions_of_all_nodes(doc["_id"])
    if len(leaves) > 1 or not is_refused:
        for leaf in filter(_is_same_as(doc), leaves):
            take_back(database, leaf["_id"], leaf["_rev"])


def _decide_replacement(database: Copied, doc: Document, *, is_refused: bool) -> str | None:
    """Of several writers of one version each may have one node, and none of them most. So those that are not shown give way, and the one
    that is does where another stays: what is shown is read, and others write what follows it. What lay beside that version stays out of it."""
    is_own, has_met_others = _is_same_as(doc), not is_refused
    for _ in range(_TRIES):
        leaves = [
            leaf
            for leaf in database.revisions_of_all_nodes(doc["_id"])
            if generation(leaf["_rev"]) > generation(doc["_rev"])
        ]
        own = next(filter(is_own, leaves), None)
        if own is None or (len(leaves) == 1 and not has_met_others):
            return None  # alone it is the other's, who wrote the same
        if len(leaves) == 1:
            if rev := _spread(database, own):
                return rev
        elif own is not leaves[0] or _give_way(database, leaves[1:]):
            take_back(database, own["_id"], own["_rev"])
            return None
        has_met_others = True
    raise DatabaseUnavailable(_UNKNOWN, retry_after=2)


def _give_way(database: Copied, others: Sequence[Doc]) -> bool:
    """Has most nodes take one of the others once more, as it is: the one that they had before, which its writer may have been told, or any.
    Whether there still was one. Raises DatabaseUnavailable where that cannot be done."""
    unsure: list[Doc] = []
    for leaf in others:
        try:
            database.put(leaf, exclusive=True)
        except UpdateConflict:
            continue
        except TooFewNodes as taken:
            unsure.append({**leaf, "_rev": taken.rev})
            continue
        break
    else:
        try:
            if not unsure or not _spread(database, unsure.pop(0)):
                return False
        except TooFewNodes as error:  # whose `rev` is the other's: ours is not stored as that
            raise DatabaseUnavailable(_UNKNOWN, retry_after=2) from error
    for leaf in unsure:
        take_back(database, leaf["_id"], leaf["_rev"])
    return True


def _spread(database: Copied, leaf: Doc) -> str | None:
    """Has most nodes take what one of them took, once more: its revision then. None where its writer took it back. Raises TooFewNodes."""
    rev = leaf["_rev"]
    for _ in range(_UNSURE_TRIES):
        with suppress(NoSuchDocument):
            database.get(leaf["_id"])  # gives each node what another has
        try:
            return database.put({**leaf, "_rev": rev}, exclusive=True)
        except UpdateConflict:
            return None
        except TooFewNodes as taken:
            rev = taken.rev
    raise TooFewNodes(rev)


def _is_same_as(doc: Document) -> Callable[[Any], bool]:
    """Whether a version says what this document does; its attachments, of which an answer has no more than the names, are left aside."""
    content = _content(doc)
    return lambda leaf: _content(leaf) == content


def _content(doc: Document) -> Doc:
    return {name: value for name, value in doc.items() if name not in ("_rev", "_attachments")}


def leaves_of(database: Copied, doc: D) -> list[D]:
    """A document that was read with its `_conflicts`, and what lies beside it as far as that can be read. 1 read for each conflict."""
    found = [doc]
    for rev in doc.get("_conflicts", ()):
        with suppress(NoSuchDocument):  # one node alone has kept it, whose writer was told so
            found.append(cast(D, database.get(doc["_id"], rev=rev)))
    return found


def confirm(database: Copied, docid: str, is_own: Callable[[Any], bool]) -> Doc | None:
    """The document, where a refused write was our own, sent again after its answer was lost; None where it is another writer's.

    A node that is cut off answers of its own copy alone, and keeps what the others refuse. So what is there is written once more, as it is:
    only what most nodes take is ours. Raises DatabaseUnavailable while that cannot be told; what is stored stays then.
    """
    unsure = 0
    for _ in range(_TRIES):
        found = database.revisions(docid)
        if len(found) != 1 or not is_own(found[0]):
            return None
        [row] = database.put_many(found, exclusive=True)
        row.raise_if_refused()
        if row.rev and not row.accepted:
            return {**found[0], "_rev": row.rev}
        unsure += row.accepted
        if unsure == _UNSURE_TRIES:
            break
        with suppress(NoSuchDocument):
            database.get(docid)  # gives nodes that lack the revision before it what another has
    if row.rev:
        raise TooFewNodes(row.rev)
    raise DatabaseUnavailable(_UNKNOWN, retry_after=2)


def take_back(database: Copied, docid: str, rev: str) -> None:
    """Removes a version that too few nodes took, or that one node kept though the others refused it; nothing where it is gone. 1 write."""
    with suppress(NoSuchDocument, UpdateConflict):
        database.delete(docid, rev)


def take_back_unsure(database: Copied, rows: Iterable[Written]) -> bool:
    """Takes back what too few nodes took of a `put_many`; whether there was any. 1 write each."""
    unsure = [row for row in rows if row.accepted]
    for row in unsure:
        take_back(database, row.id, str(row.rev))
    return bool(unsure)
