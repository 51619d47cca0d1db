"""The lines of a request's body, however long it is."""

from collections.abc import Iterator
from typing import IO

_CHUNK, _MARK = 64 * 1024, b"\xef\xbb\xbf"


def lines_of(stream: IO[bytes], longest: int) -> Iterator[tuple[int, bytes | None]]:
    """(number, text) of every line, None for one of more than `longest` bytes; never more than a chunk and a line in memory.

    A byte order mark in front belongs to none of them.
    """
    for number, line in _numbered(stream, longest):
        yield number, line.removeprefix(_MARK) if line and number == 1 else line


def _numbered(stream: IO[bytes], longest: int) -> Iterator[tuple[int, bytes | None]]:
    number, rest, skipping = 1, b"", False
    while chunk := stream.read(_CHUNK):
        *whole, rest = (rest + chunk).split(b"\n")
        for line in whole:
            yield number, None if skipping or len(line) > longest else line
            number, skipping = number + 1, False
        if len(rest) > longest:
            rest, skipping = b"", True
    if rest or skipping:
        yield number, None if skipping else rest
