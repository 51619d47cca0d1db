"""Counts of facet values and of number ranges among the hits, and the filters of `drilldown`."""

from typing import Any

import tantivy

from deploy.local.minicouch.errors import CouchError, bad_request

from .compiling import Compiler
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
    searcher: tantivy.Searcher, compiler: Compiler, query: tantivy.Query, asked: Any
) -> dict[str, Any]:
    """{field: {label: how many hits}} for {field: {label: "[1 TO 5]"}}. Errors: 400."""
    if not isinstance(asked, dict):
        raise bad_request("ranges must be an object")
    return {
        field: {
            label: _count(searcher, compiler, query, field, text) for label, text in _labels(labels).items()
        }
        for field, labels in asked.items()
    }


def _labels(labels: Any) -> dict[str, str]:
    if not isinstance(labels, dict) or not all(isinstance(text, str) for text in labels.values()):
        raise bad_request("ranges must map labels to range queries")
    return labels


def _count(
    searcher: tantivy.Searcher, compiler: Compiler, query: tantivy.Query, field: str, text: str
) -> float:
    node = parse(text)
    if not isinstance(node, RangeOf):
        raise CouchError(400, "bad_request", f"{text} was not a well-formed range specification")
    return count_range(searcher, compiler, query, field, node)


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
