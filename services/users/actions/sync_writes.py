"""What a device pushes: each document on its own, by the rules of the API's own writes, refused with a reason the page can show.

First the documents are written, then what is told of them. A process that is killed in between has told nothing: the device
pushes again, and finds its own content there.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from services.users.actions.kept import named_categories
from services.users.actions.sync import MAX_ATTEMPTS, Snapshot, digests, read, store
from services.users.actions.sync_documents import (
    Edits,
    check_removable,
    product_keys,
    reason_of,
    shown_documents,
)
from services.users.declarations.sync import Branch, Entry
from services.users.dependencies import Dependencies
from services.users.rules.sync_revisions import (
    accepted,
    branch_of,
    following,
    is_newest,
    knows,
    numbered,
    observed,
    parsed,
    revision,
    settled,
)
from shared.couch import Doc, UpdateConflict
from shared.errors import AisleError, Forbidden, Unavailable
from shared.replication import digest_of
from shared.user import User

MAX_PUSHED: Final = 500
_LOCK_SECONDS: Final = 2.0
_OURS = frozenset({"_id", "_rev", "_revisions", "_deleted"})


@dataclass(frozen=True)
class Row:
    """What became of one pushed document: its revision, or an error with its reason."""

    docid: str
    rev: str = ""
    error: str = ""
    reason: str = ""

    def as_json(self) -> dict[str, Any]:
        if self.error:
            return {"id": self.docid, "error": self.error, "reason": self.reason}
        return {"ok": True, "id": self.docid, "rev": self.rev}


def push(
    deps: Dependencies, user: User, docs: Sequence[Mapping[str, Any]], *, new_edits: bool = True
) -> list[Row]:
    """What became of each, in their order. 1 partition query, 1 global query at products for baskets and wishes, 1 write of all documents and 1 of what is told.

    Without `new_edits` documents keep the revisions they have. Raises Unavailable, UpdateConflict.
    """
    keys = product_keys(docs)
    products = deps.products.lookup(keys)
    categories = frozenset(filter(deps.products.has_category, named_categories(docs)))
    rows: dict[int, Row] = {}
    with deps.locks.hold(f"sync {user.userid}", wait=_LOCK_SECONDS):
        for _ in range(MAX_ATTEMPTS):
            left = {place: doc for place, doc in enumerate(docs) if place not in rows}
            batch = _Batch(read(deps, user), products, categories, new_edits)
            found = {place: batch.take(doc) for place, doc in left.items()}
            lost = batch.write(deps)
            if batch.tell(deps):
                rows |= {place: row for place, row in found.items() if row.docid not in lost}
            if len(rows) == len(docs):
                return [rows[place] for place in range(len(docs))]
    raise UpdateConflict("The data changes too quickly; try again.")


class _Batch:
    """Some documents over one reading of the partition."""

    def __init__(
        self,
        snapshot: Snapshot,
        products: Mapping[str, dict[str, Any]],
        categories: Collection[str],
        new_edits: bool,
    ) -> None:
        self._snapshot, self._new_edits = snapshot, new_edits
        self._edits = Edits(snapshot.userid, dict(snapshot.documents), products, categories)
        self._entries: dict[str, Entry] = dict(snapshot.told.entries)

    def take(self, doc: Mapping[str, Any]) -> Row:
        docid = doc.get("_id")
        if not isinstance(docid, str) or not 1 <= len(docid) <= 200:
            return Row(str(docid)[:200], error="forbidden", reason="A document needs an _id.")
        before = dict(self._edits.documents)
        try:
            _check_members(doc)
            rev = self._pushed(docid, doc) if not self._new_edits else self._edited(docid, doc)
        except Unavailable:
            raise
        except (AisleError, ValueError) as error:
            self._edits.documents = before
            conflict = isinstance(error, UpdateConflict)
            return Row(docid, error="conflict" if conflict else "forbidden", reason=reason_of(error))
        return Row(docid, rev)

    def _pushed(self, docid: str, doc: Mapping[str, Any]) -> str:
        """A revision that a device made."""
        branch, entry = branch_of(doc), self._entries.get(docid)
        rev = revision(branch)
        if knows(entry, parsed(rev)):
            return rev
        gone = entry is None or bool(entry.get("deleted"))
        newest = gone or is_newest(entry, branch)
        if doc.get("_deleted") is True:
            self._pushed_deletion(docid, branch, entry, newest)
            return rev
        content = _content(doc)
        self._edits.write(docid, content, newest=newest)
        if newest or entry is None:
            self._entries[docid] = accepted(entry, branch, digest_of(content))
        else:
            self._entries[docid] = settled(entry, branch)
        return rev

    def _pushed_deletion(self, docid: str, branch: Branch, entry: Entry | None, newest: bool) -> None:
        """What was changed elsewhere meanwhile stays, as in CouchDB."""
        check_removable(docid)
        if entry is None:
            return
        if newest and not entry.get("deleted"):
            self._edits.remove(docid)
            self._entries[docid] = accepted(entry, branch, "", deleted=True)
        else:
            self._entries[docid] = settled(entry, branch, deleted=True)

    def _edited(self, docid: str, doc: Mapping[str, Any]) -> str:
        """A change of the newest revision, which gets its revision here. Raises UpdateConflict."""
        entry, rev, deleted = self._entries.get(docid), doc.get("_rev"), doc.get("_deleted") is True
        present = entry is not None and not entry.get("deleted")
        if rev is not None:
            parsed(rev)
        if (present or rev is not None) and (entry is None or rev != revision(entry)):
            raise UpdateConflict("Document update conflict.")
        if deleted:
            if not present:
                raise UpdateConflict("Document update conflict.")
            self._edits.remove(docid)
            new = following(entry, "", deleted=True)
        else:
            content = _content(doc)
            self._edits.write(docid, content, newest=True)
            new = following(entry, digest_of(content))
        self._entries[docid] = new
        return revision(new)

    def write(self, deps: Dependencies) -> set[str]:
        """Writes what changed; the ids of documents that somebody else changed first, which are as if they had not come."""
        before, after = self._snapshot.documents, self._edits.documents
        changed = [doc for key, doc in after.items() if doc is not before.get(key)]
        gone = [
            {"_id": doc["_id"], "_rev": doc["_rev"], "_deleted": True}
            for key, doc in before.items()
            if key not in after
        ]
        lost: set[str] = set()
        for row in deps.store.put_many([*changed, *gone]) if changed or gone else []:
            key = row.id.partition(":")[2]
            if row.rev and key in after:
                after[key] = {**after[key], "_rev": row.rev}
            elif row.error:
                lost |= self._undo(key)
        return lost

    def _undo(self, key: str) -> set[str]:
        """A document of the partition is as it was; the ids of pushed documents that it undoes."""
        before, after = self._snapshot.documents, self._edits.documents
        after.pop(key, None)
        if key in before:
            after[key] = before[key]
        docids = {"profile", "preferences"} if key == "auth" else {key}
        for docid in docids:
            self._entries.pop(docid, None)
            if docid in self._snapshot.told.entries:
                self._entries[docid] = self._snapshot.told.entries[docid]
        return docids

    def tell(self, deps: Dependencies) -> bool:
        """Stores what is told now; False when somebody else told something first."""
        snapshot = self._snapshot
        told = numbered(snapshot.told, self._entries)
        told = observed(told, digests(shown_documents(self._edits.documents.values())), snapshot.unseen)
        if snapshot.is_stored and told is snapshot.told:
            return True
        return store(deps, replace(snapshot, told=told))


def _content(doc: Mapping[str, Any]) -> Doc:
    """The members of a document that are its own. Raises Forbidden for what no document here holds."""
    content = {name: value for name, value in doc.items() if not name.startswith("_")}
    for name, value in content.items():
        if len(name) > 60 or (isinstance(value, (dict, list)) and name != "roles"):
            raise Forbidden(f"There is no such field here: {name[:60]}.")
    return content


def _check_members(doc: Mapping[str, Any]) -> None:
    if "_attachments" in doc:
        raise Forbidden("No attachments are kept here.")
    if strange := [name for name in doc if name.startswith("_") and name not in _OURS]:
        raise Forbidden(f"Bad special document member: {strange[0][:60]}")
