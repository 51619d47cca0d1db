"""A reduce written in JavaScript, seen as a reducer: many groups go to V8 in one call."""

from collections.abc import Sequence
from typing import Any

import orjson

from .. import javascript
from ..reducers import OVERFLOW, Row, State

OVERFLOWED = "reduce_overflow_error"


class CustomReduce:
    """Errors: CouchError when the function does not compile or overruns its limits."""

    mergeable = False

    def __init__(self, source: str, context: str) -> None:
        self._source = source
        self._context = context

    def reduce(self, groups: Sequence[Sequence[Row]]) -> list[State]:
        if not groups:
            return []
        inputs = [self._rows(rows) for rows in groups]
        return self._run(inputs)

    def rereduce(self, groups: Sequence[Sequence[State]]) -> list[State]:
        if not groups:
            return []
        answers = iter(
            self._run([b"[null," + orjson.dumps(states) + b"]" for states in groups if not overflow(states)])
        )
        return [overflow(states) or next(answers) for states in groups]

    def finalize(self, state: State) -> Any:
        return state

    def _rows(self, rows: Sequence[Row]) -> bytes:
        keys = b",".join([b"[" + k + b"," + orjson.dumps(docid) + b"]" for k, docid, _ in rows])
        return b"[[" + keys + b"],[" + b",".join([row[2] for row in rows]) + b"]]"

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
            return {OVERFLOWED: f"{reason} context: {self._context}"}
        return state


def overflow(states: Sequence[State]) -> State | None:
    return next((s for s in states if isinstance(s, dict) and list(s) == [OVERFLOWED]), None)
