"""The id of a revision, as CouchDB computes it: an md5 over Erlang's external term format."""

import hashlib
import struct
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from .revisions import parse_rev

UNDEFINED = b"d\x00\x09undefined"
SMALL_INTS = [bytes((97, value)) for value in range(256)]
pack_length = struct.Struct(">BI").pack
pack_integer = struct.Struct(">Bi").pack


def new_rev(
    parent: str | None,
    deleted: bool,
    body: dict[str, Any],
    attachments: Sequence[tuple[str, str, bytes] | None],
) -> str:
    """The revision CouchDB gives the same edit: an md5 over Erlang's external term format.

    `attachments` are (name, content type, md5) in document order; None for one of which CouchDB knows nothing any more
    when it makes the id, as it is with a deleted document that comes back.
    """
    number, digest = parse_rev(parent) if parent else (0, "")
    out = bytearray(b"\x83l\x00\x00\x00\x05")
    out += b"d\x00\x04true" if deleted else b"d\x00\x05false"
    _term_int(number, out)
    if parent:
        raw = bytes.fromhex(digest) if len(digest) == 32 else digest.encode()
        out += b"m" + struct.pack(">I", len(raw)) + raw
    else:
        out += b"a\x00"
    _term(body, out)
    _term_attachments(attachments, out)
    out += b"j"
    return f"{number + 1}-{hashlib.md5(out, usedforsecurity=False).hexdigest()}"


def _term_attachments(attachments: Sequence[tuple[str, str, bytes] | None], out: bytearray) -> None:
    if not attachments:
        out += b"j"
        return
    out += b"l" + struct.pack(">I", len(attachments))
    for attachment in reversed(attachments):
        out += b"h\x03"
        if attachment is None:
            out += UNDEFINED * 3
            continue
        name, ctype, md5 = attachment
        for part in (name.encode(), ctype.encode(), md5):
            out += b"m" + struct.pack(">I", len(part)) + part
    out += b"j"


def _term_int(value: int, out: bytearray) -> None:
    if 0 <= value <= 255:
        out += SMALL_INTS[value]
    elif -(2**31) <= value < 2**31:
        out += pack_integer(98, value)
    else:
        size = (abs(value).bit_length() + 7) // 8
        out += bytes((110, size, 1 if value < 0 else 0)) + abs(value).to_bytes(size, "little")


def _term(value: Any, out: bytearray) -> None:
    kind = type(value)
    if kind is str:
        raw = value.encode()
        out += pack_length(109, len(raw))
        out += raw
    elif kind is dict:
        _term_object(value, out)
    elif kind is int:
        _term_int(value, out)
    elif kind is list:
        _term_list(value, out)
    elif kind is float:
        out += b"F" + struct.pack(">d", value)
    elif value is None:
        out += b"d\x00\x04null"
    else:
        out += b"d\x00\x04true" if value else b"d\x00\x05false"


def _term_object(value: dict[str, Any], out: bytearray) -> None:
    out += b"h\x01"
    if value:
        out += pack_length(108, len(value))
        for key, item in value.items():
            out += _pair_begin(key)
            if type(item) is str:  # most are: a call for each would cost more than its bytes
                raw = item.encode()
                out += pack_length(109, len(raw))
                out += raw
            else:
                _term(item, out)
    out += b"j"


@lru_cache(4096)
def _pair_begin(key: str) -> bytes:
    """A pair up to its value; documents of a database have much the same keys."""
    raw = key.encode()
    return b"h\x02m" + struct.pack(">I", len(raw)) + raw


def _term_list(value: list[Any], out: bytearray) -> None:
    if value and len(value) < 65536 and all(type(item) is int and 0 <= item <= 255 for item in value):
        out += b"k" + struct.pack(">H", len(value)) + bytes(value)
        return
    if value:
        out += pack_length(108, len(value))
        for item in value:
            _term(item, out)
    out += b"j"
