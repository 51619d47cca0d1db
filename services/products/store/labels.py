"""What options, colours and attributes are called in other languages, as most products say: at hand in every process."""

from collections.abc import Sequence
from typing import Any, cast

from redis import Redis

from services.products.rules.labels import Labels
from services.products.store.catalogue import Catalogue
from shared.background import Background
from shared.couch import Document
from shared.document_cache import DocumentCache

LabelCache = DocumentCache[Labels]

MAX_AGE_SECONDS = 20
"""Products are written without a word of this: so long a new label may be unknown beside a filter."""


def label_cache(redis: Redis, background: Background, catalogue: Catalogue, database: str) -> LabelCache:
    def read() -> Sequence[Document]:
        return cast(Sequence[Document], list[Any](catalogue.labels()))

    return DocumentCache(redis, background, f"labels:{database}", read, Labels, MAX_AGE_SECONDS)
