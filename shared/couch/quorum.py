"""Writes that exclude others, and whose a document is that only one writer may have: most of a cluster's nodes decide.

CouchDB answers 202 (`accepted`) when fewer took a write: another writer may have been told the same, and the node's copy, kept as a
conflict, may even be the one that the database shows later.
"""

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from typing import Any, TypeVar, cast

from .database import Database, Written
from .documents import Doc, Document, without_revision
from .errors import DatabaseUnavailable, NoSuchDocument, TooFewNodes, UpdateConflict

D = TypeVar("D", bound=Document)

_TRIES = 10


def put(database: Database, doc: Document) -> str:
    """Writes one document and returns its revision, as `try_put` does. Raises UpdateConflict where another writer has it."""
    rev = try_put(database, doc)
    if rev is None:
        raise UpdateConflict(f"{doc['_id']} was changed by another request first.", document=doc["_id"])
    return rev


def put_new(database: Database, docs: Sequence[Document]) -> list[Doc]:
    """Those of documents that are not there yet which are kept now, with their revisions; 1 write. The others are for `put`, one by one."""
    rows = database.put_many(docs)
    return [
        {**doc, "_rev": row.rev} for doc, row in zip(docs, rows, strict=True) if row.rev and not row.accepted
    ]


def try_put(database: Database, doc: Document) -> str | None:
    """The revision of a document, or of what follows its `_rev`, where nobody else was told that theirs holds; None where another has it.

    What too few nodes took is written once more. While that does not help, raises DatabaseUnavailable; then, and where another writer has
    it, ours is left neither beside another's version nor as the only one where there was none before. 1 write, and reads and writes where
    a cluster did not take it at once.
    """
    try:
        return database.put(doc, exclusive=True)
    except UpdateConflict as conflict:
        if database.has_one_copy:
            return None
        if not conflict.extra.get("resent"):
            _withdraw(database, doc, is_refused=True)
            return None
    except TooFewNodes:
        pass
    known = None
    try:
        known = confirm(database, doc["_id"], lambda leaf: without_revision(leaf) == without_revision(doc))
    finally:
        if known is None:
            _withdraw(database, doc)
    return str(known["_rev"]) if known else None


def _withdraw(database: Database, doc: Document, *, is_refused: bool = False) -> None:
    """Of what was refused at once only what one node kept beside another writer's is ours: alone it is the other's who wrote the same."""
    leaves = database.revisions(doc["_id"])
    if len(leaves) > 1 or not (is_refused or "_rev" in doc):
        for leaf in leaves:
            if without_revision(leaf) == without_revision(doc):
                take_back(database, leaf["_id"], leaf["_rev"])


def leaves_of(database: Database, doc: D) -> list[D]:
    """A document that was read with its `_conflicts`, and what lies beside it as far as that can be read. 1 read for each conflict."""
    found = [doc]
    for rev in doc.get("_conflicts", ()):
        with suppress(NoSuchDocument):  # one node alone has kept it, whose writer was told so
            found.append(cast(D, database.get(doc["_id"], rev=rev)))
    return found


def confirm(database: Database, docid: str, is_own: Callable[[Any], bool]) -> Doc | None:
    """The document, where a refused write was our own, sent again after its answer was lost; None where it is another writer's.

    A node that is cut off answers of its own copy alone, and keeps what the others refuse. So what is there is written once more, as it is:
    only what most nodes take is ours. Raises DatabaseUnavailable while that cannot be told; what is stored stays then.
    """
    for _ in range(_TRIES):
        found = database.revisions(docid)
        if len(found) != 1 or not is_own(found[0]):
            return None
        [row] = database.put_many(found)
        row.raise_if_refused()
        if row.accepted:
            break
        if row.rev:
            return {**found[0], "_rev": row.rev}
    raise DatabaseUnavailable(
        "Too few database nodes answer to know whose this is; try again.", retry_after=2
    )


def take_back(database: Database, docid: str, rev: str) -> None:
    """Removes a version that too few nodes took, or that one node kept though the others refused it; nothing where it is gone. 1 write."""
    with suppress(NoSuchDocument, UpdateConflict):
        database.delete(docid, rev)


def take_back_unsure(database: Database, rows: Iterable[Written]) -> bool:
    """Takes back what too few nodes took of a `put_many`; whether there was any. 1 write each."""
    unsure = [row for row in rows if row.accepted]
    for row in unsure:
        take_back(database, row.id, str(row.rev))
    return bool(unsure)
