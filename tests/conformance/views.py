"""What tests of views share: design documents, documents, and ten numbered ones to ask about."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .conftest import Couch

BY_N = "function (doc) { emit(doc.n, null); }"
Query = Callable[..., Any]


def design(couch: "Couch", db: str, name: str, **views: Any) -> str:
    """Store a design document; a view is its map source or a whole definition. Returns the path of its views."""
    whole = {n: v if isinstance(v, dict) else {"map": v} for n, v in views.items()}
    answer = couch.put(f"{db}/_design/{name}", {"views": whole})
    assert answer.status_code == 201, answer.text
    return f"{db}/_design/{name}/_view"


def fill(couch: "Couch", db: str, docs: list[dict[str, Any]]) -> None:
    answer = couch.post(f"{db}/_bulk_docs", {"docs": docs})
    assert answer.status_code == 201
    assert all(row.get("ok") for row in answer.json()), answer.text
