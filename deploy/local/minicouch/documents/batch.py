"""Edits of one transaction applied in order: which revision each becomes, which one wins, what is counted."""

from typing import Any, Protocol

import orjson

from ..errors import CouchError, conflict
from ..store.rows import StoredDoc
from ..store.transactions import Transaction
from . import attachments
from .edits import Edit
from .revision_ids import new_rev
from .revisions import RevisionTree

Result = str | CouchError | None


class Target(Protocol):
    """The database that a batch is for."""

    @property
    def update_seq(self) -> int: ...
    @property
    def revs_limit(self) -> int: ...
    def tree(self, doc: StoredDoc) -> RevisionTree: ...
    def partition_of(self, docid: str) -> str | None: ...


def extends(edit: Edit, old: StoredDoc, tree: RevisionTree) -> bool:
    """Whether an edit may follow what is stored: it names a leaf, or makes a deleted document anew."""
    if old.deleted:
        return not edit.path and not edit.deleted
    return bool(edit.path) and tree.is_leaf(edit.path[0])


class Batch:
    """Edits of one transaction: each sees the ones before it; rows are written once, at the end."""

    def __init__(self, database: Target, change: Transaction, docs: dict[str, StoredDoc]) -> None:
        self._database = database
        self._change = change
        self._docs = docs
        self._others: list[tuple[str, str, int, bytes, bytes | None]] = []
        self._seqs: dict[str, int] = {}
        self._limit = database.revs_limit

    def edit(self, edit: Edit) -> Result:
        """A normal edit: it must extend a leaf."""
        old = self._docs.get(edit.id)
        if edit.path if old is None else not extends(edit, old, self._database.tree(old)):
            return conflict()
        parent = edit.path[0] if edit.path else old.rev if old is not None else None
        back = (
            old is not None and not edit.path
        )  # a deleted document made anew: CouchDB counts its attachments from 1
        known = self._parent_records(edit, old, parent)
        records = attachments.resolve(edit, known, None if back else parent, self._change)
        digests = [None] * len(records) if back else attachments.digests(records)
        rev = new_rev(parent, edit.deleted, edit.body, digests)
        return self._store(edit, old, [rev, parent] if parent else [rev], records)

    def replicate(self, edit: Edit) -> Result:
        """A revision made elsewhere: it joins the tree whatever is there."""
        old = self._docs.get(edit.id)
        if not edit.path:
            rev = new_rev(None, edit.deleted, edit.body, [])
            edit.path = [rev]
        rev = edit.path[0]
        if old is not None and (rev == old.rev or rev in self._database.tree(old).nodes):
            return rev
        known = None
        if old is not None:
            nodes = self._database.tree(old).nodes
            known = next((r for r in edit.path if r in nodes), None)
        records = attachments.resolve(
            edit, self._parent_records(edit, old, known), known, self._change, replicated=True
        )
        return self._store(edit, old, edit.path, records)

    def _parent_records(self, edit: Edit, old: StoredDoc | None, parent: str | None) -> list[dict[str, Any]]:
        if old is None or not edit.attachments or parent is None:
            return []
        doc = old if parent == old.rev else self._change.revision(edit.id, parent)
        return doc.attachments() if doc is not None else []

    def _store(
        self, edit: Edit, old: StoredDoc | None, path: list[str], records: list[dict[str, Any]]
    ) -> Result:
        rev = path[0]
        atts = orjson.dumps(records) if records else None
        tree = self._database.tree(old) if old is not None else RevisionTree()
        if tree.merge(path, edit.deleted) == "internal":
            return conflict()
        winner = new = StoredDoc(edit.id, self._seq_of(edit.id), rev, edit.deleted, edit.encoded, atts)
        if old is not None or len(path) > 1:
            winner = self._winner(tree, old, new)
            gone = tree.stem(self._limit)
            if gone:
                self._others = [row for row in self._others if row[0] != edit.id or row[1] not in gone]
                self._change.remove_revisions(edit.id, gone)
            winner.tree = tree.dumps() if len(tree.nodes) > 1 else None
        self._account(old, winner)
        self._docs[edit.id] = winner
        return rev

    def _seq_of(self, docid: str) -> int:
        """However many revisions of a document come in one transaction, they are one change."""
        if docid not in self._seqs:
            self._seqs[docid] = self._change.next_seq()
        return self._seqs[docid]

    def _winner(self, tree: RevisionTree, old: StoredDoc | None, new: StoredDoc) -> StoredDoc:
        """The document's new winning row; what lost goes beside it."""
        rev = tree.winner()
        if old is not None and rev == old.rev:
            self._others.append((new.id, new.rev, new.deleted, new.body, new.atts))
            return StoredDoc(old.id, new.seq, old.rev, old.deleted, old.body, old.atts)
        if old is not None:
            self._others.append((old.id, old.rev, old.deleted, old.body, old.atts))
        if rev == new.rev:
            return new
        self._others.append((new.id, new.rev, new.deleted, new.body, new.atts))
        self._change.put_revisions(self._others)
        self._others = []
        found = self._change.revision(new.id, rev)
        if found is None:
            raise RuntimeError(f"{new.id} lost its revision {rev}")
        self._change.remove_revisions(new.id, [rev])
        return StoredDoc(found.id, new.seq, found.rev, found.deleted, found.body, found.atts)

    def restore(self, old: StoredDoc, tree: RevisionTree) -> None:
        """After a purge: the best remaining leaf wins."""
        rev = tree.winner()
        seq = self._change.next_seq()
        winner = old if rev == old.rev else self._change.revision(old.id, rev)
        if winner is None:
            raise RuntimeError(f"{old.id} lost its revision {rev}")
        winner = StoredDoc(old.id, seq, rev, winner.deleted, winner.body, winner.atts)
        if rev != old.rev:
            self._change.remove_revisions(old.id, [rev])
        winner.tree = tree.dumps() if len(tree.nodes) > 1 else None
        self._account(old, winner)
        self._docs[old.id] = winner

    def _account(self, old: StoredDoc | None, winner: StoredDoc) -> None:
        docs, deleted, size = int(not winner.deleted), int(winner.deleted), len(winner.body) + len(winner.id)
        if old is not None:
            docs -= int(not old.deleted)
            deleted -= int(old.deleted)
            size -= len(old.body) + len(old.id)
        self._change.account(self._database.partition_of(winner.id), docs, deleted, size)

    def write(self) -> None:
        if self._others:
            self._change.put_revisions(self._others)
        before = self._database.update_seq
        rows = [
            (doc.id, doc.seq, doc.rev, int(doc.deleted), doc.body, doc.atts, doc.tree)
            for doc in self._docs.values()
            if doc.seq > before
        ]
        self._change.put(rows)
