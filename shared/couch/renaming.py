"""Under which name the documents of a renamed type are written, while old and new processes run side by side.

Every process of this version reads both names. It writes the former one, which the version before can read, until a
`_local` document of the database says that no older process is left: `Server.migrate` writes it, and a database that
this version created has it from the start. Processes look for it at most every REFRESH_SECONDS, and no more once it is there.
"""

import time
from collections.abc import Sequence
from typing import Any, Final

from .client import Client
from .documents import Document, Shapes
from .errors import NoSuchDocument
from .tally import counting

REFRESH_SECONDS: Final = 10.0
_MARKER = "type-names"


class TypeNames:
    """The names that one process writes to one database."""

    def __init__(self, client: Client, database: str, shapes: Shapes) -> None:
        self._client, self._database, self._former = client, database, dict(shapes.renamed)
        self._refreshed_at = float("-inf")

    def stored(self, docs: Sequence[Document]) -> Sequence[Document]:
        """The documents as they are to be written now. 1 read at most, which no request is charged for."""
        if not self._former or not any(doc.get("type") in self._former for doc in docs):
            return docs
        if time.monotonic() - self._refreshed_at >= REFRESH_SECONDS:
            self._refresh()
        former = self._former
        return [{**doc, "type": former[doc["type"]]} if doc.get("type") in former else doc for doc in docs]

    def _refresh(self) -> None:
        with counting():
            adopted = _adopted(self._client, self._database).get("names", [])
        self._former = {name: former for name, former in self._former.items() if name not in adopted}
        self._refreshed_at = time.monotonic()


def adopt_names(client: Client, database: str, shapes: Shapes) -> bool:
    """Has all processes write today's names from now on; False when they were told before."""
    marker = _adopted(client, database)
    names = sorted({*marker.get("names", []), *shapes.renamed})
    if names == marker.get("names", []):
        return False
    client.call("put_local_document", db=database, doc_id=_MARKER, document={**marker, "names": names})
    return True


def _adopted(client: Client, database: str) -> dict[str, Any]:
    try:
        found: dict[str, Any] = client.call("get_local_document", db=database, doc_id=_MARKER)
    except NoSuchDocument:
        return {}
    return found
