"""The answer of `_explain`."""

from typing import Any

from .indexes import Index
from .planner import Plan, covers, plan_json
from .ranges import end_key, indexable_fields, start_key
from .selector import Node, fields_of, to_json
from .text import SECTIONS
from .text_query import indexed_by_text, lucene, nouveau_sort_fields, sort_fields

HIGHEST_SHOWN = "<MAX>"


def explain(chosen: Plan, dbname: str, partitioned: bool) -> dict[str, Any]:
    """Errors: 400 for an operator that text indexes do not know, as on every server that has them."""
    options = chosen.options
    fields = list(options["fields"] or ())
    answer = {
        "dbname": dbname,
        "index": plan_json(chosen),
        "partitioned": partitioned,
        "selector": to_json(chosen.selector),
        "opts": _options(options, fields),
        "limit": options["limit"],
        "skip": options["skip"],
        "fields": fields,
        "index_candidates": _candidates(chosen),
        "selector_hints": [_hints(chosen.selector, kind) for kind in ("json", *SECTIONS)],
    }
    if chosen.index is not None and chosen.index.is_text:
        answer["query"] = lucene(chosen.selector)
        answer["partition"] = options["partition"] or None
        if chosen.index.kind == "text":
            answer["sort"] = sort_fields(options["sort"], chosen.selector) or "relevance"
        else:
            answer["sort"] = nouveau_sort_fields(options["sort"]) or None
    elif chosen.index is not None:
        answer["mrargs"] = _scan_arguments(chosen)
        answer["covering"] = chosen.covering
    return answer


def _options(options: dict[str, Any], fields: list[str]) -> dict[str, Any]:
    shown = {name: value for name, value in options.items() if name != "selector"}
    shown["bookmark"] = "nil" if options["bookmark"] is None else options["bookmark"]
    shown["use_index"] = list(options["use_index"])
    shown["sort"] = dict(options["sort"])
    shown["fields"] = fields
    return shown


def _hints(selector: Node, kind: str) -> dict[str, Any]:
    fields = indexable_fields(selector) if kind == "json" else indexed_by_text(selector)
    indexable = {name.split(":", 1)[0] for name in fields}
    return {
        "type": kind,
        "indexable_fields": sorted(indexable),
        "unindexable_fields": sorted(set(fields_of(selector)) - indexable),
    }


def _scan_arguments(chosen: Plan) -> dict[str, Any]:
    first, last = _keys(chosen)
    if chosen.descending:
        first, last = last, first
    options = chosen.options
    return {
        "include_docs": not chosen.covering and options["r"] == 1,
        "view_type": "map",
        "reduce": False,
        "partition": options["partition"] or None,
        "start_key": first,
        "end_key": last,
        "direction": "rev" if chosen.descending else "fwd",
        "stable": options["stable"] or options["stale"] == "ok",
        "update": options["update"] and options["stale"] != "ok",
        "conflicts": options["conflicts"] or "undefined",
    }


def _keys(chosen: Plan) -> tuple[Any, Any]:
    if chosen.empty:
        return None, None
    if chosen.index is not None and chosen.index.kind == "special":
        low, high = chosen.ranges[0].low, chosen.ranges[0].high
        first = "" if low.open_ended else low.value
        return first, HIGHEST_SHOWN if high.open_ended else high.value
    last = end_key(chosen.ranges)
    open_ended = len(last) < len(chosen.ranges) or all(found.high.operator for found in chosen.ranges)
    return start_key(chosen.ranges), [*last, HIGHEST_SHOWN] if open_ended else last


def _candidates(chosen: Plan) -> list[dict[str, Any]]:
    losers = [index for index in chosen.trace.existing if index != chosen.index]
    return [_candidate(chosen, index) for index in reversed(losers)]


def _candidate(chosen: Plan, index: Index) -> dict[str, Any]:
    usable, reason, ranking = _analysis(chosen, index)
    fields = chosen.options["fields"]
    return {
        "index": index.to_json(),
        "analysis": {
            "usable": usable,
            "reasons": [{"name": reason}],
            "ranking": ranking,
            "covering": covers(index, None if fields is None else list(fields))
            if index.kind == "json"
            else None,
        },
    }


def _analysis(chosen: Plan, index: Index) -> tuple[bool, str, int]:
    """(usable, why it was not chosen, rank). As in CouchDB the ranks of all stages that dropped an index add up."""
    found = [(usable, reason, rank) for usable, reason, rank, members in _stages(chosen) if index in members]
    for place, candidate in enumerate(chosen.trace.ranked):
        if candidate.index == index:
            found.append((True, _defeat(chosen, index, candidate.distance), place))
    reasons = [reason for _, reason, _ in found if reason] or chosen.trace.verdicts[index]
    return all(usable for usable, _, _ in found), reasons[0], sum(rank for _, _, rank in found)


def _stages(chosen: Plan) -> list[tuple[bool, str, int, list[Index]]]:
    """What dropped indexes, the first stage first: (still usable, reason, rank, the dropped); later stages rank lower."""
    trace = chosen.trace
    stages = [
        (True, "unfavored_type", [i for i in trace.filtered if i not in trace.of_kind]),
        (True, "excluded_by_user", [i for i in trace.usable if i not in trace.filtered]),
        (False, "", [i for i in trace.in_scope if i not in trace.usable]),
        (
            False,
            "scope_mismatch",
            [i for i in trace.existing if i.partial is None and i not in trace.in_scope],
        ),
        (False, "is_partial", [i for i in trace.existing if i.partial is not None]),
    ]
    ranked = []
    rank = max(1, len(trace.ranked))
    for usable, reason, members in stages:
        ranked.append((usable, reason, rank, members))
        rank += bool(members)
    return ranked[::-1]


def _defeat(chosen: Plan, index: Index, distance: int) -> str:
    if distance > 0:
        return "less_overlap"
    width = len(chosen.index.columns) if chosen.index is not None else 0
    return "too_many_fields" if len(index.columns) > width else "alphabetically_comes_after"
