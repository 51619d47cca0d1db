"""The indexes that design documents declare; what does not parse is left out."""

import contextlib
from collections.abc import Iterator

from .. import views
from ..documents.database import Database
from ..errors import CouchError
from ..indexes import finder, indexing, searching, textfind
from ..store import StoredDoc


def specs(db: Database, docs: list[StoredDoc]) -> Iterator[indexing.IndexSpec]:
    """Views and Mango indexes."""
    for doc in docs:
        with contextlib.suppress(CouchError):
            design = views.open_design(db, doc.id.removeprefix("_design/"))
            if design.spec is not None:
                yield design.spec
    ids = {doc.id for doc in docs}
    for index in finder.indexes(db):
        if index.kind == "json" and index.ddoc in ids:
            yield finder.index_spec(db, index)


def search_specs(db: Database, docs: list[StoredDoc]) -> Iterator[searching.SearchSpec]:
    yield from searching.specs(db, docs)
    ids = {doc.id for doc in docs}
    for index in finder.indexes(db):
        if index.is_text and index.ddoc in ids:
            yield textfind.text_spec(index)
