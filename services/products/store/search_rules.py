"""The rules of search: their documents, and the copy of all of them that every search reads without a database call."""

from redis import Redis

from services.products.rules.search_rules import SearchRules, search_rules
from services.products.search_documents import RULES_PARTITION, rule_id
from shared.couch import Database, Doc, Language
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

    def put(self, doc: Doc) -> Doc:
        """Writes and returns the document with its new revision. Raises UpdateConflict."""
        return {**doc, "_rev": self._database.put(doc)}

    def delete(self, doc: Doc) -> None:
        self._database.delete(doc["_id"], doc["_rev"])


def rules_cache(redis: Redis, documents: RuleDocuments, database: str, language: Language) -> RulesCache:
    return DocumentCache(
        redis, f"search-rules:{database}", documents.all, lambda docs: search_rules(docs, language)
    )
