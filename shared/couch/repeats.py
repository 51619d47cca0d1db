"""What was made of the database's answer to one read, kept with a digest of that answer, and used again while the answer is the same.

The database is asked every time: what is sent is never older than what it says now, and the read costs it the same. What is
saved is parsing its answer, and all that a handler makes of it.
"""

import hashlib
import threading
import time
from collections.abc import Callable, Hashable
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, Final, Generic, NamedTuple, TypeVar

from .binding import Binding

T = TypeVar("T")

MAX_AGE_SECONDS: Final = 60.0
ENTRY_BYTES: Final = 1000
"""About what an entry takes besides what was made."""


class Made(NamedTuple, Generic[T]):
    """`size` in bytes. One that is not `repeatable` depends on more than the question and the answer: the time, for instance."""

    value: T
    size: int
    repeatable: bool


@dataclass(frozen=True)
class _Kept(Generic[T]):
    value: T
    given: tuple[object, ...]
    digest: bytes
    made_at: float
    size: int

    def is_for(self, given: tuple[object, ...]) -> bool:
        is_young = time.monotonic() - self.made_at < MAX_AGE_SECONDS
        return is_young and all(map(lambda mine, other: mine is other, self.given, given))


class _SameAnswer(Exception):
    """Leaves the block that would make again what is kept."""

    def __init__(self, kept: "_Kept[Any]") -> None:
        super().__init__()
        self.kept = kept


class ReadBlock:
    """The calls of a block that makes something of one read. The client tells it of each."""

    def __init__(self, find: Callable[[bytes], "_Kept[Any] | None"]) -> None:
        self._find = find
        self.calls = 0
        self.read: bytes | None = None
        self.digest = b""

    def answered(self, read: bytes, answer: bytes) -> None:
        """`read` says all that was asked, and was the first call. Ends the block when its answer is known."""
        self.read, self.digest = read, hashlib.sha256(answer).digest()
        kept = self._find(read)
        if kept is not None and kept.digest == self.digest:
            raise _SameAnswer(kept)


_block: ContextVar[ReadBlock | None] = ContextVar("read_block", default=None)


def current_block() -> ReadBlock | None:
    return _block.get()


class RepeatedReads(Generic[T]):
    """What was made, by question and read; the oldest goes when all together is too large. Safe for several threads."""

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes, self._bytes = max_bytes, 0
        self._kept: dict[tuple[Hashable, bytes], _Kept[T]] = {}
        self._lock = threading.Lock()

    def get(
        self, question: Hashable, make: Callable[[], Made[T]], given: tuple[object, ...] = ()
    ) -> tuple[T, bool]:
        """What `make` makes, and whether it was made before: then `make` ended with its first read.

        `question`, the very objects in `given` and the answer to that read have to decide alone what a repeatable value is;
        what `make` does besides it, it does before the read. What needed more than one call is not kept.
        """

        def find(read: bytes) -> _Kept[T] | None:
            kept = self._kept.get((question, read))
            return kept if kept is not None and kept.is_for(given) else None

        block = ReadBlock(find)
        try:
            with Binding(_block, block):
                made = make()
        except _SameAnswer as same:
            value: T = same.kept.value
            return value, True
        if made.repeatable and block.calls == 1 and block.read is not None:
            size = made.size + len(block.read) + ENTRY_BYTES
            self._keep((question, block.read), _Kept(made.value, given, block.digest, time.monotonic(), size))
        return made.value, False

    def _keep(self, key: tuple[Hashable, bytes], kept: _Kept[T]) -> None:
        with self._lock:
            before = self._kept.pop(key, None)
            self._bytes += kept.size - (before.size if before is not None else 0)
            self._kept[key] = kept
            while self._bytes > self._max_bytes:
                oldest = next(iter(self._kept))
                self._bytes -= self._kept.pop(oldest).size
