"""What an index asks of a reduce, and what the built-in ones share."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, Protocol

import orjson

Row = tuple[bytes, str, bytes]
State = Any

OVERFLOW = 5000
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
