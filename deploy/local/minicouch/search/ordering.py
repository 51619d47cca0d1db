"""The first hits in the order of columns: hits that come behind them are not read, nor brought to Python."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import tantivy

from .engine import SearchIndex, order_prefixes
from .matching import Matching

Address = tantivy.DocAddress
SEQUENCE = "seq"
EQUAL = 20
"""So many hits more than asked for are read, so that those equal to the last one are mostly there without another search."""


class Column(NamedTuple):
    """A column of the schema, of which a document has one value."""

    name: str
    kind: tantivy.FieldType
    descending: bool = False


def columns_of(matching: Matching, kind: str, name: str, *, descending: bool) -> list[Column]:
    """The columns that say how the hits stand by a field; [] where they do not say it of every hit."""
    index = matching.index
    slot = index.field(kind, name)
    if slot is None or name in index.multivalued:
        return []
    if kind == "number":
        columns = [Column(slot, tantivy.FieldType.Float, descending)]
    else:
        names = index.order_columns(name)
        columns = [Column(each, tantivy.FieldType.Unsigned, descending) for each in names]
    if index.generation.has_everywhere(columns[0].name):
        return columns
    matching.ask({"there": {"value_count": {"field": columns[0].name}}})
    return columns if matching.counted["there"]["value"] == matching.total() else []


def place_of(kind: str, value: Any, seq: int, columns: Sequence[Column]) -> tuple[Any, ...]:
    """What a hit with this value and sequence has in the columns."""
    values = (value, seq) if kind == "number" else order_prefixes(value)
    return values[: len(columns)]


class Ordering:
    """Hits of one query by columns, each of which decides among those that are equal in the ones before it."""

    def __init__(self, index: SearchIndex, searcher: tantivy.Searcher) -> None:
        self._schema, self._searcher = index.schema, searcher

    def first(self, query: tantivy.Query, columns: Sequence[Column], limit: int) -> list[Address]:
        """At least the first `limit` hits, and all that equal the last of them in every column."""
        if not columns:
            return [address for _, address in self._best(query, max(1, self._searcher.num_docs))]
        column, *others = columns
        limit = max(1, limit)
        best = self._best(query, limit + EQUAL, column)
        if len(best) < limit + EQUAL:
            return [address for _, address in best]
        last = best[-1][0]
        found = [address for value, address in best if value != last]
        if len(found) >= limit:
            return found
        same = self._with(query, column, last)
        return found + self.first(same, others, limit - len(found))

    def behind(
        self, query: tantivy.Query, columns: Sequence[Column], limit: int, place: Sequence[Any]
    ) -> list[Address]:
        """The same of what stands behind a place."""
        if not columns:
            return []
        column, *others = columns
        found = self.behind(self._with(query, column, place[0]), others, limit, place[1:])
        if len(found) < limit:
            found += self.first(self._behind(query, column, place[0]), columns, limit - len(found))
        return found

    def at(self, query: tantivy.Query, columns: Sequence[Column], place: Sequence[Any]) -> list[Address]:
        """All hits that stand at a place."""
        for column, value in zip(columns, place, strict=True):
            query = self._with(query, column, value)
        return self.first(query, (), 1)

    def _best(
        self, query: tantivy.Query, limit: int, column: Column | None = None
    ) -> list[tuple[Any, Address]]:
        if column is None:
            return list(self._searcher.search(query, limit=limit, count=False).hits)
        order = tantivy.Order.Desc if column.descending else tantivy.Order.Asc
        found = self._searcher.search(
            query, limit=limit, count=False, order_by_field=column.name, order=order
        )
        return list(found.hits)

    def _with(self, query: tantivy.Query, column: Column, value: Any) -> tantivy.Query:
        same = tantivy.Query.range_query(self._schema, column.name, column.kind, value, value, True, True)
        return _both(query, same)

    def _behind(self, query: tantivy.Query, column: Column, value: Any) -> tantivy.Query:
        low, high = (None, value) if column.descending else (value, None)
        behind = tantivy.Query.range_query(
            self._schema, column.name, column.kind, low, high, low is None, high is None
        )
        return _both(query, behind)


def _both(one: tantivy.Query, other: tantivy.Query) -> tantivy.Query:
    return tantivy.Query.boolean_query([(tantivy.Occur.Must, one), (tantivy.Occur.Must, other)])
