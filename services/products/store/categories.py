"""What the shop says of its categories: few documents, read whole, and at hand in every process."""

from collections.abc import Sequence

from redis import Redis

from services.products.category_documents import CATEGORY, PARTITION, Category, category_id
from services.products.rules.categories import Categories
from shared.background import Background
from shared.couch import Database, Written
from shared.document_cache import DocumentCache

CategoryCache = DocumentCache[Categories]


class CategoryDocuments:
    """Errors are those of `shared.couch`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def all(self) -> list[Category]:
        """Every one, by path. 1 partition query."""
        return CATEGORY.among(self._database.partition(PARTITION).all())

    def get(self, path: str) -> Category | None:
        """1 read."""
        docid = category_id(path)
        return CATEGORY.typed(self._database.get_many([docid]).get(docid))

    def put(self, doc: Category) -> Category:
        """Writes and returns the document with its new revision. Raises UpdateConflict."""
        return {**doc, "_rev": self._database.put(doc)}

    def put_many(self, docs: Sequence[Category]) -> list[Written]:
        """1 write for all, each on its own."""
        return self._database.put_many(docs)

    def delete(self, doc: Category) -> None:
        """Raises UpdateConflict."""
        self._database.delete(doc["_id"], doc["_rev"])


def category_cache(
    redis: Redis, background: Background, documents: CategoryDocuments, database: str
) -> CategoryCache:
    return DocumentCache(redis, background, f"categories:{database}", documents.all, Categories)
