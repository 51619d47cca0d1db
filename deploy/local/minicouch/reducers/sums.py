"""`_sum`: numbers, arrays and objects of them."""

from collections.abc import Sequence
from itertools import chain
from typing import Any

from ..encoding.whole_numbers import dumps
from .base import NUMBERS, OVERFLOW, BuiltIn, Row, State, values_of

SUM_ERROR = (
    "The _sum function requires that map values be numbers, arrays of numbers, or objects. Objects cannot be mixed "
    "with other data structures. Objects can be arbitrarily nested, provided that the values for all fields are "
    "themselves numbers, arrays of numbers, or objects."
)


class SumRefused(Exception):
    """`_sum` met a value it cannot add."""

    def __init__(self, cause: Any) -> None:
        self.cause = cause


class Sum(BuiltIn):
    """`_sum`: numbers, arrays position by position (padded), objects field by field."""

    def of_rows(self, rows: Sequence[Row]) -> State:
        return self.of_states(values_of(rows))

    def of_states(self, states: Sequence[State]) -> State:
        total = total_of(states)
        if is_short(total):
            return total
        out = len(dumps(total))
        if out > OVERFLOW and out * 2 > (size := len(dumps(states))):
            reason = f"Reduce output must shrink more rapidly: input size: {size} output size: {out}"
            return {"error": "builtin_reduce_error", "reason": reason}
        return total

    def join(self, old: State, new: State) -> State | None:
        if not addable(old, new):
            return None
        total = total_of([old, new])
        return total if is_short(total) or len(dumps(total)) <= OVERFLOW else None


def is_short(total: Any) -> bool:
    """Whether a sum is known to stay below OVERFLOW without writing it down."""
    return type(total) in NUMBERS or (type(total) is list and len(total) < OVERFLOW // 25)


def addable(a: Any, b: Any) -> bool:
    """Whether two sums add up to the same whichever comes first: numbers, arrays of them, objects of such."""
    if type(a) is dict:
        return type(b) is dict and all(
            addable(a.get(n, b.get(n)), b.get(n, a.get(n))) for n in a.keys() | b.keys()
        )
    if type(a) is list:
        return type(b) is list and set(map(type, a)) | set(map(type, b)) <= NUMBERS
    return type(a) in NUMBERS and type(b) in NUMBERS


def total_of(values: Sequence[Any]) -> State:
    """The sum of JSON values, or CouchDB's error object."""
    kinds = set(map(type, values))
    if kinds <= NUMBERS:
        return sum(values)
    if kinds == {list}:
        columns = quick_columns(values)
        if columns is not None:
            return columns
    total: Any = 0
    try:
        for value in reversed(values):
            total = add(value, total)
    except SumRefused as e:
        if isinstance(e.cause, dict) and e.cause.get("error") == "builtin_reduce_error":
            return e.cause
        return {"error": "builtin_reduce_error", "reason": SUM_ERROR, "caused_by": e.cause}
    return total


def quick_columns(values: Sequence[list[Any]]) -> list[Any] | None:
    """Column sums of equally long arrays of numbers, None for anything else."""
    if len(set(map(len, values))) != 1 or not set(map(type, chain.from_iterable(values))) <= NUMBERS:
        return None
    return list(map(sum, zip(*values, strict=True)))


def add(value: Any, total: Any) -> Any:
    """One more value onto a sum. Errors: SumRefused."""
    value_number, total_number = type(value) in NUMBERS, type(total) in NUMBERS
    if value_number and total_number:
        return total + value
    if isinstance(value, dict):
        if value.get("error") == "builtin_reduce_error":
            raise SumRefused(value)
        if total_number and total == 0:
            return value
        if isinstance(total, dict):
            return add_objects(value, total)
        raise SumRefused(value)
    if isinstance(value, list) and (total_number or isinstance(total, list)):
        return add_arrays([total] if total_number else total, value)
    if value_number and isinstance(total, list):
        return add_arrays(total, [value])
    raise SumRefused(value)


def add_objects(a: dict[str, Any], b: dict[str, Any]) -> dict[str, Any]:
    names = sorted(a.keys() | b.keys())
    return {n: add(a[n], b[n]) if n in a and n in b else a.get(n, b.get(n)) for n in names}


def add_arrays(total: list[Any], value: list[Any]) -> list[Any]:
    out: list[Any] = []
    shared = min(len(total), len(value))
    for i in range(shared):
        if type(total[i]) not in NUMBERS or type(value[i]) not in NUMBERS:
            raise SumRefused(total[i:])
        out.append(total[i] + value[i])
    return out + total[shared:] + value[shared:]
