"""Search where the server has none: rows of the keyword view narrow it down, the documents decide. No I/O."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..documents import Doc
from .fields import SearchField, SearchIndex
from .query import SearchQuery
from .words import fold

MAX_ROWS, MAX_DOCUMENTS = 20_000, 1000
CANNOT = ("forgive typos",)
TOO_MANY = f"filter, count or sort more than {MAX_DOCUMENTS} matches"

Row = dict[str, Any]


@dataclass(frozen=True)
class Found:
    """The matching documents in order, and what was counted among them."""

    docs: list[Doc]
    counts: dict[str, dict[str, int]]
    ranges: dict[str, dict[str, int]]


def key_range(query: SearchQuery, index: SearchIndex) -> dict[str, Any]:
    """The part of the keyword view to read: the whole words, else the beginning of the last one, else a category, else all."""
    if whole := _whole(query):
        return {"keys": [["word", word] for word in sorted(whole, key=len, reverse=True)]}
    if query.prefix:
        return {"start_key": ["word", query.prefix], "end_key": ["word", query.prefix + "\ufff0"]}
    for each in index.fields:
        paths = query.filters.get(each.name, ()) if each.kind == "path" else ()
        if len(paths) == 1:
            return {"key": ["path", paths[0]]}
    return {"key": ["all"]}


def candidates(query: SearchQuery, rows: Iterable[Row]) -> list[str]:
    """Ids of documents that have all whole words, the weightiest first."""
    words: dict[str, set[str]] = {}
    scores: dict[str, int] = {}
    for row in rows:
        words.setdefault(row["id"], set()).add(row["key"][-1])
        scores[row["id"]] = scores.get(row["id"], 0) + (row["value"] or 0)
    wanted = len(_whole(query)) or 1
    return sorted(
        (docid for docid, found in words.items() if len(found) >= wanted),
        key=lambda docid: (-scores[docid], docid),
    )


def needs_documents(query: SearchQuery) -> bool:
    """Whether the documents of all candidates must be looked at, not only those of the page."""
    narrowed = bool(
        query.filters or query.ranges or query.sort or query.counts or query.bands or query.phrases
    )
    return narrowed or bool(query.prefix and _whole(query))


def evaluate(query: SearchQuery, index: SearchIndex, docs: Sequence[Doc]) -> Found:
    """What of the candidates, given in order of their weight, answers the query."""
    fields = {each.name: each for each in index.fields}
    texts = [each for each in index.fields if each.kind == "text"]
    matching = [doc for doc in docs if _matches(query, fields, texts, doc)]
    if query.sort:
        field = fields[query.sort.lstrip("-")]
        matching.sort(key=lambda doc: _order(_values(field, doc)), reverse=query.sort.startswith("-"))
    return Found(matching, _counts(query, fields, matching), _ranges(query, fields, matching))


def begins_at(ids: Sequence[str], place: tuple[Any, str]) -> int:
    """Where a page begins: behind the document that ended the one before, or at its old position when that one is gone."""
    position, last = place
    return ids.index(last) + 1 if last in ids else position


def _whole(query: SearchQuery) -> set[str]:
    return {*query.words, *(word for phrase in query.phrases for word in phrase)}


def _matches(
    query: SearchQuery, fields: Mapping[str, SearchField], texts: Sequence[SearchField], doc: Doc
) -> bool:
    return (
        (not query.prefix or any(f" {query.prefix}" in text for text in _texts(texts, doc)))
        and all(
            any(f" {' '.join(phrase)} " in text for text in _texts(texts, doc)) for phrase in query.phrases
        )
        and all(set(values) & set(_values(fields[name], doc)) for name, values in query.filters.items())
        and all(_within(_values(fields[name], doc), *bounds) for name, bounds in query.ranges.items())
    )


def _texts(fields: Sequence[SearchField], doc: Doc) -> list[str]:
    return [f" {fold(value)} " for field in fields for value in _values(field, doc)]


def _values(field: SearchField, doc: Doc) -> list[Any]:
    value: Any = doc
    for part in field.path.split("."):
        value = value.get(part) if isinstance(value, dict) else None
    if field.kind == "path":
        return ["#".join(value[: n + 1]) for n in range(len(value or ()))]
    if field.kind == "place":
        return ["#".join(value)] if value else []
    values = value if isinstance(value, list) else [value]
    return [each for each in values if each is not None and each != ""]


def _within(values: list[Any], low: int | None, high: int | None) -> bool:
    return any((low is None or value >= low) and (high is None or value <= high) for value in values)


def _order(values: list[Any]) -> tuple[bool, Any]:
    return (bool(values), values[0] if values else None)


def _counts(
    query: SearchQuery, fields: Mapping[str, SearchField], docs: Sequence[Doc]
) -> dict[str, dict[str, int]]:
    counts: dict[str, dict[str, int]] = {name: {} for name in query.counts}
    for doc in docs:
        for name, found in counts.items():
            for value in set(_values(fields[name], doc)):
                found[value] = found.get(value, 0) + 1
    return counts


def _ranges(
    query: SearchQuery, fields: Mapping[str, SearchField], docs: Sequence[Doc]
) -> dict[str, dict[str, int]]:
    return {
        name: {
            band.label: sum(_within(_values(fields[name], doc), band.least, band.most) for doc in docs)
            for band in bands
        }
        for name, bands in query.bands.items()
    }
