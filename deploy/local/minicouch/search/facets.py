"""Counts of facet values and of number ranges among the hits, and the filters of `drilldown`."""

import itertools
import math
from typing import Any

import tantivy

from ..errors import CouchError, bad_request
from .compiling import is_number, number_of
from .engine import SearchIndex
from .matching import Matching
from .syntax import RangeOf, parse

MAX_VALUES = 65_000


class Facets:
    """What is counted of the values of fields among the hits, in one pass with how many these are."""

    def __init__(self, matching: Matching, counts: Any, ranges: Any) -> None:
        """`counts`: fields indexed with `facet`; `ranges`: {field: {label: "[1 TO 5]"}}; None is left out. Errors: 400."""
        self._matching = matching
        self._fields = None if counts is None else _count_fields(matching.index, counts)
        self._bands = None if ranges is None else _range_fields(matching.index, ranges)
        fields = (self._fields or {}).items()
        self._listed = {name for name, slot in fields if slot and matching.ask_values(name, slot)}
        asked = {_key_of(name): _terms(slot) for name, slot in fields if slot and name not in self._listed}
        for band in self._bands or ():
            asked |= band.aggregations()
        matching.ask(asked)

    def counts(self) -> dict[str, dict[str, float]] | None:
        """{field: {value: how many hits}}."""
        if self._fields is None:
            return None
        return {name: self._values(name, slot) if slot else {} for name, slot in self._fields.items()}

    def _values(self, name: str, slot: str) -> dict[str, float]:
        if name in self._listed:
            return {value: float(count) for value, count in self._matching.values(slot).items()}
        return {
            bucket["key"]: float(bucket["doc_count"])
            for bucket in self._matching.counted[_key_of(name)]["buckets"]
        }

    def ranges(self) -> dict[str, dict[str, float]] | None:
        """{field: {label: how many hits}}."""
        if self._bands is None:
            return None
        return {band.field: band.counted(self._matching) for band in self._bands}


def _key_of(name: str) -> str:
    return f"{name} counts"


def _count_fields(index: SearchIndex, fields: Any) -> dict[str, str | None]:
    """The name of each field to its column."""
    if not isinstance(fields, list) or not all(isinstance(name, str) for name in fields):
        raise bad_request("counts must be an array of field names")
    return {name: index.field("facet", name) for name in fields}


def _terms(slot: str) -> dict[str, Any]:
    return {"terms": {"field": slot, "size": MAX_VALUES}}


def _range_fields(index: SearchIndex, asked: Any) -> list["_Bands"]:
    if not isinstance(asked, dict):
        raise bad_request("ranges must be an object")
    return [_Bands(index, field, _labels(labels)) for field, labels in asked.items()]


class _Bands:
    """The ranges of one field. Those of a field with one number a document are counted by its column, together when
    none of them overlap; those of texts and of fields with more numbers by a search each."""

    def __init__(self, index: SearchIndex, field: str, labels: dict[str, str]) -> None:
        self.field = field
        self._nodes = {label: _range(text) for label, text in labels.items()}
        self._slot = None if field in index.multivalued else index.field("number", field)
        bounds = [numeric_bounds(node) for node in self._nodes.values()]
        self._bounds = [found for found in bounds if found is not None]
        self._by_column = self._slot is not None and len(self._bounds) == len(bounds)

    def aggregations(self) -> dict[str, Any]:
        if not self._by_column or not self._bounds:
            return {}
        keyed = [{"key": _key(n), **bounds} for n, bounds in enumerate(self._bounds)]
        together = [keyed] if _disjoint(self._bounds) else [[one] for one in keyed]
        return {
            f"{self.field} ranges {n}": {"range": {"field": self._slot, "ranges": ranges}}
            for n, ranges in enumerate(together)
        }

    def counted(self, matching: Matching) -> dict[str, float]:
        if not self._by_column:
            return {label: count_range(matching, self.field, node) for label, node in self._nodes.items()}
        buckets = [bucket for name in self.aggregations() for bucket in matching.counted[name]["buckets"]]
        sizes = {bucket["key"]: float(bucket["doc_count"]) for bucket in buckets}
        return {label: sizes.get(_key(n), 0.0) for n, label in enumerate(self._nodes)}


def _key(position: int) -> str:
    """A bucket's name; tantivy makes up names for those between them, which hold other signs."""
    return f"range{position}"


def _disjoint(bounds: list[dict[str, float]]) -> bool:
    ordered = sorted(bounds, key=lambda each: each.get("from", -math.inf))
    return all(
        left.get("to", math.inf) <= right.get("from", -math.inf)
        for left, right in itertools.pairwise(ordered)
    )


def numeric_bounds(node: RangeOf) -> dict[str, float] | None:
    """{from, to} of the half-open range that holds the same numbers, None for a range of texts or an empty one."""
    low = "-Infinity" if node.low is None else node.low
    high = "Infinity" if node.high is None else node.high
    if not (is_number(low) and is_number(high)):
        return None
    first, last = number_of(low), number_of(high)
    if first == math.inf or last == -math.inf:
        return None
    bounds = {}
    if not math.isinf(first):
        bounds["from"] = first if node.with_low else math.nextafter(first, math.inf)
    if not math.isinf(last):
        bounds["to"] = math.nextafter(last, math.inf) if node.with_high else last
    return bounds if bounds.get("from", -math.inf) < bounds.get("to", math.inf) else None


def _labels(labels: Any) -> dict[str, str]:
    if not isinstance(labels, dict) or not all(isinstance(text, str) for text in labels.values()):
        raise bad_request("ranges must map labels to range queries")
    return labels


def _range(text: str) -> RangeOf:
    node = parse(text)
    if not isinstance(node, RangeOf):
        raise CouchError(400, "bad_request", f"{text} was not a well-formed range specification")
    return node


def count_range(matching: Matching, field: str, node: RangeOf) -> float:
    compiler = matching.compiler
    within = compiler.query(RangeOf(field, node.low, node.high, node.with_low, node.with_high))
    both = compiler.joined([("must", matching.unscored), ("must", within)])
    return float(matching.searcher.search(both, limit=1).count)


def drilled(index: SearchIndex, asked: Any) -> list[tantivy.Query]:
    """The filters of `[["field", "value", ..], ..]`: any value of a field will do. Errors: 400."""
    if not asked:
        return []
    chosen: dict[str, list[str]] = {}
    for item in [asked] if isinstance(asked, list) and isinstance(asked[0], str) else asked:
        if not isinstance(item, list) or len(item) < 2 or not all(isinstance(part, str) for part in item):
            raise bad_request("invalid drilldown query")
        chosen.setdefault(item[0], []).extend(item[1:])
    slots = {field: index.field("facet", field) for field in chosen}
    return [
        tantivy.Query.term_set_query(index.schema, slot, values) if slot else tantivy.Query.empty_query()
        for values, slot in zip(chosen.values(), slots.values(), strict=True)
    ]
