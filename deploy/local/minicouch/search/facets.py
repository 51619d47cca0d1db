"""Counts of facet values and of number ranges among the hits, and the filters of `drilldown`."""

import math
from typing import Any

import tantivy

from deploy.local.minicouch.errors import CouchError, bad_request

from .compiling import Compiler, is_number, number_of
from .engine import SearchIndex
from .syntax import RangeOf, parse

MAX_VALUES = 65_000


def counts(
    index: SearchIndex, searcher: tantivy.Searcher, query: tantivy.Query, fields: Any
) -> dict[str, Any]:
    """{field: {value: how many hits}} for fields indexed with `facet`. Errors: 400."""
    if not isinstance(fields, list) or not all(isinstance(name, str) for name in fields):
        raise bad_request("counts must be an array of field names")
    known = {name: index.field("facet", name) for name in fields}
    asked = {name: {"terms": {"field": slot, "size": MAX_VALUES}} for name, slot in known.items() if slot}
    found = searcher.aggregate(query, asked) if asked else {}
    return {
        name: {bucket["key"]: float(bucket["doc_count"]) for bucket in found[name]["buckets"]}
        if name in asked
        else {}
        for name in fields
    }


def ranges(
    index: SearchIndex, searcher: tantivy.Searcher, compiler: Compiler, query: tantivy.Query, asked: Any
) -> dict[str, Any]:
    """{field: {label: how many hits}} for {field: {label: "[1 TO 5]"}}. Errors: 400."""
    if not isinstance(asked, dict):
        raise bad_request("ranges must be an object")
    return {
        field: _ranges(index, searcher, compiler, query, field, _labels(labels))
        for field, labels in asked.items()
    }


def _ranges(
    index: SearchIndex,
    searcher: tantivy.Searcher,
    compiler: Compiler,
    query: tantivy.Query,
    field: str,
    labels: dict[str, str],
) -> dict[str, float]:
    nodes = {label: _range(text) for label, text in labels.items()}
    slot = index.field("number", field)
    buckets = {label: numeric_bounds(node) for label, node in nodes.items()}
    if slot is None or field in index.multivalued or None in buckets.values():
        return {label: count_range(searcher, compiler, query, field, node) for label, node in nodes.items()}
    return _counted_together(searcher, query, slot, buckets)


def _counted_together(
    searcher: tantivy.Searcher, query: tantivy.Query, slot: str, buckets: dict[str, Any]
) -> dict[str, float]:
    """All ranges in one pass over the hits; a bucket each, for ranges may overlap. For fields with one number a document."""
    asked = {
        str(place): {"range": {"field": slot, "ranges": [{"key": "in", **bounds}]}}
        for place, bounds in enumerate(buckets.values())
    }
    found = searcher.aggregate(query, asked) if asked else {}
    return {label: _inside(found[str(place)]["buckets"]) for place, label in enumerate(buckets)}


def _inside(buckets: list[dict[str, Any]]) -> float:
    return next((float(bucket["doc_count"]) for bucket in buckets if bucket["key"] == "in"), 0.0)


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


def count_range(
    searcher: tantivy.Searcher, compiler: Compiler, query: tantivy.Query, field: str, node: RangeOf
) -> float:
    within = compiler.query(RangeOf(field, node.low, node.high, node.with_low, node.with_high))
    return float(searcher.search(compiler.joined([("must", query), ("must", within)]), limit=1).count)


def drilled(index: SearchIndex, compiler: Compiler, query: tantivy.Query, asked: Any) -> tantivy.Query:
    """The query with `[["field", "value", ..], ..]` as filters: any value of a field will do. Errors: 400."""
    if not asked:
        return query
    chosen: dict[str, list[str]] = {}
    for item in [asked] if isinstance(asked, list) and isinstance(asked[0], str) else asked:
        if not isinstance(item, list) or len(item) < 2 or not all(isinstance(part, str) for part in item):
            raise bad_request("invalid drilldown query")
        chosen.setdefault(item[0], []).extend(item[1:])
    parts = [("must", query)]
    for field, values in chosen.items():
        slot = index.field("facet", field)
        matching = (
            tantivy.Query.term_set_query(index.schema, slot, values) if slot else tantivy.Query.empty_query()
        )
        parts.append(("must", tantivy.Query.const_score_query(matching, 0.0)))
    return compiler.joined(parts)
