"""A whole list in an order, where the server has no search: rows of the keyword view that are in that order already. No I/O."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from ..documents import Doc
from ..errors import BadRequest
from .fields import SORTED_KINDS, SearchIndex, field_named
from .keywords import MAX_DOCUMENTS, Row, evaluate, key_range
from .query import SearchQuery

ROWS_PER_DOCUMENT = 5
"""So many rows are read for each document of a page that is filtered."""


class Listed(NamedTuple):
    """A page of documents, the row that the next page begins at, and how many there are where that is known."""

    docs: list[Doc]
    next: Row | None
    total: int | None


def sorted_by(query: SearchQuery, index: SearchIndex) -> str | None:
    """The field whose rows are the list, from its beginning to its end: for what has an order, and neither words nor one category.
    Where that is a member of `numbers`, the list is of what has it."""
    name = (query.sort or "").removeprefix("-")
    if not name or key_range(query, index) != {"key": ["all"]}:
        return None
    field, _ = field_named({each.name: each for each in index.fields}, name)
    return name if field.kind in (*SORTED_KINDS, "numbers") else None


def has_counts(query: SearchQuery) -> bool:
    """Whether something is counted in the list: then not only a page of it is read."""
    return bool(query.counts or query.bands)


def whole_range(name: str, query: SearchQuery) -> dict[str, Any]:
    """What to ask of the view for all of a list, as far as what limits its order is concerned."""
    least, most = query.ranges.get(name, (None, None))
    low: list[Any] = ["sort", name] if least is None else ["sort", name, least]
    high: list[Any] = ["sort", name, {} if most is None else most]
    if least is not None and most is not None and least > most:
        high = low = ["sort", name, {}]
    descending = (query.sort or "").startswith("-")
    start, end = (high, low) if descending else (low, high)
    return {"start_key": start, "end_key": end, "descending": descending}


def row_range(name: str, query: SearchQuery, limit: int, place: tuple[Any, str] | None) -> dict[str, Any]:
    """What to ask of the view for a page that begins at a place (key and id of its first row). Raises BadRequest for that of another list."""
    bounds = whole_range(name, query)
    if place:
        key, docid = place
        if not isinstance(key, list) or key[:2] != ["sort", name]:
            raise BadRequest("This cursor is of another list; begin again without one.", code="bad_cursor")
        bounds |= {"start_key": key, "start_key_doc_id": docid}
    return bounds | {"limit": _window(query, limit) + 1}


def listed(query: SearchQuery, index: SearchIndex, rows: Sequence[Row], limit: int, *, first: bool) -> Listed:
    """The page that these rows (with their documents) make. One of a list that is filtered may hold less than the limit, and another follow."""
    window = _window(query, limit)
    docs = [row["doc"] for row in rows[:window] if row.get("doc")]
    found = evaluate(replace(query, sort=None), index, docs).docs
    behind = rows[window] if len(rows) > window else None
    if len(found) > limit:
        behind = next(row for row in rows if row["id"] == found[limit]["_id"])
    total = len(found) if first and behind is None else None
    return Listed(found[:limit], behind, total)


def _window(query: SearchQuery, limit: int) -> int:
    return min(ROWS_PER_DOCUMENT * limit, MAX_DOCUMENTS) if query.filters or query.ranges else limit
