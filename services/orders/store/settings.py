"""The settings' documents, and the terms of sale that every process holds ready."""

from collections.abc import Sequence
from typing import Final

from redis import Redis

from services.orders.rules.pricing import Terms, terms_of
from services.orders.shop_settings import PARTITION, superseded_id, version_id, versions_prefix
from shared.background import Background
from shared.couch import Database, Doc, NoSuchDocument, UpdateConflict, quorum
from shared.document_cache import DocumentCache

TermsCache = DocumentCache[Terms]
MAX_AGE_SECONDS: Final = 4.0
"""A change reaches every replica at once by way of Redis, and while Redis is away within this."""


class SettingsStore:
    """Errors are those of `shared.couch`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def all(self, prefix: str = "") -> list[Doc]:
        """Every document as it is now, or those of a kind, by id. 1 partition query."""
        return self._database.partition(PARTITION).all(prefix)

    def get(self, docid: str) -> Doc | None:
        """1 read."""
        try:
            return self._database.get(docid)
        except NoSuchDocument:
            return None

    def get_many(self, docids: Sequence[str]) -> list[Doc]:
        """Those that there are. 1 read, none for no ids."""
        return list(self._database.get_many(docids).values())

    def put(self, doc: Doc, before: Doc | None) -> Doc:
        """Writes a version, after the one `before` it is kept for good; with its revision. Raises UpdateConflict, Unavailable."""
        if before is not None:
            self._keep(before, version_id(before))
        revision = {"_rev": before["_rev"]} if before else {}
        return {**doc, "_rev": quorum.put(self._database, doc | revision)}

    def versions(self, docid: str) -> list[Doc]:
        """The versions of a document that were replaced, the latest first. 1 partition query."""
        partition, prefix = versions_prefix(docid)
        return self._database.partition(partition).all(prefix)[::-1]

    def supersede(self, doc: Doc, stays: Doc) -> None:
        """Keeps a revision that gives way to `stays`, then removes it: 2 writes. May be repeated."""
        self._keep(doc | {"superseded": stays["edited"]}, superseded_id(doc))
        self._database.delete(doc["_id"], doc["_rev"])

    def _keep(self, doc: Doc, docid: str) -> None:
        version = {name: value for name, value in doc.items() if name != "_rev"}
        try:
            self._database.put({**version, "_id": docid})
        except UpdateConflict:
            return  # a writer that was cut off had kept it


def terms_cache(
    redis: Redis, background: Background, store: SettingsStore, database: str, initial: Terms
) -> TermsCache:
    key = f"settings:{database}"
    return DocumentCache(
        redis, background, key, store.all, lambda docs: terms_of(docs, initial), MAX_AGE_SECONDS
    )
