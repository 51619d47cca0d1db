"""What is read in batches and written in batches: the next one is made while the last one is written."""

from collections.abc import Generator, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from typing import TypeVar

T = TypeVar("T")


def read_ahead(items: Iterable[T]) -> Generator[T, None, None]:
    """The same items, each of them made by a thread, in the caller's context, while its caller is busy with the one before. What goes wrong in
    making one is raised where it is asked for. Ends with the item under way when its caller asks for no more."""
    context, source = copy_context(), iter(items)
    with ThreadPoolExecutor(1, "read-ahead") as thread:
        coming = thread.submit(context.run, _next_of, source)
        while found := coming.result():
            coming = thread.submit(context.run, _next_of, source)
            yield found[0]


def _next_of(source: Iterator[T]) -> tuple[T] | None:
    """None at the end, which a future cannot raise: StopIteration would end the generator that asks."""
    for item in source:
        return (item,)
    return None
