"""Writes that exclude others, or tell somebody that they are kept: of a cluster's nodes most must have taken them.

CouchDB answers 202 (`accepted`) when fewer did: another writer may have been told the same, and the node's copy, kept as a conflict,
may even be the one that the database shows later.
"""

from collections.abc import Sequence
from typing import Any

from shared.couch import Database, Doc, Document, UpdateConflict
from shared.couch.quorum import confirm, take_back
from shared.errors import Unavailable


def put(database: Database, doc: Document) -> str:
    """Writes one document and returns its revision; 1 write, and reads where it was refused. Raises UpdateConflict; Unavailable when too few
    nodes took it: then it is not left beside another writer's version, nor as the only one where there was none before."""
    [row] = database.put_many([doc])
    if row.rev and not row.accepted:
        return row.rev
    if row.error == "conflict" and (
        known := confirm(database, doc["_id"], lambda leaf: _content(leaf) == _content(doc))
    ):
        return str(known["_rev"])
    leaves = database.revisions(doc["_id"])
    own = [leaf for leaf in leaves if _content(leaf) == _content(doc)]
    if len(leaves) > 1 or "_rev" not in doc:
        for leaf in own:
            take_back(database, leaf["_id"], leaf["_rev"])
    if row.error == "conflict":
        raise UpdateConflict(f"{doc['_id']} was changed by another request first.", document=doc["_id"])
    raise Unavailable(
        "Too few database nodes answer to keep this; look at it again, and repeat it.", retry_after=2
    )


def put_new(database: Database, docs: Sequence[Document]) -> list[Doc]:
    """Those of documents that are not there yet which are kept now, with their revisions; 1 write. The others are for `put`, one by one."""
    rows = database.put_many(docs)
    return [
        {**doc, "_rev": row.rev} for doc, row in zip(docs, rows, strict=True) if row.rev and not row.accepted
    ]


def _content(doc: Document) -> dict[str, Any]:
    return {name: value for name, value in doc.items() if name != "_rev"}
