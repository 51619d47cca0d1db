"""Pictures as attachments: a document for each, named by its content, with the same picture in several sizes."""

import base64
from collections.abc import Iterable, Mapping

from services.products.declarations.related_documents import Picture
from services.products.documents import PICTURE, PICTURE_ADDRESS, picture_address_id, picture_id
from services.products.imaging import FULL, NAMES
from shared.couch import Database, Document, NoSuchDocument, UpdateConflict


class Pictures:
    """A picture never changes: other content is another picture."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def get(self, digest: str, name: str = FULL) -> tuple[bytes, str]:
        """The bytes and the media type of one of its files; of a picture that was stored when there was but one, that.

        1 read, 2 for such a picture. Raises NoSuchDocument.
        """
        try:
            return self._database.attachment(picture_id(digest), name)
        except NoSuchDocument:
            if name == FULL:
                raise
            return self._database.attachment(picture_id(digest), FULL)

    def complete(self, digest: str) -> Picture | None:
        """The document of a picture that is stored in all sizes; None for any other. 1 read."""
        try:
            doc = self._database.get(picture_id(digest))
        except NoSuchDocument:
            return None
        return PICTURE.typed(doc) if _is_complete(doc) else None

    def missing(self, digests: Iterable[str]) -> set[str]:
        """Which of these are no pictures. 1 read."""
        ids = {picture_id(digest): digest for digest in digests}
        found = self._database.get_many(list(ids))
        return {digest for docid, digest in ids.items() if docid not in found}

    def fetched_before(self, addresses: Iterable[str]) -> dict[str, str]:
        """{address: id of the picture} of those that were fetched once. 1 read."""
        ids = {picture_address_id(address): address for address in addresses}
        found = self._database.get_many(list(ids))
        return {ids[docid]: doc["digest"] for docid, doc in found.items()}

    def remember_fetched(self, digests: Mapping[str, str], date: str) -> None:
        """Which picture was at each address. 1 write."""
        self._database.put_many(
            PICTURE_ADDRESS.new(picture_address_id(address), address=address, digest=digest, date=date)
            for address, digest in digests.items()
        )

    def add(self, doc: Picture, files: Mapping[str, tuple[str, bytes]]) -> None:
        """All its files at once. Several may bring the same picture, and the last release stored it in one size."""
        attached = {
            name: {"content_type": kind, "data": base64.b64encode(content).decode()}
            for name, (kind, content) in files.items()
        }
        written = {**doc, "_attachments": attached}
        try:
            self._database.put(written)
        except UpdateConflict:
            stored = self._database.get(doc["_id"])
            if _is_complete(stored):
                return
            self._database.put(written | {"_rev": stored["_rev"]})


def _is_complete(doc: Document) -> bool:
    return bool(doc.get("_attachments", {}).keys() >= NAMES)
