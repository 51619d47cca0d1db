"""Messages over a pipe: four bytes of length, then the bytes."""

import struct
from typing import Protocol

_LENGTH = struct.Struct(">I")


class Readable(Protocol):
    def read(self, size: int, /) -> bytes | None: ...


class Writable(Protocol):
    def write(self, data: bytes, /) -> object: ...


def write_frame(stream: Writable, data: bytes) -> None:
    stream.write(_LENGTH.pack(len(data)))
    stream.write(data)


def read_frame(stream: Readable) -> bytes | None:
    """The next message, None where the stream ends."""
    head = _read(stream, _LENGTH.size)
    if head is None:
        return None
    (size,) = _LENGTH.unpack(head)
    return _read(stream, size)


def _read(stream: Readable, size: int) -> bytes | None:
    data = bytearray()
    while len(data) < size:
        piece = stream.read(size - len(data))
        if not piece:
            return None
        data += piece
    return bytes(data)
