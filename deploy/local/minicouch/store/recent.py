"""Documents that were read: a page of hits is read again and again, and each row of it costs a walk through a tree.

When it is full few of those that are not there come in, and the oldest go. If each did, documents that are read in turn and are a little
more than fit would always push out the one that is wanted next, and none would ever be found.
"""

import threading
from collections import OrderedDict
from collections.abc import Iterable

from .rows import StoredDoc

MAX_BYTES = 8 << 20
DOC_BYTES = 500  # what a document takes in memory beside its text
MAX_DOC_BYTES = 16_384
ADMITTED = 8
"""One of so many comes in when it is full."""


class RecentDocuments:
    """Winners by id. What is kept is right until `forget`: a reader says of which `state` of the database its documents are,
    and one that read before a commit and comes after it keeps nothing."""

    def __init__(self) -> None:
        self._known: OrderedDict[str, StoredDoc] = OrderedDict()
        self._bytes = self._refused = 0
        self._state: object = None
        self._lock = threading.Lock()

    def get(self, docid: str) -> StoredDoc | None:
        return self._known.get(docid)

    def keep(self, docs: Iterable[StoredDoc], state: object) -> None:
        with self._lock:
            if state is not self._state:
                return
            for doc in docs:
                if len(doc.body) <= MAX_DOC_BYTES and doc.id not in self._known and self._admits(doc):
                    self._known[doc.id] = doc
                    self._bytes += _size(doc)
            while self._bytes > MAX_BYTES:
                self._bytes -= _size(self._known.popitem(last=False)[1])

    def _admits(self, doc: StoredDoc) -> bool:
        if self._bytes + _size(doc) <= MAX_BYTES:
            return True
        self._refused = (self._refused + 1) % ADMITTED
        return not self._refused

    def forget(self, docids: Iterable[str] | None, state: object) -> None:
        """These, or all, have changed; the database is in that state now."""
        with self._lock:
            self._state = state
            if docids is None:
                self._known.clear()
                self._bytes = 0
                return
            for docid in docids:
                if (doc := self._known.pop(docid, None)) is not None:
                    self._bytes -= _size(doc)


def _size(doc: StoredDoc) -> int:
    return DOC_BYTES + len(doc.body) + len(doc.atts or b"") + len(doc.tree or b"")
