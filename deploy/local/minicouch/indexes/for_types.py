"""Sends the functions of an index only documents of a type that they may be for."""

from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

import orjson

from ..store import StoredDoc

T = TypeVar("T")


def run_for_types(
    wanted_types: Iterable[frozenset[str] | None],
    docs: Sequence[StoredDoc],
    run: Callable[[list[StoredDoc]], list[T]],
    nothing: Callable[[], T],
) -> list[T]:
    """What `run` gives for each document that one of the functions may be for, and `nothing` for the others. `wanted_types`: of each function
    the types that it may do anything with, None where that is any."""
    types: set[str] = set()
    for own in wanted_types:
        if own is None:
            return run(list(docs))
        types |= own
    marks = [b'"type":' + orjson.dumps(each) for each in types]
    wanted = [any(mark in doc.body for mark in marks) for doc in docs]
    chosen = [doc for doc, is_wanted in zip(docs, wanted, strict=True) if is_wanted]
    made = iter(run(chosen) if chosen else ())
    return [next(made) if is_wanted else nothing() for is_wanted in wanted]
