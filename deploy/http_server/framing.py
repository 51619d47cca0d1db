"""Where a request ends, found without parsing more of it than that: gunicorn's parser reads it afterwards, and refuses what is wrong."""

import re
from dataclasses import dataclass

MAX_HEAD = 64 * 1024
MAX_BUFFERED_BODY = 1024 * 1024
MAX_SCANNED_CHUNKS = 1024

_HEADER = re.compile(rb"\r\n(content-length|transfer-encoding|expect)[ \t]*:[ \t]*([^\r\n]*)", re.IGNORECASE)
_CHUNK_SIZE = re.compile(rb"([0-9a-fA-F]{1,8})[ \t]*(?:;[^\r\n]*)?")
_BARE_LINE_FEED = re.compile(rb"(?<!\r)\n")


class NotBuffered(Exception):
    """The body is larger than what is buffered, or its end cannot be seen from here: its reader will see."""


@dataclass(slots=True)
class Framing:
    """What a request's head says of its body. `malformed`: the parser will refuse it, and nothing after it is a request."""

    head: int
    length: int = 0
    chunked: bool = False
    expects_continue: bool = False
    malformed: bool = False
    position: int = 0
    chunks: int = 0

    def end(self, data: bytearray) -> int | None:
        """Where the request in `data` ends, None while more must come. Raises NotBuffered."""
        if self.malformed:
            return len(data)
        if self.chunked:
            end = self._end_of_chunks(data)
            if end is None and len(data) - self.head > MAX_BUFFERED_BODY:
                raise NotBuffered
            return end
        if self.length > MAX_BUFFERED_BODY:
            raise NotBuffered
        end = self.head + self.length
        return end if len(data) >= end else None

    def _end_of_chunks(self, data: bytearray) -> int | None:
        """Goes on where the last call stopped: `position` is where the next chunk's size begins."""
        while (line_end := data.find(b"\r\n", self.position)) >= 0:
            size = _CHUNK_SIZE.fullmatch(data, self.position, line_end)
            self.chunks += 1
            if size is None or self.chunks > MAX_SCANNED_CHUNKS:
                raise NotBuffered
            length = int(size[1], 16)
            if length == 0:
                end = data.find(b"\r\n\r\n", line_end)
                return end + 4 if end >= 0 else None
            if line_end + length + 4 > len(data):
                return None
            self.position = line_end + length + 4
        return None


def read_framing(data: bytearray, searched: int) -> Framing | None:
    """The framing of the request that `data` begins with, None while its head is not complete; `searched` bytes were looked at before."""
    end = data.find(b"\r\n\r\n", max(0, searched - 3))
    if end < 0:
        if _BARE_LINE_FEED.search(data, searched):
            return Framing(len(data), malformed=True)  # its head would never be complete
        return None
    framing = Framing(end + 4, position=end + 4)
    lengths = 0
    for name, value in _HEADER.findall(data, 0, end + 2):
        if name.lower() == b"expect":
            framing.expects_continue = value.strip().lower() == b"100-continue"
            framing.malformed |= not framing.expects_continue
            continue
        lengths += 1
        if name.lower() == b"content-length":
            length = value.strip()
            framing.malformed |= not length.isdigit() or len(length) > 15
            framing.length = 0 if framing.malformed else int(length)
        else:
            framing.chunked = value.lower().rpartition(b",")[2].strip() == b"chunked"
            framing.malformed |= not framing.chunked
    framing.malformed |= lengths > 1
    return framing
