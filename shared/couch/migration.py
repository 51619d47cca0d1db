"""Documents of older schemas, written anew in today's: beside everything else that goes on, in any number of runs."""

from collections.abc import Callable, Iterable
from typing import Any

from shared.couch.client import Client
from shared.couch.documents import DocumentType, Shapes

_AT_ONCE = 500


def migrate(
    client: Client, name: str, types: Iterable[DocumentType], progress: Callable[[str], None]
) -> None:
    """Goes through the changes feed once. Who changes a document meanwhile wins, and wrote it in today's shape."""
    shapes, newest = Shapes(types), {kind.name: kind.schema for kind in types}
    since, done = "0", 0
    rows: list[dict[str, Any]] = []
    while since == "0" or len(rows) == _AT_ONCE:
        answer = client.call("post_changes", db=name, since=since, limit=_AT_ONCE, include_docs=True)
        since, rows = answer["last_seq"], answer["results"]
        docs = [row["doc"] for row in rows if not row.get("deleted")]
        old = [doc for doc in docs if doc.get("schema", 1) < newest.get(doc.get("type"), 0)]
        if old:
            written = client.call("post_bulk_docs", db=name, bulk_docs={"docs": shapes.read_all(old)})
            done += sum("error" not in row for row in written)
            progress(f"{name}: {done} documents migrated")
