"""The built-in reduces as pure functions over stored rows and stored partial results, refusals included.

A reducer works on many groups at once: `reduce` turns rows into states, `rereduce` joins states (given in key order),
`finish` makes the answers of states. A state is plain JSON, so that indexes can keep it. A row is
`(key JSON, document id, value JSON)`, as bytes, str, bytes.
"""

import base64
import hashlib
import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Protocol

import orjson

from .encoding.erlang_terms import erlang_text
from .encoding.whole_numbers import dumps
from .errors import CouchError

Row = tuple[bytes, str, bytes]
State = Any

SUM_ERROR = (
    "The _sum function requires that map values be numbers, arrays of numbers, or objects. Objects cannot be mixed "
    "with other data structures. Objects can be arbitrarily nested, provided that the values for all fields are "
    "themselves numbers, arrays of numbers, or objects."
)
STATS_ERROR = "The _stats function requires that map values be numbers or arrays of numbers, not '%s'"
STATS_FIELDS = ("sum", "count", "min", "max", "sumsqr")
OVERFLOW = 5000
MAX_RANK = 100
NUMBERS = frozenset((int, float))


class Reducer(Protocol):
    """What an index asks of a reduce. `check` sees the JSON values of new rows and refuses what may not be indexed; `join`
    adds the state of new rows, wherever among the old ones they are, and is None where only all rows can tell."""

    def reduce(self, groups: Sequence[Sequence[Row]]) -> list[State]: ...
    def rereduce(self, groups: Sequence[Sequence[State]]) -> list[State]: ...
    def join(self, old: State, new: State) -> State | None: ...
    def finish(self, states: Sequence[State]) -> list[Any]: ...
    def check(self, values: Sequence[bytes]) -> None: ...


def values_of(rows: Sequence[Row]) -> list[Any]:
    return orjson.loads(b"[" + b",".join([row[2] for row in rows]) + b"]")


class BuiltIn(ABC):
    """Shared shape: a state for rows, a joined state, an answer."""

    def reduce(self, groups: Sequence[Sequence[Row]]) -> list[State]:
        return [self.of_rows(rows) for rows in groups]

    def rereduce(self, groups: Sequence[Sequence[State]]) -> list[State]:
        return [states[0] if len(states) == 1 else self.of_states(states) for states in groups]

    def join(self, old: State, new: State) -> State | None:
        """Most depend on the order of rows."""
        return None

    def finish(self, states: Sequence[State]) -> list[Any]:
        return [self.finalize(state) for state in states]

    def finalize(self, state: State) -> Any:
        return state

    def check(self, values: Sequence[bytes]) -> None:
        """Most take anything."""
        return None

    @abstractmethod
    def of_rows(self, rows: Sequence[Row]) -> State:
        """The state of some rows."""

    @abstractmethod
    def of_states(self, states: Sequence[State]) -> State:
        """The state of all rows of which these are the states of parts."""


class Count(BuiltIn):
    """`_count`: how many rows."""

    def of_rows(self, rows: Sequence[Row]) -> int:
        return len(rows)

    def of_states(self, states: Sequence[int]) -> int:
        return sum(states)

    def join(self, old: int, new: int) -> int:
        return old + new


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
        if type(total) in NUMBERS or (type(total) is list and len(total) < OVERFLOW // 25):
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
        return total if type(total) in NUMBERS or len(dumps(total)) <= OVERFLOW else None


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
    if len(set(map(len, values))) != 1:
        return None
    columns = list(zip(*values, strict=True))
    if all(set(map(type, column)) <= NUMBERS for column in columns):
        return [sum(column) for column in columns]
    return None


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


class StatsRefused(Exception):
    """`_stats` met a value it cannot count; the text is the reason."""


class Stats(BuiltIn):
    """`_stats`: sum, count, min, max and sum of squares of numbers, arrays position by position, or of such objects."""

    def of_rows(self, rows: Sequence[Row]) -> State:
        values = values_of(rows)
        if values and set(map(type, values)) <= NUMBERS:
            return {
                "sum": sum(values),
                "count": len(values),
                "min": min(values),
                "max": max(values),
                "sumsqr": sum([v * v for v in values]),
            }
        return self.of_states(values)

    def of_states(self, states: Sequence[State]) -> State:
        if not states:
            return dict.fromkeys(STATS_FIELDS, 0)
        try:
            total = stats_start(states[0])
            for value in states[1:]:
                total = stats_add(value, total)
        except StatsRefused as e:
            return {"refused": str(e)}
        return total

    def join(self, old: State, new: State) -> State | None:
        total = self.of_states([old, new])
        return None if isinstance(total, dict) and "refused" in total else total

    def check(self, values: Sequence[bytes]) -> None:
        """Errors: 500 invalid_value for what is no number; the index does not get past such a row."""
        parsed = orjson.loads(b"[" + b",".join(values) + b"]")
        if not set(map(type, parsed)) <= NUMBERS:
            try:
                for value in parsed:
                    stats_start(value)
            except StatsRefused as e:
                raise CouchError(500, "invalid_value", str(e)) from None

    def finalize(self, state: State) -> Any:
        """Errors: 500 invalid_value when values do not go together."""
        if isinstance(state, dict) and "refused" in state:
            raise CouchError(500, "invalid_value", state["refused"])
        return state


def stats_start(value: Any) -> State:
    if isinstance(value, list):
        return [stats_start(v) for v in value]
    if type(value) in NUMBERS:
        return {"sum": value, "count": 1, "min": value, "max": value, "sumsqr": value * value}
    if isinstance(value, dict):
        return stats_unpack(value)
    raise StatsRefused(f"non-numeric _stats input: {erlang_text(value)}")


def stats_unpack(value: dict[str, Any]) -> dict[str, Any]:
    if "refused" in value:
        raise StatsRefused(value["refused"])
    out = {}
    for name in STATS_FIELDS:
        if name not in value:
            raise StatsRefused(
                f"user _stats input missing required field {name} ({erlang_text(list(value.items()))})"
            )
        if type(value[name]) not in NUMBERS:
            raise StatsRefused(f"non-numeric _stats input received for {name}: {erlang_text(value[name])}")
        out[name] = value[name]
    return out


def stats_add(value: Any, total: State) -> State:
    if isinstance(value, list) and isinstance(total, list):
        if len(value) != len(total):
            raise StatsRefused("arrays of different lengths")
        return [stats_add(v, t) for v, t in zip(value, total, strict=True)]
    if isinstance(value, list) or isinstance(total, list):
        raise StatsRefused(STATS_ERROR % erlang_text(value))
    if type(value) not in NUMBERS and not isinstance(value, dict):
        raise StatsRefused(STATS_ERROR % erlang_text(value))
    one = stats_start(value)
    return {
        "sum": one["sum"] + total["sum"],
        "count": one["count"] + total["count"],
        "min": min(one["min"], total["min"]),
        "max": max(one["max"], total["max"]),
        "sumsqr": one["sumsqr"] + total["sumsqr"],
    }


class Distinct(BuiltIn):
    """`_approx_count_distinct`: how many different keys; exact up to 256, beyond that HyperLogLog with 2^11 registers."""

    exact = 256
    bits = 11

    def of_rows(self, rows: Sequence[Row]) -> State:
        hashes = {hashlib.blake2b(row[0], digest_size=7).hexdigest() for row in rows}
        return self._small(hashes)

    def of_states(self, states: Sequence[State]) -> State:
        small = set().union(*(s for s in states if isinstance(s, list)))
        large = [base64.b64decode(s) for s in states if isinstance(s, str)]
        if not large:
            return self._small(small)
        registers = bytearray(map(max, *large, bytes(1 << self.bits)))
        return self._encode(registers, small)

    def join(self, old: State, new: State) -> State:
        return self.of_states([old, new])

    def finalize(self, state: State) -> int:
        if isinstance(state, list):
            return len(state)
        registers = base64.b64decode(state)
        m = len(registers)
        estimate = 0.7213 / (1 + 1.079 / m) * m * m / sum(2.0**-r for r in registers)
        zeros = registers.count(0)
        return round(m * math.log(m / zeros)) if estimate <= 2.5 * m and zeros else round(estimate)

    def _small(self, hashes: set[str]) -> State:
        return (
            sorted(hashes) if len(hashes) <= self.exact else self._encode(bytearray(1 << self.bits), hashes)
        )

    def _encode(self, registers: bytearray, hashes: Iterable[str]) -> str:
        width = 56 - self.bits
        for text in hashes:
            number = int(text, 16)
            rest = number & ((1 << width) - 1)
            slot = number >> width
            registers[slot] = max(registers[slot], width - rest.bit_length() + 1)
        return base64.b64encode(registers).decode()


class Ranked(BuiltIn):
    """`_top_N` and `_bottom_N`: the N largest or smallest different values, in collation order."""

    def __init__(self, n: int, largest: bool, order: Callable[[Any], bytes]) -> None:
        self._n = n
        self._largest = largest
        self._order = order

    def of_rows(self, rows: Sequence[Row]) -> State:
        return self._best(values_of(rows))

    def of_states(self, states: Sequence[State]) -> State:
        return self._best([value for state in states for value in state])

    def _best(self, values: list[Any]) -> list[Any]:
        different = {self._order(v): v for v in values}
        return [different[k] for k in sorted(different, reverse=self._largest)[: self._n]]


class Edge(BuiltIn):
    """`_first` and `_last`: the value of the lowest or highest row."""

    def __init__(self, position: int) -> None:
        self._position = position

    def of_rows(self, rows: Sequence[Row]) -> State:
        return [orjson.loads(rows[self._position][2])] if rows else []

    def of_states(self, states: Sequence[State]) -> State:
        held = [s for s in states if s]
        return held[self._position] if held else []

    def finalize(self, state: State) -> Any:
        return state[0] if state else []


def built_in(source: str, order: Callable[[Any], bytes]) -> BuiltIn:
    """The reducer a `_name` stands for; `order` gives a value's collation key. Errors: 400 invalid_design_doc."""
    for prefix, make in (
        ("_sum", Sum),
        ("_count", Count),
        ("_stats", Stats),
        ("_approx_count_distinct", Distinct),
        ("_first", lambda: Edge(0)),
        ("_last", lambda: Edge(-1)),
    ):
        if source.startswith(prefix):
            return make()
    for prefix, largest in (("_top_", True), ("_bottom_", False)):
        if source.startswith(prefix):
            return Ranked(rank_of(source, prefix), largest, order)
    raise CouchError(400, "invalid_design_doc", f"`{source}` is not a supported reduce function.")


def rank_of(source: str, prefix: str) -> int:
    text = source[len(prefix) :]
    if not text.isdigit():
        raise CouchError(400, "invalid_design_doc", "invalid rank reducer")
    if not 1 <= int(text) <= MAX_RANK:
        raise CouchError(400, "invalid_design_doc", f"rank value must be between 1 and {MAX_RANK}")
    return int(text)
