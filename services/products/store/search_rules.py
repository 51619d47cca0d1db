"""The rules of search: their documents, and the copy of all of them that every search reads without a database call."""

from redis import Redis

from services.products.rules.search_rules import SearchRules, search_rules
from services.products.search_documents import HISTORY_PARTITION, RULES_PARTITION, rule_id
from shared.background import Background
from shared.couch import Database, Doc, Language, UpdateConflict
from shared.document_cache import DocumentCache

RulesCache = DocumentCache[SearchRules]


class RuleDocuments:
    """Errors are those of `shared.couch`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def all(self, kind: str = "") -> list[Doc]:
        """Every rule, or those of one kind, by query. 1 partition query."""
        return self._database.partition(RULES_PARTITION).all(f"{kind}:" if kind else "")

    def get(self, kind: str, query: str) -> Doc | None:
        """1 read."""
        docid = rule_id(kind, query)
        return self._database.get_many([docid]).get(docid)

    def put(self, doc: Doc, change: Doc) -> Doc:
        """Writes the rule and what is told of it in the history; returns the rule with its new revision. 1 write. Raises UpdateConflict."""
        return {**doc, "_rev": self._write(doc, change)}

    def delete(self, doc: Doc, change: Doc) -> None:
        """1 write. Raises UpdateConflict."""
        self._write({"_id": doc["_id"], "_rev": doc["_rev"], "_deleted": True}, change)

    def history(self, limit: int, begin_at: str | None) -> list[Doc]:
        """What was changed, the last first. 1 partition query."""
        partition = self._database.partition(HISTORY_PARTITION)
        return partition.all(descending=True, limit=limit, begin_at=begin_at)

    def _write(self, doc: Doc, change: Doc) -> str | None:
        """A rule that cannot be written leaves nothing in the history; one that is written is always there."""
        written, told = self._database.put_many([doc, change])
        if written.error:
            if told.rev:
                self._database.delete(told.id, told.rev)
            raise UpdateConflict(f"{doc['_id']} changed since it was read.")
        if told.error:
            self._database.put(change)
        return written.rev


def rules_cache(
    redis: Redis, background: Background, documents: RuleDocuments, database: str, language: Language
) -> RulesCache:
    key = f"search-rules:{database}"
    return DocumentCache(redis, background, key, documents.all, lambda docs: search_rules(docs, language))
