"""One shape for a part of a list: its items and where the next part begins."""

import base64
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

import orjson

from .errors import BadRequest

T = TypeVar("T")


@dataclass(frozen=True)
class PageOf(Generic[T]):
    """`next` is None on the last page; else hand it back as `bookmark`, `cursor` or key of the same query (unsigned: `shared.web` signs it).

    `stale`: its index was behind the database.
    """

    items: list[T]
    next: Any = None
    stale: bool = field(default=False, kw_only=True)


@dataclass(frozen=True)
class SearchPageOf(PageOf[T]):
    """`counts` is {field: {value: documents}}, `ranges` {field: {label: documents}}; `unsupported` names what this server's
    search cannot do; `scores` stand beside the items when those are in the order of their relevance."""

    total: int | None = None
    counts: dict[str, dict[str, int]] = field(default_factory=dict)
    ranges: dict[str, dict[str, int]] = field(default_factory=dict)
    unsupported: tuple[str, ...] = ()
    scores: tuple[float, ...] = ()


Page = PageOf[dict[str, Any]]
"""Of rows, or of documents whose type nobody says."""
SearchPage = SearchPageOf[dict[str, Any]]


def encode_cursor(row: dict[str, Any]) -> str:
    """Where a view page begins: the first row's key and document id."""
    return base64.urlsafe_b64encode(orjson.dumps([row["key"], row["id"]])).decode()


def decode_cursor(cursor: str) -> tuple[Any, str]:
    """Raises BadRequest for something that `encode_cursor` did not make."""
    try:
        key, docid = orjson.loads(base64.urlsafe_b64decode(cursor))
    except ValueError:
        raise BadRequest("This cursor is damaged; begin again without one.", code="bad_cursor") from None
    return key, docid
