"""What the launcher writes to the terminal: each line behind its process's name, in that process's colour."""

import asyncio
import os
import sys
from asyncio import StreamReader
from collections.abc import AsyncIterator, Iterable

COLOURS = ("36", "33", "32", "35", "34", "96", "93", "92", "95", "94")


class Console:
    """Prefixes lines; colours them on a terminal unless NO_COLOR is set."""

    def __init__(self, names: Iterable[str]) -> None:
        names = list(names)
        self._width = max(map(len, names), default=0)
        self._colours = {name: COLOURS[place % len(COLOURS)] for place, name in enumerate(names)}
        self._coloured = sys.stdout.isatty() and "NO_COLOR" not in os.environ

    def line(self, name: str, text: str) -> None:
        prefix = f"{name:<{self._width}} |"
        if self._coloured:
            prefix = f"\033[{self._colours.get(name, '1')}m{prefix}\033[0m"
        print(prefix, text, flush=True)

    def say(self, text: str) -> None:
        """The launcher's own words."""
        print(f"\033[1m{text}\033[0m" if self._coloured else text, flush=True)


async def open_pipe(descriptor: int) -> StreamReader:
    """The reading end of a pipe as a stream, which closes it."""
    stream = StreamReader()
    loop = asyncio.get_running_loop()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(stream), os.fdopen(descriptor, "rb", 0))
    return stream


async def lines(stream: StreamReader) -> AsyncIterator[str]:
    """The lines of a stream, however long, as soon as they are whole."""
    rest = b""
    while chunk := await stream.read(65536):
        *whole, rest = (rest + chunk).split(b"\n")
        for line in whole:
            yield line.decode(errors="replace").rstrip("\r")
    if rest:
        yield rest.decode(errors="replace")
