"""Product types: few, read whole, and at hand in every process."""

from redis import Redis

from services.products.product_types import PARTITION, PRODUCT_TYPE, ProductType, product_type_id
from services.products.rules.attributes import ProductTypes
from shared.background import Background
from shared.couch import Database
from shared.document_cache import DocumentCache

ProductTypeCache = DocumentCache[ProductTypes]


class ProductTypeDocuments:
    """Errors are those of `shared.couch`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def all(self) -> list[ProductType]:
        """Every type, by code. 1 partition query."""
        return PRODUCT_TYPE.among(self._database.partition(PARTITION).all())

    def get(self, code: str) -> ProductType | None:
        """1 read."""
        docid = product_type_id(code)
        return PRODUCT_TYPE.typed(self._database.get_many([docid]).get(docid))

    def put(self, doc: ProductType) -> ProductType:
        """Writes and returns the document with its new revision. Raises UpdateConflict."""
        return {**doc, "_rev": self._database.put(doc)}


def product_type_cache(
    redis: Redis, background: Background, documents: ProductTypeDocuments, database: str
) -> ProductTypeCache:
    return DocumentCache(redis, background, f"product-types:{database}", documents.all, ProductTypes)
