"""Key ranges from selectors: what an index scan can answer, column by column (mango_idx_view.erl)."""

from dataclasses import dataclass
from typing import Any

from ..collation import sort_key
from .selector import Field, Node

_INDEXABLE = {"$lt", "$lte", "$eq", "$gt", "$gte", "$beginsWith", "$exists"}
HIGHEST_TEXT = "\uffff"


@dataclass(frozen=True, slots=True)
class Bound:
    """One end of a range: operator, value and the value's collation key; `open_ended` when nothing bounds it."""

    operator: str
    value: Any
    key: bytes
    open_ended: bool = False


@dataclass(frozen=True, slots=True)
class FieldRange:
    low: Bound
    high: Bound

    @property
    def is_value(self) -> bool:
        return self.low.operator == "$eq"


LOWEST = Bound("$gt", None, b"", True)
HIGHEST = Bound("$lt", None, b"\xff", True)
EVERYTHING = FieldRange(LOWEST, HIGHEST)
EVERY_ID = FieldRange(Bound("$gt", None, sort_key(None)), HIGHEST)


def indexable_paths(node: Node) -> list[Field]:
    if not node:
        return []
    name, argument = node
    if name == "$and":
        return sorted({path for part in argument for path in indexable_paths(part)})
    if isinstance(name, tuple) and argument[0] in _INDEXABLE:
        return [name]
    return []


def indexable_fields(node: Node) -> list[str]:
    return ["".join(path) for path in indexable_paths(node)]


def field_ranges(node: Node) -> list[tuple[str, FieldRange | None]]:
    """(field, range) of each field that a scan could use; a range of None is empty, and then the only one."""
    ranges: list[tuple[str, FieldRange | None]] = []
    for path in indexable_paths(node):
        found = _range(node, path, EVERYTHING)
        if found is None:
            return [("".join(path), None)]
        ranges.append(("".join(path), found))
    return ranges


def _range(node: Node, path: Field, so_far: FieldRange | None) -> FieldRange | None:
    name, argument = node
    if name == "$and":
        for part in argument:
            if so_far is None:
                return None
            so_far = _range(part, path, so_far)
        return so_far
    return _narrow(argument, so_far) if name == path and so_far is not None else so_far


def _narrow(condition: Node, current: FieldRange) -> FieldRange | None:
    operator, value = condition
    if operator == "$beginsWith":
        lower = _narrow(("$gte", value), current)
        return None if lower is None else _narrow(("$lte", value + HIGHEST_TEXT), lower)
    narrow = _NARROWERS.get(operator)
    return current if narrow is None else narrow(Bound(operator, value, sort_key(value)), current)


def _value(bound: Bound) -> FieldRange:
    exact = Bound("$eq", bound.value, bound.key)
    return FieldRange(exact, exact)


def _closed(bound: Bound) -> bool:
    return bound.operator in ("$gte", "$lte", "$eq")


def _lt(bound: Bound, now: FieldRange) -> FieldRange | None:
    if bound.key <= now.low.key:
        return None
    return FieldRange(now.low, bound) if bound.key <= now.high.key else now


def _lte(bound: Bound, now: FieldRange) -> FieldRange | None:
    if bound.key < now.low.key:
        return None
    if bound.key == now.low.key:
        return _value(bound) if _closed(now.low) else None
    return FieldRange(now.low, bound) if bound.key < now.high.key else now


def _eq(bound: Bound, now: FieldRange) -> FieldRange | None:
    if bound.key < now.low.key or bound.key > now.high.key:
        return None
    if bound.key == now.low.key:
        return _value(bound) if _closed(now.low) else None
    if bound.key == now.high.key:
        return _value(bound) if _closed(now.high) else None
    return _value(bound)


def _gte(bound: Bound, now: FieldRange) -> FieldRange | None:
    if bound.key <= now.low.key:
        return now
    if bound.key < now.high.key:
        return FieldRange(bound, now.high)
    return _value(bound) if bound.key == now.high.key and _closed(now.high) else None


def _gt(bound: Bound, now: FieldRange) -> FieldRange | None:
    if bound.key < now.low.key:
        return now
    return FieldRange(bound, now.high) if bound.key < now.high.key else None


_NARROWERS = {"$lt": _lt, "$lte": _lte, "$eq": _eq, "$gte": _gte, "$gt": _gt}


def start_key(ranges: list[FieldRange]) -> list[Any]:
    """The values a scan starts with; shorter than the columns when a column has no lower bound."""
    key = []
    for found in ranges:
        if found.low.open_ended:
            break
        key.append(found.low.value)
    return key


def end_key(ranges: list[FieldRange]) -> list[Any]:
    """The values a scan ends with; everything that starts with them is still inside."""
    key = []
    for found in ranges:
        if found.high.open_ended:
            break
        key.append(found.high.value)
    return key
