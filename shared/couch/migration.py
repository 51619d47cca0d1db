"""Documents of older schemas and names, written anew as today's: beside everything else that goes on, in any number of runs."""

import time
from collections.abc import Callable, Iterable
from typing import Any

from .client import Client
from .documents import DocumentType, Shapes
from .renaming import REFRESH_SECONDS, adopt_names

_BATCH_SIZE = 500
_ADOPTION_SECONDS = REFRESH_SECONDS + 5
"""Seconds after which every process has seen that it is to write today's names, and ended what it was writing."""


def migrate(
    client: Client, name: str, types: Iterable[DocumentType], progress: Callable[[str], None]
) -> None:
    """Goes through the changes feed once. Who changes a document meanwhile wins, and wrote it in today's shape."""
    shapes = Shapes(types)
    if shapes.renamed and adopt_names(client, name, shapes):
        progress(
            f"{name}: waiting {_ADOPTION_SECONDS:g} s until all processes write {', '.join(shapes.renamed)}"
        )
        time.sleep(_ADOPTION_SECONDS)
    since, done = "0", 0
    rows: list[dict[str, Any]] = []
    while since == "0" or len(rows) == _BATCH_SIZE:
        answer = client.call("post_changes", db=name, since=since, limit=_BATCH_SIZE, include_docs=True)
        since, rows = answer["last_seq"], answer["results"]
        docs = [row["doc"] for row in rows if not row.get("deleted")]
        old = [doc for doc in docs if not shapes.is_current(doc)]
        if old:
            written = client.call("post_bulk_docs", db=name, bulk_docs={"docs": shapes.read_all(old)})
            done += sum("error" not in row for row in written)
            progress(f"{name}: {done} documents migrated")
