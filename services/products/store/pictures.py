"""Pictures as attachments, each named by its content."""

from services.products.documents import picture_id
from shared.couch import Database, Doc, UpdateConflict

_FILE = "picture"


class Pictures:
    """A picture never changes: other content is another picture."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def get(self, digest: str) -> tuple[bytes, str]:
        """The bytes and the media type. 1 read. Raises NoSuchDocument."""
        return self._database.attachment(picture_id(digest), _FILE)

    def add(self, doc: Doc, content: bytes) -> bool:
        """Whether it is new. Several may bring the same picture at once, and one may have crashed half-way."""
        docid = doc["_id"]
        try:
            rev = self._database.put(doc)
        except UpdateConflict:
            stored = self._database.get(docid)
            if "_attachments" in stored:
                return False
            rev = stored["_rev"]
        try:
            self._database.put_attachment(docid, rev, _FILE, content, doc["content_type"])
        except UpdateConflict:
            if "_attachments" not in self._database.get(docid):
                raise
            return False
        return True
