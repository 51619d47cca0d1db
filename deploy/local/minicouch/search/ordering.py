"""The first hits in the order of columns: hits that come behind them are not read, nor brought to Python."""

import itertools
from collections.abc import Sequence
from typing import Any, NamedTuple

import tantivy

from .engine import NEAR_END, order_prefixes
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

    def __init__(self, matching: Matching) -> None:
        self._matching, self._schema, self._searcher = matching, matching.index.schema, matching.searcher

    def first(self, query: tantivy.Query, columns: Sequence[Column], limit: int) -> list[Address]:
        """At least the first `limit` hits, and all that equal the last of them in every column."""
        if not columns:
            return [address for _, address in self._best(query, max(1, self._searcher.num_docs))]
        column, *others = columns
        limit = max(1, limit)
        best = self._near_end(query, limit + EQUAL, column) or self._best(query, limit + EQUAL, column)
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

    def _near_end(self, query: tantivy.Query, limit: int, column: Column) -> list[tuple[Any, Address]] | None:
        """The same as `_best` from what has one of the first numbers of the whole index, which are few documents; None where so many hits are
        not among them, or nobody expects it."""
        matching, generation = self._matching, self._matching.index.generation
        if not matching.is_large or matching.filters or column.kind != tantivy.FieldType.Float:
            return None
        if matching.at_most * NEAR_END < limit * generation.documents:
            return None
        if not generation.has_everywhere(column.name):
            return None
        values = generation.end_values(column.name, descending=column.descending)
        found = self._best(_both(self._has_one_of(values, column), query), limit, column)
        return found if len(found) == limit else None

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
        if column.kind == tantivy.FieldType.Float:
            return _both(query, self._has_one_of([value], column))
        same = tantivy.Query.range_query(self._schema, column.name, column.kind, value, value, True, True)
        return _both(query, same)

    def _has_one_of(self, numbers: Sequence[float], column: Column) -> tantivy.Query:
        """By the documents of each number: a range is looked up for each hit."""
        zeros = {0.0: (0.0, -0.0)}  # equal, and yet two terms
        terms = itertools.chain.from_iterable(zeros.get(number, (number,)) for number in numbers)
        some = [tantivy.Query.term_query(self._schema, column.name, each) for each in terms]
        return self._matching.compiler.joined([("should", each) for each in some])

    def _behind(self, query: tantivy.Query, column: Column, value: Any) -> tantivy.Query:
        if not value and column.kind == tantivy.FieldType.Float:
            value = -0.0 if column.descending else 0.0  # the last of the two
        low, high = (None, value) if column.descending else (value, None)
        behind = tantivy.Query.range_query(
            self._schema, column.name, column.kind, low, high, low is None, high is None
        )
        return _both(query, behind)


def _both(one: tantivy.Query, other: tantivy.Query) -> tantivy.Query:
    return tantivy.Query.boolean_query([(tantivy.Occur.Must, one), (tantivy.Occur.Must, other)])
