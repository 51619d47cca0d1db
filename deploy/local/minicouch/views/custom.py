"""A reduce written in JavaScript, seen as a reducer: many groups go to V8 in one call."""

from collections.abc import Sequence
from typing import Any

import orjson

from .. import javascript
from ..reducers import OVERFLOW, Row, State

OVERFLOWED = "reduce_overflow_error"


class CustomReduce:
    """Errors: CouchError when the function does not compile or overruns its limits."""

    def __init__(self, source: str) -> None:
        self._source = source

    def reduce(self, groups: Sequence[Sequence[Row]]) -> list[State]:
        return self._run([self._rows(rows) for rows in groups])

    def rereduce(self, groups: Sequence[Sequence[State]]) -> list[State]:
        inputs = [b"[null," + orjson.dumps(states) + b"]" for states in groups if not overflow(states)]
        answers = iter(self._run(inputs))
        return [overflow(states) or next(answers) for states in groups]

    def join(self, old: State, new: State) -> State | None:
        """Nothing says that a function does not care for the order of rows."""

    def finish(self, states: Sequence[State]) -> list[Any]:
        """A cluster always joins what its shards found, be it one state: so functions wrong about that show it."""
        return self.rereduce([[state] for state in states])

    def check(self, values: Sequence[bytes]) -> None:
        """A function may take anything."""

    def _rows(self, rows: Sequence[Row]) -> bytes:
        """Last row first, as CouchDB passes them."""
        keys = b",".join([b"[" + k + b"," + orjson.dumps(docid) + b"]" for k, docid, _ in reversed(rows)])
        return b"[[" + keys + b"],[" + b",".join([row[2] for row in reversed(rows)]) + b"]]"

    def _run(self, inputs: list[bytes]) -> list[State]:
        if not inputs:
            return []
        states = javascript.reduce_batches(self._source, b"[" + b",".join(inputs) + b"]")
        return [self._limited(state, len(given)) for state, given in zip(states, inputs, strict=True)]

    def _limited(self, state: State, given: int) -> State:
        """A reduce that hardly shrinks its input would make the index as large as the data; CouchDB refuses it."""
        if not isinstance(state, str | list | dict):
            return state
        size = len(orjson.dumps(state))
        if size > OVERFLOW and size * 2 > given:
            reason = f"Reduce output must shrink more rapidly: input size: {given} output size: {size}"
            return {OVERFLOWED: reason}
        return state


def overflow(states: Sequence[State]) -> State | None:
    return next((s for s in states if isinstance(s, dict) and list(s) == [OVERFLOWED]), None)
