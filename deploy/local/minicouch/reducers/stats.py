"""`_stats`: sum, count, least, largest and sum of squares."""

from collections.abc import Sequence
from typing import Any

import orjson

from ..encoding.erlang_terms import erlang_text
from ..errors import CouchError
from .base import NUMBERS, BuiltIn, Row, State, values_of

STATS_ERROR = "The _stats function requires that map values be numbers or arrays of numbers, not '%s'"
STATS_FIELDS = ("sum", "count", "min", "max", "sumsqr")


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
