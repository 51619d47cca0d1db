"""`_count`, and what depends on the order of rows or values: `_top_N`, `_bottom_N`, `_first`, `_last`."""

from collections.abc import Callable, Sequence
from typing import Any

import orjson

from .base import BuiltIn, Row, State, values_of


class Count(BuiltIn):
    """`_count`: how many rows."""

    def of_rows(self, rows: Sequence[Row]) -> int:
        return len(rows)

    def of_states(self, states: Sequence[int]) -> int:
        return sum(states)

    def join(self, old: int, new: int) -> int:
        return old + new


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
