"""What was made of the database's answer to one read, kept with a digest of that answer, and used again while the answer is the same.

The database is asked every time: what is sent is never older than what it says now, and the read costs it the same. What is
saved is parsing its answer, and all that a handler makes of it; for some seconds also working out again what to ask for.
"""

import threading
import time
from collections.abc import Callable, Hashable
from contextvars import ContextVar
from dataclasses import dataclass
from operator import is_
from typing import Any, Final, Generic, NamedTuple, TypeVar, cast

from .binding import Binding
from .deadline import deadline_at_hand
from .errors import Error

T = TypeVar("T")
Ask = Callable[[], tuple[bytes, bool]]
"""Sends a read: its answer, and whether the index was behind."""

MAX_AGE_SECONDS: Final = 60.0
SAME_READ_SECONDS: Final = 10.0
ENTRY_BYTES: Final = 3000
"""About what an entry takes besides what was made: how to ask for it again is most of it."""


class Made(NamedTuple, Generic[T]):
    """`size` in bytes. One that is not `repeatable` depends on more than the question and the answer: the time, for instance.
    `same_read`: for `SAME_READ_SECONDS` the question (and what is given) leads to the same read. After `max_age` seconds it is made anew."""

    value: T
    size: int
    repeatable: bool
    same_read: bool = False
    max_age: float = MAX_AGE_SECONDS


@dataclass
class _Kept(Generic[T]):
    """Good until `ends`. `ask` sends the `read` again; None where it has to be worked out each time. It was worked out at `read_at`."""

    value: T
    given: tuple[object, ...]
    read: bytes
    digest: int
    ask: Ask | None
    ends: float
    read_at: float
    size: int

    def is_for(self, given: tuple[object, ...]) -> bool:
        is_young = time.monotonic() < self.ends
        return is_young and len(self.given) == len(given) and all(map(is_, self.given, given))

    @property
    def has_same_read(self) -> bool:
        return self.ask is not None and time.monotonic() - self.read_at < SAME_READ_SECONDS


class _SameAnswer(Exception):
    """Leaves the block that would make again what is kept."""


class _Answered(NamedTuple):
    read: bytes
    answer: bytes
    behind: bool


class ReadBlock(Generic[T]):
    """The calls of a block that makes something of one read. The client tells it of each, and has it send the first."""

    def __init__(self, kept: _Kept[T] | None) -> None:
        self._kept, self._deadline = kept, deadline_at_hand()
        self._ahead: _Answered | None = None
        self.calls = 0
        self.read: bytes | None = None
        self.digest = 0
        self.ask: Ask | None = None

    def first_read(self, read: bytes, ask: Ask) -> tuple[bytes, bool]:
        """The answer of the first call, of which `read` says all that was asked. Ends the block when that answer is known."""
        ahead = self._ahead
        if ahead is not None and ahead.read == read:
            answer, behind = ahead.answer, ahead.behind
            self.calls = 1
        else:
            answer, behind = ask()
        if not behind:
            self._compare(read, answer)
            # under a time limit of its own it is sent there alone
            self.ask = ask if deadline_at_hand() is self._deadline else None
        return answer, behind

    def read_ahead(self) -> None:
        """Sends the read that the question led to a moment ago. Ends the block when the answer is the same; else it is there for
        the first call, if that asks the same."""
        if self._kept is None or self._kept.ask is None or not self._kept.has_same_read:
            return
        try:
            answer, behind = self._kept.ask()
        except Error:
            return  # who makes it knows what to do without this read
        finally:
            self.calls = 0
        if not behind:
            self._compare(self._kept.read, answer)
        self._ahead = _Answered(self._kept.read, answer, behind)

    def _compare(self, read: bytes, answer: bytes) -> None:
        self.read, self.digest = read, hash(answer)
        if self._kept is not None and self._kept.read == read and self._kept.digest == self.digest:
            raise _SameAnswer


_block: ContextVar[ReadBlock[Any] | None] = ContextVar("read_block", default=None)


def current_block() -> ReadBlock[Any] | None:
    return _block.get()


class RepeatedReads(Generic[T]):
    """What was made last, by question; the oldest goes when all together is too large. Safe for several threads."""

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes, self._bytes = max_bytes, 0
        self._kept: dict[Hashable, _Kept[T]] = {}
        self._lock = threading.Lock()

    def get(
        self, question: Hashable, make: Callable[[], Made[T]], given: tuple[object, ...] = ()
    ) -> tuple[T, bool]:
        """What `make` makes, and whether it was made before: then `make` ended with its first read, or was not begun.

        `question`, the very objects in `given` and the answer to that read have to decide alone what a repeatable value is;
        what `make` does besides it, it does before the read. What needed more than one call is not kept.
        """
        kept = self._kept.get(question)
        if kept is not None and not kept.is_for(given):
            kept = None
        block = ReadBlock(kept)
        with Binding(_block, block):
            try:
                block.read_ahead()
            except _SameAnswer:
                return cast(_Kept[T], kept).value, True
            try:
                made = make()
            except _SameAnswer:
                same = cast(_Kept[T], kept)
                same.read_at = time.monotonic()
                return same.value, True
        if made.repeatable and block.calls == 1 and block.read is not None:
            now, size = time.monotonic(), made.size + len(block.read) + ENTRY_BYTES
            ask = block.ask if made.same_read else None
            ends = now + made.max_age
            self._keep(question, _Kept(made.value, given, block.read, block.digest, ask, ends, now, size))
        return made.value, False

    def _keep(self, question: Hashable, kept: _Kept[T]) -> None:
        with self._lock:
            before = self._kept.pop(question, None)
            self._bytes += kept.size - (before.size if before is not None else 0)
            self._kept[question] = kept
            while self._bytes > self._max_bytes:
                oldest = next(iter(self._kept))
                self._bytes -= self._kept.pop(oldest).size
