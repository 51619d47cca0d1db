"""A database as the routes see it: the stored documents plus revision rules, validation and change notices."""

import asyncio
import base64
import binascii
import functools
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol

from ..errors import CouchError, bad_request, not_found
from ..store.documents import Documents
from ..store.rows import StoredDoc
from .batch import Batch, Result, extends
from .edits import Edit
from .revisions import RevisionTree

SLICE = 200
REVS_LIMIT = 1000
SEQ_NODE = b"d\x00\x0dnonode@nohost"
SEQ_HEAD = b"\x83l\x00\x00\x00\x01h\x03" + SEQ_NODE + b"l\x00\x00\x00\x02a\x00n\x04\x00\xff\xff\xff\xffjh\x03"


class Validator(Protocol):
    """Who is asked before edits are stored: for each None, or the CouchError that refuses it."""

    async def check(self, database: "Database", edits: list[Edit], replicated: bool) -> list[Result]: ...


class Builder(Protocol):
    """Builds indexes elsewhere (build_process.py)."""

    def start(self, work: str) -> None: ...
    def is_for(self, work: str, changes: int) -> bool: ...
    def run(
        self, name: str, directory: Path, work: str, indexes: dict[str, int | None], target: int
    ) -> bool: ...
    def preempt(self, work: str) -> None: ...


class Database(Documents):
    """One database. `update_docs` is the only way in; it runs on the event loop. Without `builder` long builds of indexes
    run where they are asked for."""

    def __init__(self, name: str, directory: Path, builder: Builder | None = None) -> None:
        super().__init__(name, directory)
        self.builder = builder
        self.long_builds = threading.Lock()
        self.design_generation = 0
        self._designs: tuple[int, dict[str, StoredDoc]] = 0, {}
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

    def design_doc(self, name: str) -> StoredDoc:
        """`_design/name` as it is now, read once until a design document changes. Errors: 404."""
        if self._designs[0] != self.design_generation:
            self._designs = self.design_generation, {}
        known = self._designs[1]
        if name not in known:
            doc = self.get(f"_design/{name}")
            if doc is None or doc.deleted:
                raise not_found("missing" if doc is None else "deleted")
            known[name] = doc
        return known[name]

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
        self, edits: list[Edit], *, replicated: bool = False, validator: Validator | None = None
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
        wanted.sort(
            key=lambda index: edits[index].id
        )  # CouchDB numbers the changes of one request in this order
        while wanted:
            size = slice_size([edits[index].id for index in wanted])
            part, wanted = wanted[:size], wanted[size:]
            for index, result in zip(part, self._apply([edits[i] for i in part], replicated), strict=True):
                results[index] = result
            if wanted:
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


def slice_size(docids: list[str]) -> int:
    """How many of these, sorted, to store at once: those of one id stay together, as they are one change."""
    size = min(SLICE, len(docids))
    while size < len(docids) and docids[size] == docids[size - 1]:
        size += 1
    return size
