"""Whose a document is that only one writer may have, where a write was refused: on a cluster that is decided by most of its nodes."""

from collections.abc import Callable
from contextlib import suppress
from typing import Any, TypeVar, cast

from .database import Database
from .documents import Doc, Document
from .errors import DatabaseUnavailable, NoSuchDocument, UpdateConflict

D = TypeVar("D", bound=Document)

_TRIES = 10


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
