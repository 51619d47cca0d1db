"""Search where the server has none: rows of the keyword view, filtered, counted and sorted here. No I/O."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from shared.couch.search.fields import SearchIndex
from shared.couch.search.query import SearchQuery

MOST_ROWS = 2000
CANNOT = ("forgive typos", "match phrases word by word")
TOO_MANY = f"look beyond the first {MOST_ROWS} matches"

Row = dict[str, Any]


@dataclass(frozen=True)
class Found:
    """The matching rows in order, each {"id", "value"}, and what was counted among them."""

    rows: list[Row]
    counts: dict[str, dict[str, int]]
    ranges: dict[str, dict[str, int]]


def key_range(query: SearchQuery, index: SearchIndex) -> dict[str, Any]:
    """The part of the keyword view to read: the longest whole word, else the beginning of the last, else a category, else all."""
    whole = (*query.words, *(word for phrase in query.phrases for word in phrase))
    if whole:
        return {"key": ["word", max(whole, key=len)]}
    if query.prefix:
        return {"start": ["word", query.prefix], "end": ["word", query.prefix + "\ufff0"]}
    for each in index.fields:
        paths = query.filters.get(each.name, ()) if each.kind == "path" else ()
        if len(paths) == 1:
            return {"key": ["path", paths[0]]}
    return {"key": ["all"]}


def begins_at(rows: list[Row], place: list[Any]) -> int:
    """Where a page begins: behind the row that ended the one before, or at its old position when that row is gone."""
    position, last = place
    return next((n + 1 for n, row in enumerate(rows) if row["id"] == last), position)


def evaluate(query: SearchQuery, rows: Iterable[Row]) -> Found:
    """What of the rows answers the query."""
    matching = [row for row in {row["id"]: row for row in rows}.values() if _matches(query, row["value"])]
    matching.sort(key=lambda row: row["id"])
    if query.sort:
        name = query.sort.lstrip("-")
        matching.sort(key=lambda row: _order(row["value"][2].get(name)), reverse=query.sort.startswith("-"))
    else:
        matching.sort(key=lambda row: -_score(query, row["value"][0]))
    return Found(matching, _counts(query, matching), _ranges(query, matching))


def _matches(query: SearchQuery, value: list[Any]) -> bool:
    words, marks, order = value
    whole = (*query.words, *(word for phrase in query.phrases for word in phrase))
    return (
        all(word in words for word in whole)
        and (not query.prefix or any(word.startswith(query.prefix) for word in words))
        and all(set(values) & set(marks.get(name, ())) for name, values in query.filters.items())
        and all(_within(order.get(name), *bounds) for name, bounds in query.ranges.items())
    )


def _within(value: Any, low: int | None, high: int | None) -> bool:
    return value is not None and (low is None or value >= low) and (high is None or value <= high)


def _score(query: SearchQuery, words: dict[str, int]) -> float:
    score: float = sum(2 * words.get(word, 0) for word in query.all_words)
    if query.prefix:
        score += max((weight for word, weight in words.items() if word.startswith(query.prefix)), default=0)
    return score


def _order(value: Any) -> tuple[bool, Any]:
    return (value is not None, value.lower() if isinstance(value, str) else value)


def _counts(query: SearchQuery, rows: list[Row]) -> dict[str, dict[str, int]]:
    counts: dict[str, dict[str, int]] = {name: {} for name in query.counts}
    for row in rows:
        for name, found in counts.items():
            for mark in set(row["value"][1].get(name, ())):
                found[mark] = found.get(mark, 0) + 1
    return counts


def _ranges(query: SearchQuery, rows: list[Row]) -> dict[str, dict[str, int]]:
    return {
        name: {band.label: sum(_within(row["value"][2].get(name), band.least, band.most) for row in rows) for band in bands}
        for name, bands in query.bands.items()
    }
