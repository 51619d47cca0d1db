"""Names of indexes that were given none: the SHA-1 that CouchDB would choose for the same definition."""

import hashlib
import struct
from typing import Any


class Atom(str):
    """An Erlang atom."""


def generated_name(definition: Any, options: dict[str, Any]) -> str:
    """CouchDB hashes Erlang's external form of the definition and of the sorted request options."""
    named = {
        "ddoc": Atom("auto_name") if options["ddoc"] is None else options["ddoc"],
        "def": definition,
        "name": Atom("auto_name") if options["name"] is None else options["name"],
        "partitioned": Atom("db_default") if options["partitioned"] is None else options["partitioned"],
        "type": options["type"],
        "w": options["w"],
    }
    term = (definition, [(Atom(name), value) for name, value in named.items()])
    return hashlib.sha1(b"\x83" + external(term), usedforsecurity=False).hexdigest()


def external(value: Any) -> bytes:
    """Erlang's external term format (minor version 1) of a JSON value, an Atom or a tuple of these."""
    if value is None or isinstance(value, bool):
        return external(Atom("null" if value is None else "true" if value else "false"))
    if isinstance(value, Atom):
        return b"d" + struct.pack(">H", len(value)) + value.encode("latin-1")
    if isinstance(value, str):
        raw = value.encode()
        return b"m" + struct.pack(">I", len(raw)) + raw
    if isinstance(value, int):
        return _integer(value)
    if isinstance(value, float):
        return b"F" + struct.pack(">d", value)
    if isinstance(value, dict):
        return external((list(value.items()),))
    if isinstance(value, tuple):
        return b"h" + bytes([len(value)]) + b"".join(map(external, value))
    return _list(value)


def _integer(value: int) -> bytes:
    if 0 <= value <= 255:
        return b"a" + bytes([value])
    if -(1 << 31) <= value < 1 << 31:
        return b"b" + struct.pack(">i", value)
    size = (abs(value).bit_length() + 7) // 8
    return b"n" + bytes([size, value < 0]) + abs(value).to_bytes(size, "little")


def _list(items: list[Any]) -> bytes:
    if not items:
        return b"j"
    if all(type(item) is int and 0 <= item <= 255 for item in items) and len(items) < 65536:
        return b"k" + struct.pack(">H", len(items)) + bytes(items)
    return b"l" + struct.pack(">I", len(items)) + b"".join(map(external, items)) + b"j"
