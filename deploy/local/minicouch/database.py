"""A database as the routes see it: the stored documents plus revision rules, validation and change notices."""

import asyncio
import base64
import binascii
import functools
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson

from . import attachments, revisions
from .edits import Edit
from .errors import CouchError, bad_request, conflict, not_found
from .revisions import RevisionTree
from .store.documents import Documents, Transaction
from .store.rows import StoredDoc

if TYPE_CHECKING:
    from .validation import Validator

SLICE = 200
REVS_LIMIT = 1000
Result = str | CouchError | None
SEQ_NODE = b"d\x00\x0dnonode@nohost"
SEQ_HEAD = b"\x83l\x00\x00\x00\x01h\x03" + SEQ_NODE + b"l\x00\x00\x00\x02a\x00n\x04\x00\xff\xff\xff\xffjh\x03"


class Database(Documents):
    """One database. `update_docs` is the only way in; it runs on the event loop."""

    def __init__(self, name: str, directory: Path) -> None:
        super().__init__(name, directory)
        self.design_generation = 0
        self.on_change: Callable[[str, str], None] | None = None
        self.listeners: list[asyncio.Future[None]] = []

    # reading

    def tree(self, doc: StoredDoc) -> RevisionTree:
        if doc.tree is None:
            return RevisionTree({doc.rev: (None, doc.deleted)})
        return RevisionTree.loads(doc.tree)

    def get_rev(self, docid: str, rev: str) -> StoredDoc | None:
        """Any revision whose body is still stored."""
        doc = self.get(docid)
        if doc is None or doc.rev == rev:
            return doc
        return self.stored_revision(docid, rev) if doc.tree is not None else None

    def conflicts(self, docid: str) -> tuple[list[str], list[str]]:
        """Live and deleted conflicting revisions, best first."""
        doc = self.get(docid)
        return self.tree(doc).conflicts() if doc is not None and doc.has_tree else ([], [])

    def design_docs(self) -> list[StoredDoc]:
        return list(self.range("_design/", "_design0", inclusive_end=False))

    @property
    def security(self) -> Any:
        return self.setting("security", {"members": {"roles": ["_admin"]}, "admins": {"roles": ["_admin"]}})

    @property
    def revs_limit(self) -> int:
        return self.setting("revs_limit", REVS_LIMIT)

    def seq_string(self, seq: int) -> str:
        """`N-opaque`; the opaque part is what CouchDB packs there, an Erlang term naming node, range, sequence and uuid."""
        term = b"%sb%s%s" % (SEQ_HEAD, seq.to_bytes(4, "big"), self._seq_tail)
        return f"{seq}-{base64.urlsafe_b64encode(term).decode().rstrip('=')}"

    @functools.cached_property
    def _seq_tail(self) -> bytes:
        return b"m\x00\x00\x00\x08" + self.uuid[:8].encode() + SEQ_NODE + b"j"

    def parse_seq(self, value: Any) -> int:
        """A sequence a client sends back; 0 for one of another (recreated) database or server. Errors: 400."""
        if value in (None, "", "0", 0):
            return 0
        if value == "now":
            return self.update_seq
        number, _, opaque = str(value).strip('"').partition("-")
        try:
            seq = int(number)
            term = base64.urlsafe_b64decode(opaque + "=" * (-len(opaque) % 4))
        except (ValueError, binascii.Error):
            term = b""
        if not term.startswith(b"\x83"):
            raise bad_request("Malformed sequence supplied in 'since' parameter.")
        return min(seq, self.update_seq) if term.endswith(self._seq_tail) and seq >= 0 else 0

    # writing

    def would_conflict(self, edit: Edit) -> bool:
        """Whether a normal edit does not follow a leaf as things are now."""
        old = self.get(edit.id)
        if old is None:
            return False
        return not extends(edit, old, self.tree(old))

    async def put_edit(self, docid: str, body: dict[str, Any], rev: str | None) -> str:
        """Store one document without validation functions; returns its new revision. Errors: 409."""
        result = (await self.update_docs([Edit(docid, body, [rev] if rev else [])]))[0]
        if isinstance(result, CouchError):
            raise result
        return str(result)

    async def update_docs(
        self, edits: list[Edit], *, replicated: bool = False, validator: "Validator | None" = None
    ) -> list[Result]:
        """Store edits, durable when this returns.

        For each edit the new revision, or the CouchError it met; for a replicated one its given revision.
        """
        if self.deleted:
            raise not_found("Database does not exist.")
        results: list[Result] = [None] * len(edits)
        if validator is not None:
            results = await validator.check(self, edits, replicated)
        wanted = [index for index, result in enumerate(results) if result is None]
        for first in range(0, len(wanted), SLICE):
            part = wanted[first : first + SLICE]
            for index, result in zip(part, self._apply([edits[i] for i in part], replicated), strict=True):
                results[index] = result
            if first + SLICE < len(wanted):
                await asyncio.sleep(0)
        await self.durable()
        return results

    def _apply(self, edits: list[Edit], replicated: bool) -> list[Result]:
        with self.transaction() as change:
            batch = Batch(self, change, change.get_many([edit.id for edit in edits]))
            results = [batch.replicate(edit) if replicated else batch.edit(edit) for edit in edits]
            batch.write()
        self.announce(any(edit.id.startswith("_design/") for edit in edits))
        return results

    def compact_all(self) -> None:
        limit = self.revs_limit

        def stemmed(data: bytes) -> tuple[bytes | None, list[str]]:
            tree = RevisionTree.loads(data)
            tree.stem(limit)
            return (tree.dumps() if len(tree.nodes) > 1 else None), tree.leaves()

        self.compact(stemmed)

    def announce(self, design: bool = False) -> None:
        """Wake whoever waits for changes."""
        if design:
            self.design_generation += 1
        if self.on_change is not None:
            self.on_change(self.name, "deleted" if self.deleted else "updated")
        waiting, self.listeners = self.listeners, []
        for waiter in waiting:
            if not waiter.done():
                waiter.set_result(None)

    async def changed(self, after: int, timeout: float | None) -> bool:
        """Wait until there is a change after a sequence; False when the time ran out or the database went."""
        if self.update_seq > after:
            return True
        waiter = asyncio.get_running_loop().create_future()
        self.listeners.append(waiter)
        try:
            await asyncio.wait_for(waiter, timeout)
        except TimeoutError:
            return False
        finally:
            if waiter in self.listeners:
                self.listeners.remove(waiter)
        return self.update_seq > after and not self.deleted

    def purge(self, docid: str, revs: list[str]) -> list[str]:
        """Remove leaf revisions as if they had never been; returns those that were removed. Not durable yet."""
        with self.transaction() as change:
            change.log_purge(docid, revs)
            old = change.get_many([docid]).get(docid)
            if old is None:
                return []
            tree = self.tree(old)
            purged = [rev for rev in revs if rev in tree.nodes and change.forget(docid, tree.purge(rev))]
            if not purged:
                return []
            batch = Batch(self, change, {docid: old})
            if tree.nodes:
                batch.restore(old, tree)
            else:
                change.purge_doc(docid)
                change.account(
                    self.partition_of(docid),
                    -int(not old.deleted),
                    -int(old.deleted),
                    -len(old.body) - len(old.id),
                )
            batch.write()
        self.announce(docid.startswith("_design/"))
        return purged

    def partition_of(self, docid: str) -> str | None:
        if not self.partitioned or docid.startswith("_design/"):
            return None
        return docid.partition(":")[0]


def extends(edit: Edit, old: StoredDoc, tree: RevisionTree) -> bool:
    """Whether an edit may follow what is stored: it names a leaf, or makes a deleted document anew."""
    if old.deleted:
        return not edit.path and not edit.deleted
    return bool(edit.path) and tree.is_leaf(edit.path[0])


class Batch:
    """Edits of one transaction: each sees the ones before it; rows are written once, at the end."""

    def __init__(self, database: Database, change: Transaction, docs: dict[str, StoredDoc]) -> None:
        self._database = database
        self._change = change
        self._docs = docs
        self._others: list[tuple[str, str, int, bytes, bytes | None]] = []
        self._limit = database.revs_limit

    def edit(self, edit: Edit) -> Result:
        """A normal edit: it must extend a leaf."""
        old = self._docs.get(edit.id)
        if old is not None and not extends(edit, old, self._database.tree(old)):
            return conflict()
        parent = edit.path[0] if edit.path else old.rev if old is not None else None
        records = attachments.resolve(edit, self._parent_records(edit, old, parent), parent, self._change)
        rev = revisions.new_rev(parent, edit.deleted, edit.body, attachments.digests(records))
        return self._store(edit, old, [rev, parent] if parent else [rev], records)

    def replicate(self, edit: Edit) -> Result:
        """A revision made elsewhere: it joins the tree whatever is there."""
        old = self._docs.get(edit.id)
        if not edit.path:
            rev = revisions.new_rev(None, edit.deleted, edit.body, [])
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
        new = StoredDoc(edit.id, self._change.next_seq(), rev, edit.deleted, edit.encoded, atts)
        winner = new
        if old is not None or len(path) > 1:
            tree = self._database.tree(old) if old is not None else RevisionTree()
            if tree.merge(path, edit.deleted) == "internal":
                return conflict()
            winner = self._winner(tree, old, new)
            gone = tree.stem(self._limit)
            if gone:
                self._others = [row for row in self._others if row[0] != edit.id or row[1] not in gone]
                self._change.remove_revisions(edit.id, gone)
            winner.tree = tree.dumps() if len(tree.nodes) > 1 else None
        self._account(old, winner)
        self._docs[edit.id] = winner
        return rev

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
