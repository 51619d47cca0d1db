"""Which index answers a query, and what `_explain` says about those that do not (mango_cursor.erl)."""

from dataclasses import dataclass, field
from typing import Any

from .errors import refusal
from .indexes import Index
from .options import Options
from .ranges import EVERY_ID, FieldRange, field_ranges, indexable_fields
from .selector import Node, fields_of, is_constant, is_text_search, requires
from .text import text_usability

NO_INDEX = "No matching index found, create an index to optimize query time."
HIGH_RATIO = (
    "The number of documents examined is high in proportion to the number of results returned. "
    "Consider adding a more specific index to improve this."
)
_KINDS = ("json", "text", "nouveau", "special")
_ALWAYS_EMPTY = ("$all", "$and", "$or", "$in")


@dataclass(frozen=True, slots=True)
class Candidate:
    """An index with the ranges of its leading columns, and how many of the selector's ranges it leaves unused."""

    index: Index
    prefix: tuple[FieldRange | None, ...]
    distance: int


@dataclass(slots=True)
class Trace:
    """What selection saw, for `_explain`."""

    existing: list[Index]
    in_scope: list[Index]
    usable: list[Index]
    verdicts: dict[Index, list[str]]
    filtered: list[Index] = field(default_factory=list)
    of_kind: list[Index] = field(default_factory=list)
    ranked: list[Candidate] = field(default_factory=list)


@dataclass(slots=True)
class Plan:
    """The chosen index (None only for `_explain`) and its ranges, one a leading column; `empty`: nothing can match."""

    selector: Node
    options: Options
    index: Index | None
    ranges: list[FieldRange]
    empty: bool
    covering: bool
    trace: Trace

    @property
    def descending(self) -> bool:
        return any(direction == "desc" for _, direction in self.options["sort"])

    def index_warnings(self) -> list[str]:
        """What is wrong with the choice of index, as `_find` warns of it."""
        warnings = []
        wanted = self.options["use_index"]
        if self.index is not None and wanted and not _named([self.index], wanted):
            name = _ddoc_name(wanted[0])
            warnings.append(
                f"_design/{name} was not used because it does not contain a valid index for this query."
                if len(wanted) == 1
                else f"_design/{name}, {wanted[1]} was not used because it is not a valid index for this query."
            )
        if self.index is not None and self.index.kind == "special":
            warnings.append(NO_INDEX)
        return warnings


def plan(existing: list[Index], options: Options, *, partitioned: bool, explain: bool = False) -> Plan:
    """Choose an index for checked options. Errors: 400 when the sort or `use_index` cannot be served."""
    selector, wanted = options["selector"], options["use_index"]
    trace = _usable(existing, options)
    if not trace.usable and not explain:
        raise _sort_error(partitioned, bool(options["partition"]))
    filtered = _named(trace.usable, wanted)
    if not filtered:
        if not (options["allow_fallback"] or (not wanted and len(trace.usable) > 1)):
            raise _unsuitable(wanted)
        filtered = trace.usable
    if not filtered:
        return Plan(selector, options, None, [], False, False, trace)
    trace.filtered = filtered
    kind = next(kind for kind in _KINDS if any(index.kind == kind for index in filtered))
    trace.of_kind = [index for index in filtered if index.kind == kind]
    if trace.of_kind[0].is_text:
        return _text_plan(selector, options, trace)
    return _scan_plan(selector, options, trace, kind)


def _scan_plan(selector: Node, options: Options, trace: Trace, kind: str) -> Plan:
    ranges = field_ranges(selector)
    if kind == "special":
        ranges.append(("_id", EVERY_ID))
    trace.ranked = sorted(
        (_candidate(index, ranges) for index in trace.of_kind),
        key=lambda found: (found.distance, len(found.index.columns), found.index.order),
    )
    best = trace.ranked[0]
    never = bool(selector) and selector[0] in _ALWAYS_EMPTY and selector[1] == []
    chosen = [found for found in best.prefix if found is not None]
    empty = never or (len(best.prefix) == 1 and not chosen)
    fields = options["fields"]
    needed = None if fields is None else sorted({*fields, *fields_of(selector)})
    return Plan(selector, options, best.index, chosen, empty, covers(best.index, needed), trace)


def _text_plan(selector: Node, options: Options, trace: Trace) -> Plan:
    if len(trace.of_kind) > 1:
        kind = trace.of_kind[0].kind
        raise refusal(f"multiple_{kind}_indexes", "You must specify an index with the `use_index` parameter.")
    return Plan(selector, options, trace.of_kind[0], [], False, False, trace)


def _usable(existing: list[Index], options: Options) -> Trace:
    specified = _named(existing, options["use_index"])
    scope = [index for index in existing if index.partial is None or index in specified]
    by_partition = bool(options["partition"])
    scope = [index for index in scope if index.kind == "special" or index.partitioned == by_partition]
    sort = [name for name, _ in options["sort"]]
    verdicts = {index: _objections(index, options["selector"], sort) for index in scope}
    return Trace(existing, scope, [index for index in scope if not verdicts[index]], verdicts)


def _objections(index: Index, selector: Node, sort: list[str]) -> list[str]:
    """Why the index cannot serve the query; empty when it can."""
    if index.is_text:
        return text_usability(index.stored["index"], selector)
    if index.kind == "special":
        if not sort:
            return []
        checks = [
            ("field_mismatch", "_id" in indexable_fields(selector)),
            ("sort_order_mismatch", tuple(sort) == index.columns[: len(sort)]),
        ]
    else:
        needed = [column for column in index.columns if column not in {*sort, "_id", "_rev"}]
        checks = [
            ("needs_text_search", not is_text_search(selector)),
            ("field_mismatch", requires(selector, needed)),
            ("sort_order_mismatch", _sortable(index.columns, sort, selector)),
        ]
    return [reason for reason, passed in checks if not passed]


def _sortable(columns: tuple[str, ...], sort: list[str], selector: Node) -> bool:
    if not sort:
        return True
    for start, column in enumerate(columns):
        if column == sort[0]:
            return list(columns[start : start + len(sort)]) == sort
        if not is_constant(selector, column):
            return False
    return False


def _candidate(index: Index, ranges: list[tuple[str, FieldRange | None]]) -> Candidate:
    prefix = []
    for column in index.columns:
        found = [field_range for name, field_range in ranges if name == column]
        if not found:
            break
        prefix.append(found[0])
    return Candidate(index, tuple(prefix), len(ranges) - len(prefix))


def covers(index: Index, fields: list[str] | None) -> bool:
    """Can the documents' wanted fields be read off the index alone?"""
    return index.kind == "json" and fields is not None and set(fields) <= {"_id", *index.columns}


def _named(indexes: list[Index], wanted: tuple[str, ...]) -> list[Index]:
    if not wanted:
        return []
    ddoc = f"_design/{_ddoc_name(wanted[0])}"
    return [
        index for index in indexes if index.ddoc == ddoc and (len(wanted) == 1 or index.name == wanted[1])
    ]


def _ddoc_name(ddoc: str) -> str:
    return ddoc.removeprefix("_design/")


def _sort_error(partitioned: bool, by_partition: bool) -> Exception:
    scope = "" if not partitioned else "partitioned " if by_partition else "global "
    return refusal(
        "no_usable_index", f"No {scope}index exists for this sort, try indexing by the sort fields."
    )


def _unsuitable(wanted: tuple[str, ...]) -> Exception:
    if not wanted:
        return refusal("invalid_index", "You must specify an index with the `use_index` parameter.")
    named = ", ".join([f"_design/{_ddoc_name(wanted[0])}", *wanted[1:]])
    return refusal(
        "invalid_index", f"{named} specified by `use_index` could not be found or it is not suitable."
    )


def scan_warning(examined: int, returned: int, threshold: int = 10) -> list[str]:
    """CouchDB warns when it reads many more documents than it answers with."""
    ratio = examined / returned if returned else examined
    return [HIGH_RATIO] if threshold > 0 and ratio > threshold else []


def plan_json(chosen: Plan) -> Any:
    return None if chosen.index is None else chosen.index.to_json()
